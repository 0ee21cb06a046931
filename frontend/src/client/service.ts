import type {
  Accepted,
  AgentList,
  ApprovalAnswer,
  ApprovalInfo,
  ApprovalList,
  ApprovalRequest,
  ApprovalsAnswer,
  Attachment,
  BatchAnswer,
  BatchRequest,
  Context,
  DeletedTask,
  DiffAnswer,
  EventPage,
  Examination,
  ExecuteRequest,
  FleetState,
  ForkRequest,
  GrantInfo,
  GrantList,
  GrantRequest,
  Health,
  HunkRequest,
  ImpactAnswer,
  ImpactRequest,
  KeyList,
  LabelRequest,
  LocalServerList,
  McpAdd,
  McpList,
  McpReferenceList,
  McpTest,
  MemorySearchAnswer,
  MemorySearchRequest,
  MergeAnswer,
  MergeRequest,
  ModelList,
  ModelTest,
  ModelTestRequest,
  NamedApproval,
  PolicyAnswer,
  PolicyRequest,
  ProjectOrder,
  QuestionAnswer,
  RewindAnswer,
  RewindRequest,
  RouteAnswer,
  SessionCode,
  Status,
  StatusAnswer,
  Task,
  TaskPage,
  TemplateList,
  ToolList,
  TrustAnswer,
  TrustRequest,
  UseAnswer,
  UseRequest,
  WireEvent,
} from "../wire/types.ts";
import { type FollowOptions, followAll, followTask } from "./follow.ts";
import { TaskHandle } from "./handle.ts";
import { Http } from "./http.ts";
import { type Credentials, fixedToken } from "./session.ts";
import type { EventBatch } from "./sse.ts";
import { type StreamCallbacks, subscribe } from "./stream.ts";

export interface ServiceOptions {
  /** The sidecar's origin, as in its ready line. Leave it out in a page that the sidecar serves. */
  readonly url?: string;
  /** The token of the file that the ready line names; or `credentials` that renew it. */
  readonly token?: string;
  readonly credentials?: Credentials;
  /** What an editor knows at the moment of a task: workspace, open file, selection. */
  readonly context?: () => Context;
  readonly fetch?: typeof globalThis.fetch;
}

export interface TaskQuery {
  readonly status?: readonly Status[];
  readonly limit?: number;
  readonly before?: string;
  /** Words that were asked, answered or changed. */
  readonly q?: string;
  readonly archived?: boolean;
}

/** Every operation of the wire, one method each. */
export class BrainService {
  readonly #http: Http;
  readonly #context: () => Context;

  constructor({ url = "", token = "", credentials = fixedToken(token), context = () => ({}), fetch }: ServiceOptions) {
    this.#http = new Http(url.replace(/\/$/, ""), credentials, fetch);
    this.#context = context;
  }

  // -- tasks

  /** Starts a task in plain words, with what the editor knows. */
  execute(words: string, options?: ExecuteRequest["options"]): Promise<TaskHandle> {
    return this.submit({ task: words, context: this.getContext(), ...(options && { options }) });
  }

  getContext(): Context {
    return this.#context();
  }

  /** Starts a task. Repeating a call with the same key returns the task that the first call started. */
  async submit(request: ExecuteRequest, key: string = crypto.randomUUID()): Promise<TaskHandle> {
    const headers = { "Idempotency-Key": key };
    const accepted = await this.#http.json<Accepted>("/api/brain/execute", { method: "POST", body: request, headers });
    return new TaskHandle(this, accepted.taskId, accepted.notice);
  }

  handle(taskId: string): TaskHandle {
    return new TaskHandle(this, taskId);
  }

  /** Calls back for a task's events until it ends; the result stops it. */
  stream(taskId: string, callbacks: StreamCallbacks): () => void {
    return subscribe(this, taskId, callbacks);
  }

  /** A task's events in batches, through every lost connection, until the task ends. */
  follow(taskId: string, options?: FollowOptions): AsyncGenerator<WireEvent[]> {
    return followTask(this.#http, taskId, options);
  }

  /** The durable events of all tasks in batches, through every lost connection, until the signal stops it. */
  allEvents(options?: FollowOptions): AsyncGenerator<EventBatch> {
    return followAll(this.#http, options);
  }

  tasks(query: TaskQuery = {}, signal?: AbortSignal): Promise<TaskPage> {
    const params = new URLSearchParams();
    if (query.status?.length) params.set("status", query.status.join(","));
    if (query.limit !== undefined) params.set("limit", String(query.limit));
    if (query.before !== undefined) params.set("before", query.before);
    if (query.q) params.set("q", query.q);
    if (query.archived) params.set("archived", "true");
    return this.#get(`/api/brain/tasks?${params}`, signal);
  }

  task(taskId: string, signal?: AbortSignal): Promise<Task> {
    return this.#get(task(taskId), signal);
  }

  /** Renames, pins or archives a task. */
  label(taskId: string, change: LabelRequest): Promise<Task> {
    return this.#http.json(task(taskId), { method: "PATCH", body: change });
  }

  /** Deletes a task that has ended, with its history. */
  remove(taskId: string): Promise<DeletedTask> {
    return this.#http.json(task(taskId), { method: "DELETE" });
  }

  events(taskId: string, after = 0, limit = 2_000): Promise<EventPage> {
    return this.#get(`${task(taskId)}/events?after=${after}&limit=${limit}`);
  }

  cancel(taskId: string): Promise<Accepted> {
    return this.#post(`${task(taskId)}/cancel`);
  }

  resume(taskId: string): Promise<Accepted> {
    return this.#post(`${task(taskId)}/resume`);
  }

  /** Steers a running task, or continues one that has ended. */
  message(taskId: string, text: string, attachments: readonly Attachment[] = []): Promise<Accepted> {
    return this.#post(`${task(taskId)}/messages`, { text, ...(attachments.length > 0 ? { attachments } : {}) });
  }

  approve(taskId: string, approvalId: string, answer: ApprovalRequest): Promise<ApprovalAnswer> {
    return this.#post(`${task(taskId)}/approvals/${encodeURIComponent(approvalId)}`, answer);
  }

  answer(taskId: string, questionId: string, answer: string): Promise<QuestionAnswer> {
    return this.#post(`${task(taskId)}/questions/${encodeURIComponent(questionId)}`, { answer });
  }

  /** Answers several approvals in one call. */
  approveAll(taskId: string, answers: readonly NamedApproval[]): Promise<ApprovalsAnswer> {
    return this.#post(`${task(taskId)}/approvals`, { answers });
  }

  /** The templates of new projects. */
  templates(signal?: AbortSignal): Promise<TemplateList> {
    return this.#get("/api/brain/templates", signal);
  }

  /** Creates a project from a template; the task's result has its path. */
  async createProject(order: ProjectOrder, key: string = crypto.randomUUID()): Promise<TaskHandle> {
    const call = { method: "POST", body: order, headers: { "Idempotency-Key": key } } as const;
    return new TaskHandle(this, (await this.#http.json<Accepted>("/api/brain/projects", call)).taskId);
  }

  // -- review

  diff(taskId: string, signal?: AbortSignal): Promise<DiffAnswer> {
    return this.#get(`${task(taskId)}/diff`, signal);
  }

  hunks(taskId: string, request: HunkRequest): Promise<DiffAnswer> {
    return this.#post(`${task(taskId)}/hunks`, request);
  }

  /** Rewinds the task to an event, or only its files; with `preview` it only reports what would change. */
  rewind(taskId: string, seq: number, options: Omit<RewindRequest, "seq"> = {}): Promise<RewindAnswer> {
    return this.#post(`${task(taskId)}/rewind`, { seq, ...options });
  }

  /** Merges the worktree of an isolated task into its workspace: all of it, or nothing if there are conflicts. */
  merge(taskId: string, request: MergeRequest = {}): Promise<MergeAnswer> {
    return this.#post(`${task(taskId)}/merge`, request);
  }

  /** Starts a new task from an event of this one. This one stays as it is. */
  async fork(taskId: string, request: ForkRequest = {}, key: string = crypto.randomUUID()): Promise<TaskHandle> {
    const call = { method: "POST", body: request, headers: { "Idempotency-Key": key } } as const;
    const accepted = await this.#http.json<Accepted>(`${task(taskId)}/fork`, call);
    return new TaskHandle(this, accepted.taskId);
  }

  // -- tools, models, settings

  tools(signal?: AbortSignal): Promise<ToolList> {
    return this.#get("/api/brain/tools", signal);
  }

  batch(request: BatchRequest, signal?: AbortSignal): Promise<BatchAnswer> {
    return this.#post("/api/brain/tools/batch", request, signal);
  }

  route(text: string, context: Context = {}): Promise<RouteAnswer> {
    return this.#post("/api/brain/route", { task: text, context });
  }

  explain(request: PolicyRequest): Promise<PolicyAnswer> {
    return this.#post("/api/brain/policy/explain", request);
  }

  /** Places in the workspace's code that match words, a name or a question. */
  searchCode(request: MemorySearchRequest, signal?: AbortSignal): Promise<MemorySearchAnswer> {
    return this.#post("/api/brain/memory/search", request, signal);
  }

  /** What a file imports, and what depends on it or on a symbol. */
  impact(request: ImpactRequest, signal?: AbortSignal): Promise<ImpactAnswer> {
    return this.#post("/api/brain/memory/impact", request, signal);
  }

  /** The workers, what they run, and what is queued. */
  fleet(signal?: AbortSignal): Promise<FleetState> {
    return this.#get("/api/brain/fleet", signal);
  }

  /** Starts servers whose tools are still unknown. */
  mcpServers(signal?: AbortSignal): Promise<McpList> {
    return this.#get("/api/brain/mcp", signal);
  }

  addMcpServer(name: string, entry: McpAdd["entry"]): Promise<McpList> {
    return this.#post("/api/brain/mcp", { name, entry });
  }

  testMcpServer(name: string): Promise<McpTest> {
    return this.#post("/api/brain/mcp/test", { name });
  }

  /** Accepts exactly the tools that a test showed. */
  acceptMcpServer(name: string, digest: string): Promise<McpList> {
    return this.#post("/api/brain/mcp/accept", { name, digest });
  }

  removeMcpServer(name: string): Promise<McpList> {
    return this.#post("/api/brain/mcp/remove", { name });
  }

  /** The resources and prompts of MCP servers that a task can name. */
  mcpReferences(workspace?: string, signal?: AbortSignal): Promise<McpReferenceList> {
    const query = workspace === undefined ? "" : `?workspace=${encodeURIComponent(workspace)}`;
    return this.#get(`/api/brain/mcp/references${query}`, signal);
  }

  agents(signal?: AbortSignal): Promise<AgentList> {
    return this.#get("/api/brain/agents", signal);
  }

  models(signal?: AbortSignal): Promise<ModelList> {
    return this.#get("/api/brain/models", signal);
  }

  /** Looks for model servers on this machine. */
  localModels(signal?: AbortSignal): Promise<LocalServerList> {
    return this.#get("/api/brain/models/local", signal);
  }

  /** Sends a model one small request and reports the result. */
  testModel(request: ModelTestRequest, signal?: AbortSignal): Promise<ModelTest> {
    return this.#post("/api/brain/models/test", request, signal);
  }

  /** Tests a model, then uses it for a role from the next task on. */
  chooseModel(request: UseRequest): Promise<UseAnswer> {
    return this.#put("/api/brain/models/use", request);
  }

  keys(signal?: AbortSignal): Promise<KeyList> {
    return this.#get("/api/brain/keys", signal);
  }

  /** Stores a provider's key, or removes it if none is given. */
  setKey(provider: string, key?: string): Promise<KeyList> {
    return this.#put("/api/brain/keys", { provider, ...(key === undefined ? {} : { key }) });
  }

  /** Checks the setup: what is missing and how to fix it. */
  doctor(signal?: AbortSignal): Promise<Examination> {
    return this.#get("/api/brain/doctor", signal);
  }

  status(signal?: AbortSignal): Promise<StatusAnswer> {
    return this.#get("/api/brain/status", signal);
  }

  health(signal?: AbortSignal): Promise<Health> {
    return this.#get("/health", signal);
  }

  /** Whether the sidecar can take tasks; refused with the reason if it can't, such as a full disk. */
  ready(signal?: AbortSignal): Promise<Health> {
    return this.#get("/ready", signal);
  }

  trust(signal?: AbortSignal): Promise<TrustAnswer> {
    return this.#get("/api/brain/trust", signal);
  }

  setTrust(request: TrustRequest): Promise<TrustAnswer> {
    return this.#post("/api/brain/trust", request);
  }

  /** Answers that still hold for a workspace or a task. */
  approvals(signal?: AbortSignal): Promise<ApprovalList> {
    return this.#get("/api/brain/approvals", signal);
  }

  revoke({ id, taskId }: Pick<ApprovalInfo, "id" | "taskId">): Promise<ApprovalList> {
    return this.#post("/api/brain/approvals/revoke", { id, ...(taskId === undefined ? {} : { taskId }) });
  }

  /** Standing permissions of repositories. */
  grants(signal?: AbortSignal): Promise<GrantList> {
    return this.#get("/api/brain/grants", signal);
  }

  grant(request: GrantRequest): Promise<GrantInfo> {
    return this.#post("/api/brain/grants", request);
  }

  revokeGrant(id: string): Promise<GrantList> {
    return this.#post("/api/brain/grants/revoke", { id });
  }

  /** A code that opens the panel in another window. */
  newCode(): Promise<SessionCode> {
    return this.#post("/api/brain/session/code");
  }

  #get<T>(path: string, signal?: AbortSignal): Promise<T> {
    return this.#http.json<T>(path, signal ? { signal } : {});
  }

  #put<T>(path: string, body: unknown): Promise<T> {
    return this.#http.json<T>(path, { method: "PUT", body });
  }

  #post<T>(path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
    return this.#http.json<T>(path, { method: "POST", body, ...(signal ? { signal } : {}) });
  }
}

const task = (id: string): string => `/api/brain/tasks/${encodeURIComponent(id)}`;
