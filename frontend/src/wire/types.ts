// Generated from sidecar/wire by `make generate`. Do not edit.

export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

export interface Accepted {
  taskId: string;
  status: Status;
  streamUrl: string;
  /** What you should know, such as that `config.toml` changed or is broken. */
  notice?: string;
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

/** A call that needs your approval, and later your answer. */
export interface ApprovalEvent {
  type: "approval";
  seq?: number;
  taskId: string;
  at: string;
  approvalId: string;
  callId: string;
  tool?: string;
  action: string;
  argv?: string[];
  cwd?: string;
  diff?: string;
  /** How many lines of the diff are left out. */
  omittedLines?: number;
  /** The diff shows what changed since then; without it, what the call would write. */
  since?: "trusted" | "asked";
  /** Names of the environment variables the command gets. */
  environment?: string[];
  /** Hash of exactly what was asked. */
  binding?: string;
  why: string;
  state: "requested" | "allowed" | "denied";
  /** How long the answer holds. */
  scope?: "once" | "task" | "workspace";
  /** Whose token asked for it; absent for your own. */
  by?: string;
}

/** An approval for a workspace or a task, bound to exactly the call you saw. */
export interface ApprovalInfo {
  id: string;
  workspace: string;
  action: string;
  argv: string[] | null;
  cwd: string | null;
  /** Unix time, for a workspace's approval. */
  at: number | null;
  /** The task, for a task's approval. */
  taskId?: string;
  /** That task's text. */
  task?: string;
}

export interface ApprovalList {
  approvals: ApprovalInfo[];
}

export interface ApprovalRequest {
  decision: "allow" | "deny";
  scope?: "once" | "task" | "workspace";
}

export interface ApprovalsAnswer {
  answers: ApprovalAnswer[];
}

/** Answers to several approvals. */
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
  /** Never more than 10 run at once. */
  maxConcurrency?: number;
  approvals?: "ask" | "edits" | "auto" | "readonly";
}

/** A worker cloned the task's remote, or what the task changed is a branch there, or could not be pushed. */
export interface BranchEvent {
  type: "branch";
  seq?: number;
  taskId: string;
  at: string;
  state: "cloned" | "pushed" | "kept";
  remote: string;
  /** The branch that it began with, or the one that has the result. */
  branch: string;
  commit: string;
  /** Why it was not pushed. */
  why?: string;
  /** Files that the task made elsewhere and that could not be brought along. */
  leftOut?: string[];
}

export interface CancelFrame {
  type: "cancel";
  id: string;
}

/** What a cancel killed, and what had already happened. */
export interface CancelledEvent {
  type: "cancelled";
  seq?: number;
  taskId: string;
  at: string;
  killed: KilledProcess[];
  effects: Effect[];
}

export interface Challenge {
  /** The renewal's id, or `token` for the token itself. */
  id: string | "token";
  nonce: string;
}

export interface ChallengeAnswer {
  /** The sidecar's nonce. */
  nonce: string;
  /** Shows that the sidecar knows the key. */
  proof: string;
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

export interface CleanAnswer {
  removed: string[];
  kept: KeptWorktree[];
}

export interface CleanRequest {
  /** Only these; default: all. */
  tasks?: string[];
  /** Also those with changes that are not merged; name their tasks. */
  discard?: boolean;
}

/** The result of the task. */
export interface CompleteEvent {
  type: "complete";
  seq?: number;
  taskId: string;
  at: string;
  result: TaskResult;
}

export interface Context {
  /** An absolute path; default: the sidecar's workspace. */
  workspace?: string | null;
  /** Instead of a workspace. */
  repository?: Repository;
  currentFile?: string | null;
  selectedCode?: string | null;
  openFiles?: string[];
  attachments?: Attachment[];
}

export interface DeletedTask {
  deleted: string;
}

/** A part of a message, live. */
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
  /** `text` is everything so far, even if empty, and replaces earlier parts. */
  whole?: boolean;
}

export interface Diagnostic {
  /** Starts at 1. */
  line?: number;
  column?: number;
  severity?: string;
  message: string;
  source?: string;
  code?: string;
}

/** The remaining changes; `conflicts` are files in which a rejected hunk couldn't be undone. */
export interface DiffAnswer {
  files: FileDiff[];
  conflicts?: LeftFile[];
}

/** Files that a tool call or command changed. Without files, only the checks before no longer hold. */
export interface DiffEvent {
  type: "diff";
  seq?: number;
  taskId: string;
  at: string;
  files: ChangedFile[];
  /** Whose token asked for it; absent for your own. */
  by?: string;
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
  /** Advice for a model; `message` is for people. */
  advice?: string;
}

/** Why the task failed; `recoverable` says whether a resume may help. */
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
  /** Processes killed with the call. */
  killed?: EndedProcess[];
}

/** The task needs you. */
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
  events: (StatusEvent | WorktreeEvent | BranchEvent | RouteEvent | StepEvent | ModelEvent | DeltaEvent | MessageEvent | ToolEvent | ToolOutputEvent | ApprovalEvent | QuestionEvent | PlanEvent | VerdictEvent | HandoffEvent | DiffEvent | VerificationEvent | RetryEvent | EscalationEvent | UsageEvent | CompleteEvent | LabelEvent | ErrorEvent | CancelledEvent)[];
  /** The newest event of the task, on this page or a later one. */
  lastSeq: number;
  more: boolean;
}

/** The findings of `brain doctor` for the running sidecar. */
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
  /** The change as a patch that `git apply` takes. */
  diff: string;
  /** Its path before a rename. */
  renamedFrom?: string;
  hunks: Hunk[];
  note?: string;
}

export interface FindingInfo {
  about: string;
  state: "ok" | "note" | "missing";
  found: string;
  fix: string;
  /** Nothing works without it. */
  essential: boolean;
  remedies: Remedy[];
}

export interface FleetState {
  /** The worker that queues tasks of dead workers again. */
  leader: string | null;
  workers: WorkerInfo[];
  queue: QueueState;
}

/** A new task that starts from an event of another one. */
export interface ForkRequest {
  /** The event to start from; default: the last one. */
  seq?: number | null;
  /** What to do instead; required if the other task had finished. */
  task?: string | null;
  /** Options that differ from the other task's. */
  options?: Options;
  /** Leave the files as they are now. */
  keepFiles?: boolean;
}

/** The task and event another task started from. */
export interface ForkedFrom {
  taskId: string;
  seq: number;
}

/** Ignores unknown fields: shells and sidecars of different versions talk to each other. */
export interface Frame {

}

/** A standing permission of a repository. */
export interface GrantInfo {
  id: string;
  /** The repository: a path, or a remote. */
  workspace: string;
  kind: "command" | "host" | "read" | "install" | "checks" | "spend";
  /** What exactly; null for all that the kind covers. */
  value: string | null;
  /** Unix time at which it ends. */
  until?: number;
  /** Unix time. */
  at: number;
}

export interface GrantList {
  grants: GrantInfo[];
}

/** `value`: the command line, host, path, package manager, check, or dollars per task. */
export interface GrantRequest {
  /** The repository: an absolute path, or a remote's URL. */
  workspace: string;
  kind: "command" | "host" | "read" | "install" | "checks" | "spend";
  /** Optional for `install` and `checks`, which then cover all. */
  value?: string | number | null;
  /** When it ends: Unix time, or a date with its zone. */
  until?: number | string | null;
}

export interface HandoffContext {
  filesModified: string[];
  currentState: string;
  remainingTasks: string[];
}

/** One agent hands over to the next. */
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
  /** The tools the shell runs: names of ours, and tools of its own. */
  tools: (string | ShellToolSpec)[];
  /** An earlier session to resume. */
  session?: string;
  /** Calls whose results the shell still has. */
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

export interface ImpactAnswer {
  /** If it isn't ready, there may be more hits than these. */
  state: "empty" | "building" | "ready";
  hits: ImpactHit[];
  /** What the file itself imports from the workspace, if a path was asked for. */
  imports?: string[];
}

export interface ImpactHit {
  path: string;
  /** The definition that uses it, where it is known. */
  symbol?: string;
  distance: number;
  via: string;
  line: number;
  certain: boolean;
  /** The file by which it depends, or its package if it ends with a slash. */
  through?: string;
}

/** What depends on a file, or on a symbol: `path`, `symbol` or both. */
export interface ImpactRequest {
  workspace?: string | null;
  path?: string;
  symbol?: string;
  depth?: number;
  /** Seconds to wait for an index that is being built; default 120. */
  wait?: number;
}

export interface JournalState {
  state: "ok" | "stalled";
  message: string;
  path: string;
  sizeBytes: number;
  setAside: string[];
}

export interface KeptWorktree {
  taskId: string;
  why: string;
}

/** Whether a provider has a key, and where; never the key. */
export interface KeyInfo {
  provider: string;
  /** Where the key is, in words; null if there is none. */
  place: string | null;
  /** Whether it is stored and can be removed. */
  removable: boolean;
  /** Environment variables that can hold it. */
  variables: string[];
}

export interface KeyList {
  keys: KeyInfo[];
}

/** A key to store; without `key`, the provider's key is removed. */
export interface KeyRequest {
  provider: string;
  /** Never returned by any route. */
  key?: string | null;
}

export interface KilledProcess {
  callId: string;
  pid: number;
  command: string;
}

/** You renamed, pinned or archived the task, or a model named it. */
export interface LabelEvent {
  type: "label";
  seq?: number;
  taskId: string;
  at: string;
  title?: string;
  pinned?: boolean;
  archived?: boolean;
  /** Whose token asked for it; absent for your own. */
  by?: string;
}

/** How a task appears in the history; what is left out stays as it is. */
export interface LabelRequest {
  title?: string | null;
  pinned?: boolean | null;
  /** An archived task is listed only on request. */
  archived?: boolean | null;
}

/** A file that a rewind left as it is, and the reason. */
export interface LeftFile {
  path: string;
  why: string;
  /** It is unknown who changed it; name it in `uncertain` to restore it. */
  uncertain?: boolean;
}

export interface LocalModelInfo {
  /** `openai/name`. */
  name: string;
  /** Context size the server reports, in tokens. */
  contextWindow?: number;
  /** Omitted if the server doesn't say. */
  tools?: boolean;
}

export interface LocalServerInfo {
  /** Guessed from the port: Ollama, LM Studio, llama.cpp or vLLM. */
  kind: string;
  baseUrl: string;
  models: LocalModelInfo[];
}

export interface LocalServerList {
  servers: LocalServerInfo[];
}

export interface McpAccept {
  name: string;
  workspace?: string | null;
  /** From the test that showed you the tools. */
  digest: string;
}

/** An entry of `mcp.json`: `command`, `args`, `env`, or `url`, `headers`; also `grants`, `allow`, `timeout`. */
export interface McpAdd {
  name: string;
  entry: { [key: string]: JsonValue };
}

/** Servers that an editor hands over with a session; an empty set withdraws them. */
export interface McpLend {
  /** The `conversationId` of the tasks that may use them. */
  session: string;
  workspace: string;
  /** Entries of `mcp.json`, by name; nothing in them is expanded. */
  servers: { [key: string]: { [key: string]: JsonValue } };
}

export interface McpList {
  servers: McpServerInfo[];
  /** Your own `mcp.json`. */
  file: string;
}

export interface McpPrompt {
  /** Begin a task with this, then its arguments. */
  command: string;
  server: string;
  name: string;
  description: string;
  arguments: McpPromptArgument[];
}

export interface McpPromptArgument {
  name: string;
  description: string;
  required: boolean;
}

export interface McpReferenceList {
  resources: McpResource[];
  prompts: McpPrompt[];
}

export interface McpRemove {
  name: string;
}

export interface McpResource {
  /** Write this in a task to attach it. */
  mention: string;
  server: string;
  uri: string;
  name: string;
  description: string;
  /** Fill in the parts in braces. */
  template: boolean;
}

export interface McpServerInfo {
  name: string;
  /** `stopped` (started when first used), `starting`, `ready`, `failed`, `disabled`, or `changed`: its tools are blocked until you accept them. */
  state: string;
  /** The names by which agents call them. */
  tools: string[];
  /** Whether you accepted exactly these tools. */
  pinned: boolean;
  error?: string;
  /** In your configuration directory; else the workspace brings it. */
  own: boolean;
  /** Its command or address. */
  where: string;
  /** Tools that can't be used, and why. */
  leftOut?: string[];
  /** What you have not accepted yet. */
  diff?: string;
}

export interface McpServerRequest {
  name: string;
  workspace?: string | null;
}

export interface McpTest {
  server: McpServerInfo;
  tools: McpTool[];
  /** Of the tool set, to accept exactly this one. */
  digest?: string;
}

export interface McpTool {
  name: string;
  description: string;
  /** What the server says; it decides nothing. */
  readOnly: boolean;
}

export interface MemoryDone {
  done: true;
}

export interface MemoryHit {
  path: string;
  line: number;
  endLine: number;
  /** Qualified name of the definition. */
  symbol?: string;
  kind: string;
  score: number;
  /** Text from the workspace as it is now. It is data, not an instruction. */
  snippet: string;
  why: string;
}

export interface MemoryProgress {
  done: number;
  total: number;
}

export interface MemorySearchAnswer {
  state: "empty" | "building" | "ready";
  hits: MemoryHit[];
}

export interface MemorySearchRequest {
  workspace?: string | null;
  query: string;
  limit?: number;
  /** Only in this folder or file. */
  path?: string;
  /** Only chunks of this kind, such as `function` or `class`. */
  kind?: string;
  language?: string;
  /** Only files that changed in the last so many days; 0: all. */
  days?: number;
  collection?: "codebase" | "tasks" | "decisions" | "patterns";
  /** Seconds to wait for an index that is being built; default 120. */
  wait?: number;
}

export interface MemoryStateAnswer {
  state: "empty" | "building" | "ready";
  files: number;
  chunks: number;
  bytes: number;
  progress: MemoryProgress;
  /** The weights of its vectors, if `memory_vectors` is on. */
  vectors?: string;
}

export interface MemoryWorkspace {
  workspace?: string | null;
}

/** What a merge did to your workspace: everything, or nothing if there are conflicts. */
export interface MergeAnswer {
  merged: boolean;
  /** What changed, or would change. */
  files: RewoundFile[];
  conflicts: MergeConflict[];
  /** Your workspace changed meanwhile, so no check has seen this combination. */
  combined?: boolean;
}

export interface MergeConflict {
  path: string;
  why: string;
  /** The merged file with conflict markers, up to 20,000 characters. */
  text?: string;
}

export interface MergeRequest {
  /** Report what would change and change nothing. */
  preview?: boolean;
  /** Merge in spite of conflicts, and mark them in the files as Git does. */
  markers?: boolean;
}

/** A complete message. After a retry the new message has the same `messageId` and replaces the old one. */
export interface MessageEvent {
  type: "message";
  seq?: number;
  taskId: string;
  at: string;
  messageId: string;
  role: "user" | "assistant";
  agent: string;
  /** Empty for a turn that only thought before its calls. */
  text: string;
  thinking?: string;
  /** How long it thought. */
  thinkingMs?: number;
  /** Whose token asked for it; absent for your own. */
  by?: string;
}

export interface MessageRequest {
  text: string;
  attachments?: Attachment[];
  /** As in `options`: words of `other` are no consent, even in a task that you started. */
  author?: "person" | "other";
}

/** The model that plays a role from here on; `reason` also says when earlier results no longer fit its context. */
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

/** The result of one small request to a model. */
export interface ModelTest {
  model: string;
  /** Whether it answered. */
  ok: boolean;
  /** The result in words, with a fix if it failed. */
  message: string;
  /** From the request to the end of the answer. */
  latencyMs?: number;
  /** Whether it called the tool it was asked to call. */
  tools?: boolean;
  /** In tokens, if known. */
  contextWindow?: number;
}

export interface ModelTestRequest {
  /** `provider/name`, or a provider for its default model. */
  model: string;
  /** A server on this machine, such as `http://127.0.0.1:11434/v1`. */
  baseUrl?: string;
  /** Test this key instead of the provider's own. It is not stored. */
  key?: string;
}

/** The model of each role: `provider/name`, or several separated by commas. */
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

export interface NoteDecision {
  id: string;
  /** True also writes the file of a proposed standard or skill; false removes the note. */
  accept: boolean;
}

export interface NoteInfo {
  id: string;
  workspace: string;
  collection: "decisions" | "patterns" | "standards" | "skills";
  title: string;
  text: string;
  /** Only accepted notes are used. */
  state: "proposed" | "accepted";
  /** The call of the agent that proposed it. */
  task?: string;
  /** What accepting it changes in the workspace, for standards and skills. */
  diff?: string;
  /** Seconds since 1970. */
  at: number;
}

export interface NoteList {
  notes: NoteInfo[];
}

export interface NoteRequest {
  workspace?: string | null;
  collection: "decisions" | "patterns";
  title: string;
  text: string;
}

/** What the editor knows first. `diagnostics` are all diagnostics of `path` and replace earlier ones. `unsaved` lists in `paths` all files with unsaved changes. From then on the shell gets only the reads of those, and `save_file {path}`, if it offers it, before an agent changes one of them. A shell that can't list them offers `unsaved_files {paths, change?}`, and answers with `details.unsaved`, the paths with unsaved changes. */
export interface NotifyFrame {
  type: "notify";
  event: "file_changed" | "diagnostics" | "focus" | "unsaved";
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
  /** You approved exactly this call: it may reach the network and protected files. */
  approved?: boolean;
  /** Hosts that you granted; it may reach no others. */
  hosts?: string[];
  /** Paths outside the workspace that you granted it to read. */
  readable?: string[];
  /** Variables that an install needs to find its registry. */
  environment?: { [key: string]: string };
  /** The task's trace, with the span of this call. */
  traceparent?: string;
}

export interface Options {
  intent?: "chat" | "explain_code" | "edit_code" | "refactor_code" | "create_project" | "run_command" | "review_code" | "write_docs" | "research" | null;
  agentType?: string | null;
  models?: Models;
  /** How much models that reason should think; else as in the settings. */
  effort?: "low" | "medium" | "high";
  priority?: "high" | "normal" | "low";
  /** Seconds of work, without waits for your approval. */
  maxDuration?: number;
  approvals?: "ask" | "edits" | "auto" | "readonly";
  /** Plan first, reading only, then ask whether to go ahead; `approvals` holds from then on. */
  plan?: boolean;
  verify?: "auto" | "off" | string[];
  /** Review changes: those that are large or unproven (auto), all, or none. */
  review?: "auto" | "always" | "never";
  /** `worktree`: work in a Git worktree of the repository, outside the workspace, with your uncommitted changes; merge it when you like the result. */
  isolation?: "none" | "worktree";
  /** A crew: a strategist splits the goal, specialists work on the parts, each as a task of its own in its own worktree, and what passes its checks is merged. */
  crew?: boolean;
  /** Steps of a plan that run at once, each in its own worktree; default: 1, in a crew 4. */
  workers?: number;
  /** Skip checks that need approval instead of asking; the result lists them. */
  verifyUnasked?: boolean;
  /** Unattended: a call that needs approval is denied, and a question takes its safe choice. */
  unattended?: boolean;
  /** Who wrote the task. Only a person's words count as consent to a command; `other` is for the text of models, issues, chats and web pages. */
  author?: "person" | "other";
  /** In a fleet: the workers that may run it; `default` if not set. */
  pool?: string;
  conversationId?: string | null;
  maxIterations?: number | null;
  maxTokens?: number | null;
  maxCostUsd?: number | null;
}

/** The planner's steps and their state. Every change sends the whole list. */
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
  /** Who works on it, in a crew. */
  agent?: string;
  /** The task that works on it, in a crew. */
  taskId?: string;
  /** The status of that task. */
  status?: Status;
}

export interface PolicyAnswer {
  decision: "allow" | "ask" | "deny";
  why: string;
}

export interface PolicyRequest {
  tool: string;
  args?: { [key: string]: JsonValue };
  workspace?: string | null;
  /** The mode of the task that would call it. */
  approvals?: "ask" | "edits" | "auto" | "readonly";
}

export interface PoolState {
  name: "notification" | "exploration" | "hybrid";
  atOnce: number;
  running: number;
  spentUsd: number;
  budgetUsd?: number | null;
}

/** A problem document (RFC 9457) with a stable `code`. */
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

/** A project to create from a template; the model `offline` does it, unless `options.models` names another. */
export interface ProjectOrder {
  template: string;
  name: string;
  /** The directory that gets the project's folder, made if need be; default: the workspace. */
  path?: string;
  /** What the project is for. */
  description?: string;
  options?: Options;
}

export interface Proof {
  id: string;
  /** The sidecar's nonce, which works once. */
  nonce: string;
  proof: string;
}

export interface QuestionAnswer {
  questionId: string;
  answer: string;
}

/** A question to you, and later its answer; `by` says who answered if it wasn't you. */
export interface QuestionEvent {
  type: "question";
  seq?: number;
  taskId: string;
  at: string;
  questionId: string;
  text: string;
  /** The possible answers; without them, any text. */
  choices?: string[];
  state: "asked" | "answered";
  answer?: string;
  /** `policy`: the task may not wait for you, so it took the safe choice. Else whose token. */
  by?: string;
}

export interface QuestionRequest {
  answer: string;
}

export interface QueueState {
  depth: number;
  pools: { [key: string]: number };
}

/** The line on standard output when the sidecar is ready. */
export interface Ready {
  event: "ready";
  url: string;
  pid: number;
  tokenFile: string;
  version: string;
  certificate?: string;
}

/** A one-click fix: trust a workspace, add a key, choose a model; or a command to copy. */
export interface Remedy {
  kind: "trust" | "key" | "model" | "command";
  /** The workspace, the provider, the model, or the command. */
  value: string;
  /** The model's server. */
  baseUrl?: string;
}

/** A secret between one panel and the sidecar. It is never sent again: each side proves that it knows it. */
export interface Renewal {
  id: string;
  key: string;
}

/** A Git remote to work on. A worker clones it, and the result is a branch there and a diff in the journal. */
export interface Repository {
  /** `https://HOST/PATH`, one that the setting `remotes` allows. */
  remote: string;
  /** Where to begin; default: the remote's own choice. */
  branch?: string;
}

export interface Resources {
  /** Load of its machine over the last minute. */
  load: number;
  memoryBytes: number;
}

export interface ResultBody {
  content: string;
  details?: JsonValue;
  summary?: string;
  /** The call ran and failed; `content` has the output. */
  error?: ErrorBody;
  /** Processes killed with the call. */
  killed?: EndedProcess[];
}

/** A step, or a change that failed its checks, is tried again. */
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

export interface RevokeGrantRequest {
  id: string;
}

export interface RevokeRequest {
  id: string;
  /** The task, for a task's approval. */
  taskId?: string | null;
}

/** What a rewind did to each file that the task changed. Your own later edits are merged. */
export interface RewindAnswer {
  seq: number;
  /** What was restored. */
  files: RewoundFile[];
  /** Left alone: others changed the same place, or it is unknown who changed the file. */
  conflicts: LeftFile[];
  /** Could not be restored. Remove the reason, then rewind again. */
  notRestored: LeftFile[];
}

export interface RewindRequest {
  /** The event to go back to; default: just before the last change of files. */
  seq?: number | null;
  /** False rewinds the files only. */
  conversation?: boolean;
  /** Report what would change and change nothing. */
  preview?: boolean;
  /** Restore these files too, though it is unknown who changed them. */
  uncertain?: string[];
}

export interface RewoundFile {
  path: string;
  change: "created" | "modified" | "deleted";
}

export interface RoleInfo {
  role: string;
  chain: string[];
}

export interface RouteAnswer {
  intent: "chat" | "explain_code" | "edit_code" | "refactor_code" | "create_project" | "run_command" | "review_code" | "write_docs" | "research";
  confidence: number;
  pipeline: string[];
  why: string;
}

/** The intent and pipeline the router chose, and why. */
export interface RouteEvent {
  type: "route";
  seq?: number;
  taskId: string;
  at: string;
  intent: "chat" | "explain_code" | "edit_code" | "refactor_code" | "create_project" | "run_command" | "review_code" | "write_docs" | "research";
  confidence: number;
  pipeline: string[];
  why: string;
}

export interface RouteRequest {
  task: string;
  context?: Context;
}

/** The sandbox for commands; with `none` and `off` every command needs approval. */
export interface SandboxState {
  tier: string;
  message: string;
}

export interface ScheduleList {
  schedules: ScheduleState[];
  pools: PoolState[];
  /** Files that are not used, and why. */
  problems: string[];
  /** Whether this process, or the leader of its fleet, runs schedules. */
  active: boolean;
}

export interface ScheduleStarted {
  taskId: string;
}

export interface ScheduleState {
  name: string;
  /** As you wrote it: `every 4h`, `cron 0 9 * * 1-5`, `stale 12h`. */
  when: string;
  workspace: string;
  agent?: string;
  pool: string;
  /** When it runs next; null if its budget is used up. */
  next: string | null;
  /** Why it doesn't run although it is due. */
  waits?: string;
  lastTask?: string;
  lastAt?: string | null;
  lastStatus?: Status;
  /** Activations since midnight UTC. */
  today: number;
  /** Spent since midnight UTC. */
  spentUsd: number;
  budgetUsd?: number | null;
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
  /** For the new token after a restart of the sidecar. */
  renewal?: Renewal;
}

export interface ShellInfo {
  name: string;
  version: string;
}

/** A desktop shell on the bridge; a disconnected one may come back to its open calls. */
export interface ShellState {
  name: string;
  version: string;
  workspace: string;
  tools: string[];
  connected: boolean;
}

/** A tool of the shell's own: agents can call it like any other, and the shell carries it out. */
export interface ShellToolSpec {
  name: string;
  description: string;
  /** A JSON schema of the arguments. */
  parameters: { [key: string]: JsonValue };
  /** It changes nothing, so it needs no approval. */
  readOnly?: boolean;
  /** Whether it may run beside other calls; default: if it is read-only. */
  parallel?: boolean;
}

/** Lines of the workspace that a research answer rests on; a check found that they exist. */
export interface Source {
  path: string;
  lines: string;
  why: string;
}

/** What one agent used of one model on one day (UTC). */
export interface SpentTokens {
  day: string;
  model: string;
  agent: string;
  requests: number;
  inputTokens: number;
  outputTokens: number;
  /** Part of the input. */
  cachedTokens: number;
  /** An estimate by the price table; null if the model's price isn't known. */
  estimatedCostUsd: number | null;
}

export interface StatsAnswer {
  spent: SpentTokens[];
  /** Tasks that ended, by status. */
  ended: { [key: string]: number };
}

export type Status = "queued" | "running" | "waiting" | "completed" | "failed" | "cancelling" | "cancelled" | "interrupted" | "escalated";

export interface StatusAnswer {
  version: string;
  pid: number;
  workspace: string;
  uptimeSeconds: number;
  /** Number of tasks by status. */
  tasks: { [key: string]: number };
  streams: number;
  shells: ShellState[];
  sandbox: SandboxState;
  journal: JournalState;
  /** What you should know, such as that `config.toml` changed or is broken. */
  notice?: string;
}

/** The task's new status. */
export interface StatusEvent {
  type: "status";
  seq?: number;
  taskId: string;
  at: string;
  status: Status;
  reason?: string;
  /** The event the task was rewound to; events in between no longer count. */
  rewoundTo?: number;
  /** Whose token asked for it; absent for your own. */
  by?: string;
}

/** An agent started, completed or failed its step. A step stopped by a cancel fails and starts again on resume. */
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

/** One part of a crew's goal, and the task that did it. */
export interface SubtaskResult {
  id: string;
  title: string;
  agent: string;
  state: "pending" | "running" | "done" | "failed";
  /** The last task that worked on it. */
  taskId?: string;
  attempts: number;
  verified: boolean | null;
  files: string[];
  error?: string;
}

export interface Task {
  id: string;
  status: Status;
  task: string;
  intent: "chat" | "explain_code" | "edit_code" | "refactor_code" | "create_project" | "run_command" | "review_code" | "write_docs" | "research" | null;
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
  /** Your title, else a model's, else the first sentence of the task. */
  title: string;
  pinned: boolean;
  archived: boolean;
  /** Where it works, until that is merged or removed. */
  worktree?: string;
  /** The branch of its remote that has what it changed. */
  resultBranch?: string;
  /** The trace of the request that started it. */
  traceparent?: string;
  /** The task that this one is a part of. */
  parent?: string;
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
  /** Of a research task. */
  answer?: string;
  /** Of a research task. */
  sources?: Source[];
  /** The new project's directory, of a task from `POST /api/brain/projects`. */
  projectPath?: string;
  /** Whether that project was created and no check of it failed. */
  success?: boolean;
  /** Of a crew. */
  subtasks?: SubtaskResult[];
}

export interface Template {
  /** The name for `POST /api/brain/projects`, and in a sentence. */
  name: string;
  description: string;
  /** Their paths, with `{{name}}` and `{{module}}` in place of the project's. */
  files: string[];
  /** From `templates/` of your configuration directory. */
  own?: boolean;
}

export interface TemplateList {
  templates: Template[];
}

/** Opens one WebSocket without an Authorization header. */
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
  /** You approved exactly this call: it may reach the network and protected files. */
  approved?: boolean;
  /** Hosts that you granted; it may reach no others. */
  hosts?: string[];
  /** Paths outside the workspace that you granted it to read. */
  readable?: string[];
  /** Variables that an install needs to find its registry. */
  environment?: { [key: string]: string };
  /** The task's trace, with the span of this call. */
  traceparent?: string;
  type: "tool_call";
}

export interface ToolCallRequest {
  tool: string;
  args?: { [key: string]: JsonValue };
  callId?: string | null;
}

/** A tool call and its outcome. */
export interface ToolEvent {
  type: "tool";
  seq?: number;
  taskId: string;
  at: string;
  callId: string;
  /** The message of the turn that made the call. */
  messageId?: string;
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
  executor: "shell" | "local" | "hybrid" | "mcp";
  /** Seconds. */
  timeout: number;
  retryable: boolean;
  parallel: boolean;
  effects: "none" | "files" | "command";
}

export interface ToolList {
  tools: ToolInfo[];
}

/** Output of a running command, live. */
export interface ToolOutputEvent {
  type: "tool_output";
  seq?: number;
  taskId: string;
  at: string;
  callId: string;
  stream: "stdout" | "stderr";
  text: string;
  /** `text` is everything so far, even if empty, and replaces earlier parts. */
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
  /** Files that the project's own code runs by, changed since you trusted it. */
  changed?: string[];
  /** How they changed, as a unified diff. */
  diff?: string;
}

export interface Usage {
  inputTokens?: number;
  outputTokens?: number;
  cachedTokens?: number;
  costUsd?: number;
}

/** Tokens and cost so far. */
export interface UsageEvent {
  type: "usage";
  seq?: number;
  taskId: string;
  at: string;
  inputTokens: number;
  outputTokens: number;
  cachedTokens: number;
  costUsd: number;
  /** The conversation's length at the last request. */
  contextTokens?: number;
  /** The model's context window, if it is known. */
  contextLimit?: number;
  /** What the last request used of it. */
  spent?: Usage;
  /** `provider/name` of that request. */
  model?: string;
  /** The agent that made it. */
  agent?: string;
}

export interface UseAnswer {
  /** Whether the choice was saved; the next task uses it. */
  changed: boolean;
  message: string;
  tests: ModelTest[];
  /** The model roles now. */
  roles: RoleInfo[];
  /** Commands that undo the choice. */
  back: string[];
}

export interface UseRequest {
  /** `provider/name` (several with commas), `offline`, or `auto`: the providers you have keys for. */
  model: string;
  /** Default: every role. */
  role?: "fast" | "smart" | "instant";
  /** A server on this machine for `openai/…`, or empty for OpenAI itself. */
  baseUrl?: string | null;
  /** Choose the model even if it doesn't answer. */
  force?: boolean;
}

/** The reviewer's decision. */
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

/** The checks that ran after the last edit. */
export interface VerificationEvent {
  type: "verification";
  seq?: number;
  taskId: string;
  at: string;
  passed: boolean;
  attempt: number;
  checks: Check[];
  /** Earlier failures, flaky tests, and checks that didn't run. */
  notes?: string[];
}

export interface Welcome {
  type: "welcome";
  session: string;
  heartbeatSeconds: number;
  /** Calls without a result; each is sent again in its own frame. */
  open: OpenCall[];
}

export interface WorkerInfo {
  id: string;
  /** The pool whose tasks it runs; `*` for all. */
  pool: string;
  host: string;
  pid: number;
  /** `serving`: answers requests and runs no task. `dead`: no heartbeat for 15 seconds. */
  status: "running" | "draining" | "serving" | "dead";
  slots: number;
  /** The tasks that it runs. */
  tasks: string[];
  lastSeen: string;
  resources?: Resources;
}

export interface WorkerOrder {
  worker: string;
  /** `drain`: finish its tasks, then exit. `stop`: exit now, others go on with its tasks. */
  order: "drain" | "stop";
}

/** The line on standard output when a worker is ready. */
export interface WorkerReady {
  event: "ready";
  worker: string;
  pid: number;
}

/** The worktree that an isolated task works in was made, merged into the workspace, or discarded. */
export interface WorktreeEvent {
  type: "worktree";
  seq?: number;
  taskId: string;
  at: string;
  state: "created" | "merged" | "discarded";
  path: string;
  /** What the merge changed. */
  files?: string[];
  /** Your uncommitted changes that are not in it. */
  leftOut?: string[];
  /** Your workspace had changed meanwhile: no check has seen this combination. */
  combined?: boolean;
  /** Whose token asked for it; absent for your own. */
  by?: string;
}

/** `state`: its task works in it; it has changes to merge; it has none; or it is left over and can go. */
export interface WorktreeInfo {
  taskId: string;
  task: string | null;
  status: Status | null;
  workspace: string;
  path: string;
  state: "active" | "unmerged" | "unchanged" | "leftover";
  /** Files that a merge would change. */
  files: number;
  /** Your uncommitted changes that are not in it. */
  leftOut?: string[];
}

export interface WorktreeList {
  worktrees: WorktreeInfo[];
}

/** Every event of a task, discriminated by `type`. */
export type WireEvent =
  | StatusEvent
  | WorktreeEvent
  | BranchEvent
  | RouteEvent
  | StepEvent
  | ModelEvent
  | DeltaEvent
  | MessageEvent
  | ToolEvent
  | ToolOutputEvent
  | ApprovalEvent
  | QuestionEvent
  | PlanEvent
  | VerdictEvent
  | HandoffEvent
  | DiffEvent
  | VerificationEvent
  | RetryEvent
  | EscalationEvent
  | UsageEvent
  | CompleteEvent
  | LabelEvent
  | ErrorEvent
  | CancelledEvent;

/** Frames a shell sends over the bridge. */
export type ShellFrame =
  | Hello
  | ToolResultFrame
  | StreamFrame
  | ErrorFrame
  | NotifyFrame;

/** Frames the sidecar sends over the bridge. */
export type SidecarFrame =
  | Welcome
  | ToolCallFrame
  | ErrorFrame
  | CancelFrame;
