// Generated from sidecar/wire by `make generate`. Do not edit.

export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

export interface Accepted {
  taskId: string;
  status: Status;
  streamUrl: string;
}

export interface AgentInfo {
  name: string;
  description: string;
  role: string;
  tools: string[];
  maxIterations: number;
}

export interface AgentList {
  agents: AgentInfo[];
}

export interface ApprovalAnswer {
  approvalId: string;
  decision: "allow" | "deny";
  scope: "once" | "task" | "workspace";
}

export interface ApprovalEvent {
  type: "approval";
  seq?: number;
  taskId: string;
  at: string;
  approvalId: string;
  callId: string;
  action: string;
  argv?: string[];
  cwd?: string;
  diff?: string;
  /** The names of the environment's values that a command gets. */
  environment?: string[];
  /** Stands for exactly what was asked. */
  binding?: string;
  why: string;
  state: "requested" | "allowed" | "denied";
  /** For how long the answer holds. */
  scope?: "once" | "task" | "workspace";
}

export interface ApprovalRequest {
  decision: "allow" | "deny";
  scope?: "once" | "task" | "workspace";
}

export interface ApprovalsAnswer {
  answers: ApprovalAnswer[];
}

/** Several answers at once, each to its own question. */
export interface ApprovalsRequest {
  answers: NamedApproval[];
}

export interface Attachment {
  name: string;
  mediaType?: string;
  /** The content, base64. */
  data: string;
}

export interface BatchAnswer {
  results: ToolAnswer[];
}

export interface BatchRequest {
  workspace?: string | null;
  calls: ToolCallRequest[];
  parallel?: boolean;
  maxConcurrency?: number;
  approvals?: "ask" | "auto" | "readonly";
}

export interface CancelFrame {
  type: "cancel";
  id: string;
}

export interface CancelledEvent {
  type: "cancelled";
  seq?: number;
  taskId: string;
  at: string;
  killed: KilledProcess[];
  effects: Effect[];
}

export interface ChangedFile {
  path: string;
  change: "created" | "modified" | "deleted" | "renamed";
  added: number;
  removed: number;
}

export interface Check {
  name: string;
  command: string;
  exitCode: number | null;
  passed: boolean;
  durationMs: number;
  evidence: string;
}

export interface CompleteEvent {
  type: "complete";
  seq?: number;
  taskId: string;
  at: string;
  result: TaskResult;
}

export interface Context {
  /** An absolute path; the sidecar's own workspace unless told. */
  workspace?: string | null;
  currentFile?: string | null;
  selectedCode?: string | null;
  openFiles?: string[];
  attachments?: Attachment[];
}

export interface DeltaEvent {
  type: "delta";
  seq?: number;
  taskId: string;
  at: string;
  messageId: string;
  role: "user" | "assistant";
  agent: string;
  text: string;
  kind: "text" | "thinking";
  /** Everything so far, also if that is nothing: it replaces what one has. */
  whole?: boolean;
}

export interface Diagnostic {
  /** From 1. */
  line?: number;
  column?: number;
  severity?: string;
  message: string;
  source?: string;
  code?: string;
}

/** The change so far; `conflicts` are files that a rejection could not be undone in, and why. */
export interface DiffAnswer {
  files: FileDiff[];
  conflicts?: RewoundFile[];
}

export interface DiffEvent {
  type: "diff";
  seq?: number;
  taskId: string;
  at: string;
  files: ChangedFile[];
}

export interface DiffLine {
  kind: "context" | "added" | "removed";
  text: string;
}

export interface Effect {
  callId: string;
  tool: string;
  summary: string;
}

export interface EndedProcess {
  pid: number;
  command: string;
}

export interface ErrorBody {
  code: string;
  message: string;
  /** What a model may do about it; `message` is for people, too. */
  advice?: string;
}

export interface ErrorEvent {
  type: "error";
  seq?: number;
  taskId: string;
  at: string;
  code: string;
  message: string;
  recoverable: boolean;
}

export interface ErrorFrame {
  type: "error";
  id?: string;
  error: ErrorBody;
  /** Processes that were ended with it. */
  killed?: EndedProcess[];
}

export interface EscalationEvent {
  type: "escalation";
  seq?: number;
  taskId: string;
  at: string;
  reason: string;
  attempts: number;
  suggestions: string[];
}

export interface EventPage {
  events: (StatusEvent | RouteEvent | StepEvent | ModelEvent | DeltaEvent | MessageEvent | ToolEvent | ToolOutputEvent | ApprovalEvent | PlanEvent | VerdictEvent | HandoffEvent | DiffEvent | VerificationEvent | RetryEvent | EscalationEvent | UsageEvent | CompleteEvent | ErrorEvent | CancelledEvent)[];
  /** The newest event there is, on this page or a later one. */
  lastSeq: number;
  more: boolean;
}

/** What `brain doctor` finds, of the sidecar that answers. */
export interface Examination {
  findings: FindingInfo[];
}

export interface ExecuteRequest {
  task: string;
  context?: Context;
  options?: Options;
}

export interface FieldProblem {
  field: string;
  message: string;
}

export interface FileDiff {
  path: string;
  change: "created" | "modified" | "deleted" | "renamed";
  added: number;
  removed: number;
  /** The file's unified diff. */
  diff: string;
  hunks: Hunk[];
  note?: string;
}

export interface FindingInfo {
  about: string;
  state: "ok" | "note" | "missing";
  found: string;
  fix: string;
  /** Whether nothing works without it. */
  essential: boolean;
  remedies: Remedy[];
}

/** A new task that begins where another one was at one of its events. */
export interface ForkRequest {
  /** The event to begin from; the last one unless told. */
  seq?: number | null;
  /** What to do instead; needed if there is nothing left to do. */
  task?: string | null;
  /** Only what is named replaces the other task's. */
  options?: Options;
  /** Leave the files as they are, rather than as they were at that event. */
  keepFiles?: boolean;
}

/** The task and the event that another task began from. */
export interface ForkedFrom {
  taskId: string;
  seq: number;
}

/** Shells and sidecars of different age talk to each other: what a frame says beyond this is passed over. */
export interface Frame {

}

/** What the person has allowed for a whole workspace, or for a whole task, exactly as it was asked. */
export interface GrantInfo {
  id: string;
  workspace: string;
  action: string;
  argv: string[] | null;
  cwd: string | null;
  /** Seconds since 1970, if it was allowed for a workspace. */
  at: number | null;
  /** The task, if it was allowed for one. */
  taskId?: string;
  /** What that task was asked to do. */
  task?: string;
}

export interface GrantList {
  approvals: GrantInfo[];
}

export interface HandoffContext {
  filesModified: string[];
  currentState: string;
  remainingTasks: string[];
}

export interface HandoffEvent {
  type: "handoff";
  seq?: number;
  taskId: string;
  at: string;
  from: string;
  to: string;
  context: HandoffContext;
  reason: string;
}

export interface Health {
  status: "ok";
  version: string;
}

export interface Hello {
  type: "hello";
  shell: ShellInfo;
  workspace: string;
  /** The names of the tools that it executes. */
  tools: string[];
  /** An earlier session, to take it up again. */
  session?: string;
  /** Calls that it would answer from its log. */
  remembers?: string[];
}

export interface Hunk {
  id: string;
  header: string;
  lines: DiffLine[];
  state?: "pending" | "accepted" | "rejected";
}

export interface HunkRequest {
  accept?: string[];
  reject?: string[];
}

export interface JournalState {
  state: "ok" | "stalled";
  message: string;
  path: string;
  sizeBytes: number;
  setAside: string[];
}

/** Whether there is a key for a provider, and where; never the key. */
export interface KeyInfo {
  provider: string;
  /** Where it is, in words; null if there is none. */
  place: string | null;
  /** Whether it was put away, and can be taken out again. */
  removable: boolean;
  /** Where else it is looked for. */
  variables: string[];
}

export interface KeyList {
  keys: KeyInfo[];
}

/** A key to put away, or, without one, the provider whose key is taken out. */
export interface KeyRequest {
  provider: string;
  /** It is never told again. */
  key?: string | null;
}

export interface KilledProcess {
  callId: string;
  pid: number;
  command: string;
}

export interface LocalModelInfo {
  /** `openai/name`, as it is used. */
  name: string;
  /** What the server really holds, in tokens. */
  contextWindow?: number;
  /** Left out if the server does not say. */
  tools?: boolean;
}

export interface LocalServerInfo {
  /** By its port: Ollama, LM Studio, llama.cpp or vLLM. */
  kind: string;
  baseUrl: string;
  models: LocalModelInfo[];
}

export interface LocalServerList {
  servers: LocalServerInfo[];
}

export interface MessageEvent {
  type: "message";
  seq?: number;
  taskId: string;
  at: string;
  messageId: string;
  role: "user" | "assistant";
  agent: string;
  text: string;
}

export interface MessageRequest {
  text: string;
}

export interface ModelEvent {
  type: "model";
  seq?: number;
  taskId: string;
  at: string;
  role: string;
  provider: string;
  model: string;
  fallbackFrom?: string;
  reason?: string;
}

export interface ModelInfo {
  /** `provider/name`. */
  name: string;
  provider: string;
  available: boolean;
  why: string;
}

export interface ModelList {
  models: ModelInfo[];
  roles: RoleInfo[];
}

/** What came of one small request to a model. */
export interface ModelTest {
  model: string;
  /** Whether it answered. */
  ok: boolean;
  /** In words; if it did not answer, what to do. */
  message: string;
  /** From the request to the end of the answer. */
  latencyMs?: number;
  /** Whether it called the tool that it was told to call. */
  tools?: boolean;
  /** In tokens, if anybody knows. */
  contextWindow?: number;
}

export interface ModelTestRequest {
  /** `provider/name`. */
  model: string;
  /** A server on this machine, such as `http://127.0.0.1:11434/v1`. */
  baseUrl?: string;
}

/** Which model plays a role: `provider/name`, or several with commas between them. */
export interface Models {
  fast?: string | null;
  smart?: string | null;
  instant?: string | null;
}

export interface NamedApproval {
  approvalId: string;
  decision: "allow" | "deny";
  scope?: "once" | "task" | "workspace";
}

/** What the editor knows first. `diagnostics` are all there are of `path`: they replace what was said before. */
export interface NotifyFrame {
  type: "notify";
  event: "file_changed" | "diagnostics" | "focus";
  path?: string;
  paths?: string[];
  diagnostics?: Diagnostic[];
}

export interface OpenCall {
  id: string;
  tool: string;
  args: { [key: string]: JsonValue };
  timeoutMs: number;
  workspace: string;
  /** The person said yes to exactly this: it may reach the network, protected files. */
  approved?: boolean;
}

export interface Options {
  intent?: "chat" | "explain_code" | "edit_code" | "refactor_code" | "create_project" | "run_command" | "review_code" | "write_docs" | null;
  agentType?: string | null;
  models?: Models;
  priority?: "high" | "normal" | "low";
  /** Seconds of work, waits for a person not counted. */
  maxDuration?: number;
  approvals?: "ask" | "auto" | "readonly";
  verify?: "auto" | "off" | string[];
  /** Nobody is asked to let a check run: one that needs it is left out, and the result says so. */
  verifyUnasked?: boolean;
  conversationId?: string | null;
  maxIterations?: number | null;
  maxTokens?: number | null;
  maxCostUsd?: number | null;
}

export interface PlanEvent {
  type: "plan";
  seq?: number;
  taskId: string;
  at: string;
  items: PlanItem[];
}

export interface PlanItem {
  id: string;
  title: string;
  state: "pending" | "running" | "done" | "failed";
}

export interface PolicyAnswer {
  decision: "allow" | "ask" | "deny";
  why: string;
}

export interface PolicyRequest {
  tool: string;
  args?: { [key: string]: JsonValue };
  workspace?: string | null;
}

/** RFC 9457, with a `code` that does not change. */
export interface Problem {
  type?: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  errors?: FieldProblem[];
}

export interface Progress {
  step: number;
  total: number;
  message: string;
}

/** The one line on standard output when the sidecar can be called. */
export interface Ready {
  event: "ready";
  url: string;
  pid: number;
  tokenFile: string;
  version: string;
}

/** What mends it with one click: trust a workspace, add a provider's key, choose a model; or a command to copy. */
export interface Remedy {
  kind: "trust" | "key" | "model" | "command";
  /** The workspace, the provider, the model, or the command. */
  value: string;
  /** Where the model is served. */
  baseUrl?: string;
}

export interface ResultBody {
  content: string;
  details?: JsonValue;
  summary?: string;
  /** The call was carried out and did not succeed; `content` is worth reading. */
  error?: ErrorBody;
  /** Processes that were ended with it. */
  killed?: EndedProcess[];
}

export interface RetryEvent {
  type: "retry";
  seq?: number;
  taskId: string;
  at: string;
  attempt: number;
  of: number;
  hints: string[];
  error: string;
}

export interface RevokeRequest {
  id: string;
  /** The task, if it was allowed for one. */
  taskId?: string | null;
}

/** What a rewind did to each file. A file that the person edited since is merged, or left alone as a conflict. */
export interface RewindAnswer {
  seq: number;
  files: RewoundFile[];
}

export interface RewindRequest {
  seq: number;
  /** False takes back the files alone; the conversation goes on from where it is. */
  conversation?: boolean;
  /** Only say what it would change. */
  preview?: boolean;
}

export interface RewoundFile {
  path: string;
  change: "created" | "modified" | "deleted" | "conflict";
  why?: string;
}

export interface RoleInfo {
  role: string;
  chain: string[];
}

export interface RouteAnswer {
  intent: "chat" | "explain_code" | "edit_code" | "refactor_code" | "create_project" | "run_command" | "review_code" | "write_docs";
  confidence: number;
  pipeline: string[];
  why: string;
}

export interface RouteEvent {
  type: "route";
  seq?: number;
  taskId: string;
  at: string;
  intent: "chat" | "explain_code" | "edit_code" | "refactor_code" | "create_project" | "run_command" | "review_code" | "write_docs";
  confidence: number;
  pipeline: string[];
  why: string;
}

export interface RouteRequest {
  task: string;
  context?: Context;
}

/** What commands run inside of; `none` and `off` mean that every command asks. */
export interface SandboxState {
  tier: string;
  message: string;
}

export interface SessionCode {
  code: string;
  expiresIn: number;
}

export interface SessionRequest {
  code: string;
}

export interface SessionToken {
  token: string;
  /** Sent as `code`, it gives the new token after the sidecar was started again. */
  renewal?: string;
}

export interface ShellInfo {
  name: string;
  version: string;
}

/** A desktop shell on the bridge; one that is away may come back to its open calls. */
export interface ShellState {
  name: string;
  version: string;
  workspace: string;
  tools: string[];
  connected: boolean;
}

export type Status = "queued" | "running" | "waiting" | "completed" | "failed" | "cancelling" | "cancelled" | "interrupted" | "escalated";

export interface StatusAnswer {
  version: string;
  pid: number;
  workspace: string;
  uptimeSeconds: number;
  /** How many tasks there are in each status. */
  tasks: { [key: string]: number };
  streams: number;
  shells: ShellState[];
  sandbox: SandboxState;
  journal: JournalState;
}

export interface StatusEvent {
  type: "status";
  seq?: number;
  taskId: string;
  at: string;
  status: Status;
  reason?: string;
  /** The task was taken back to this event; what came between no longer counts. */
  rewoundTo?: number;
}

export interface StepEvent {
  type: "step";
  seq?: number;
  taskId: string;
  at: string;
  step: number;
  total: number;
  message: string;
  agent: string;
  state: "started" | "completed" | "failed";
}

export interface StreamFrame {
  type: "stream";
  id: string;
  stream: "stdout" | "stderr";
  text: string;
}

export interface Task {
  id: string;
  status: Status;
  task: string;
  intent: "chat" | "explain_code" | "edit_code" | "refactor_code" | "create_project" | "run_command" | "review_code" | "write_docs" | null;
  pipeline: string[];
  workspace: string;
  priority: "high" | "normal" | "low";
  conversationId: string;
  progress: Progress;
  createdAt: string;
  startedAt: string | null;
  endedAt: string | null;
  result: TaskResult | null;
  error: TaskError | null;
  verified: boolean | null;
  usage: Usage;
  lastSeq: number;
  forkedFrom?: ForkedFrom;
}

export interface TaskError {
  code: string;
  message: string;
  recoverable: boolean;
}

export interface TaskPage {
  tasks: Task[];
  /** The `before` of the next page; null on the last one. */
  nextBefore: string | null;
}

export interface TaskResult {
  summary: string;
  filesModified: string[];
  verification: JsonValue;
  usage: Usage;
}

/** Lets one WebSocket in, where no header can be sent. */
export interface Ticket {
  ticket: string;
  expiresIn: number;
}

export interface ToolAnswer {
  callId: string;
  tool: string;
  status: "pending" | "running" | "success" | "error" | "cancelled" | "unknown";
  content: string;
  details: JsonValue;
  error?: ErrorBody;
  durationMs: number;
  cached: boolean;
  executor: string;
}

export interface ToolCallFrame {
  id: string;
  tool: string;
  args: { [key: string]: JsonValue };
  timeoutMs: number;
  workspace: string;
  /** The person said yes to exactly this: it may reach the network, protected files. */
  approved?: boolean;
  type: "tool_call";
}

export interface ToolCallRequest {
  tool: string;
  args?: { [key: string]: JsonValue };
  callId?: string | null;
}

export interface ToolEvent {
  type: "tool";
  seq?: number;
  taskId: string;
  at: string;
  callId: string;
  tool: string;
  status: "pending" | "running" | "success" | "error" | "cancelled" | "unknown";
  args: { [key: string]: JsonValue };
  summary: string;
  durationMs: number;
  cached: boolean;
  executor: string;
  error?: ErrorBody;
  details?: JsonValue;
}

export interface ToolInfo {
  name: string;
  description: string;
  /** A JSON schema of the arguments. */
  parameters: { [key: string]: JsonValue };
  executor: "shell" | "local" | "hybrid";
  /** Seconds. */
  timeout: number;
  retryable: boolean;
  parallel: boolean;
  effects: "none" | "files" | "command";
}

export interface ToolList {
  tools: ToolInfo[];
}

export interface ToolOutputEvent {
  type: "tool_output";
  seq?: number;
  taskId: string;
  at: string;
  callId: string;
  stream: "stdout" | "stderr";
  text: string;
  /** Everything so far, also if that is nothing: it replaces what one has. */
  whole?: boolean;
}

export interface ToolResultFrame {
  type: "tool_result";
  id: string;
  result: ResultBody;
}

export interface TrustAnswer {
  workspaces: TrustedWorkspace[];
}

export interface TrustRequest {
  workspace: string;
  trusted: boolean;
}

export interface TrustedWorkspace {
  workspace: string;
  trusted: boolean;
  why: string;
}

export interface Usage {
  inputTokens?: number;
  outputTokens?: number;
  cachedTokens?: number;
  costUsd?: number;
}

export interface UsageEvent {
  type: "usage";
  seq?: number;
  taskId: string;
  at: string;
  inputTokens: number;
  outputTokens: number;
  cachedTokens: number;
  costUsd: number;
}

export interface UseAnswer {
  /** Whether it was written down; the next task then uses it. */
  changed: boolean;
  message: string;
  tests: ModelTest[];
  /** Who plays which role now. */
  roles: RoleInfo[];
  /** The commands that make it as it was. */
  back: string[];
}

export interface UseRequest {
  /** `provider/name`, or several with commas; `offline`; `auto`: whatever there are keys for. */
  model: string;
  /** Every role, if left out. */
  role?: "fast" | "smart" | "instant";
  /** Where `openai/…` is served: a server on this machine, or empty for OpenAI itself. */
  baseUrl?: string | null;
  /** Also if the model does not answer now. */
  force?: boolean;
}

export interface VerdictEvent {
  type: "verdict";
  seq?: number;
  taskId: string;
  at: string;
  approved: boolean;
  issues: VerdictIssue[];
}

export interface VerdictIssue {
  path?: string;
  line?: number;
  severity: "error" | "warning" | "hint";
  text: string;
}

export interface VerificationEvent {
  type: "verification";
  seq?: number;
  taskId: string;
  at: string;
  passed: boolean;
  attempt: number;
  checks: Check[];
  /** What else is known: failures from before, flaky tests, what was not run. */
  notes?: string[];
}

export interface Welcome {
  type: "welcome";
  session: string;
  heartbeatSeconds: number;
  /** Calls still without a result; each comes again in a frame of its own. */
  open: OpenCall[];
}

/** Every event of a task; `type` tells them apart. */
export type WireEvent =
  | StatusEvent
  | RouteEvent
  | StepEvent
  | ModelEvent
  | DeltaEvent
  | MessageEvent
  | ToolEvent
  | ToolOutputEvent
  | ApprovalEvent
  | PlanEvent
  | VerdictEvent
  | HandoffEvent
  | DiffEvent
  | VerificationEvent
  | RetryEvent
  | EscalationEvent
  | UsageEvent
  | CompleteEvent
  | ErrorEvent
  | CancelledEvent;

/** What a shell sends over the bridge. */
export type ShellFrame =
  | Hello
  | ToolResultFrame
  | StreamFrame
  | ErrorFrame
  | NotifyFrame;

/** What the sidecar sends over the bridge. */
export type SidecarFrame =
  | Welcome
  | ToolCallFrame
  | ErrorFrame
  | CancelFrame;
