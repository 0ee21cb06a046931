import type { WireEvent } from "../../wire/types.ts";

type NewEvent = {
  [K in WireEvent["type"]]: Omit<Extract<WireEvent, { type: K }>, "seq" | "taskId" | "at">;
}[WireEvent["type"]];

/** Numbers events as the journal does; live events get no number. */
export function journal(...events: NewEvent[]): WireEvent[] {
  let seq = 0;
  return events.map((one, place) => {
    const at = new Date(Date.UTC(2026, 0, 1, 12, 0, place)).toISOString();
    const live = one.type === "delta" || one.type === "tool_output";
    if (!live) seq += 1;
    return { ...one, ...(live ? {} : { seq }), taskId: "t", at } as WireEvent;
  });
}

const tool = (callId: string, status: "running" | "success", durationMs = 0): NewEvent => ({
  type: "tool",
  callId,
  tool: "read_file",
  status,
  args: { path: "a.py" },
  summary: "",
  durationMs,
  cached: false,
  executor: "local",
});
const step = (number: number, agent: string, state: "started" | "completed"): NewEvent => ({
  type: "step",
  step: number,
  total: 2,
  message: agent,
  agent,
  state,
});
const word = (text: string, kind: "text" | "thinking" = "text"): NewEvent => ({
  type: "delta",
  messageId: "m1",
  role: "assistant",
  agent: "coder",
  text,
  kind,
});

/** A task with one event of each kind. */
export const STORY: WireEvent[] = journal(
  { type: "status", status: "queued" },
  { type: "message", messageId: "asked", role: "user", agent: "", text: "do it" },
  { type: "status", status: "running" },
  { type: "route", intent: "edit_code", confidence: 0.9, pipeline: ["coder", "reviewer"], why: "it says edit" },
  step(1, "coder", "started"),
  { type: "model", role: "smart", provider: "scripted", model: "x" },
  word("Hmm.", "thinking"),
  word("I "),
  word("look."),
  {
    type: "message",
    messageId: "m1",
    role: "assistant",
    agent: "coder",
    text: "I look.",
    thinking: "Hmm.",
    thinkingMs: 1_200,
  },
  tool("c1", "running"),
  tool("c2", "running"),
  { type: "tool_output", callId: "c1", stream: "stdout", text: "line\n" },
  tool("c2", "success", 3),
  tool("c1", "success", 5),
  {
    type: "approval",
    approvalId: "a1",
    callId: "c3",
    action: "run",
    argv: ["ls"],
    cwd: ".",
    why: "it may do anything",
    state: "requested",
  },
  { type: "status", status: "waiting", reason: "Waiting for your approval" },
  {
    type: "approval",
    approvalId: "a1",
    callId: "c3",
    action: "run",
    argv: ["ls"],
    cwd: ".",
    why: "it may do anything",
    state: "allowed",
  },
  { type: "status", status: "running" },
  { type: "diff", files: [{ path: "a.py", change: "created", added: 2, removed: 0 }] },
  { type: "retry", attempt: 2, of: 3, hints: [], error: "cut" },
  { type: "diff", files: [{ path: "a.py", change: "modified", added: 1, removed: 1 }] },
  step(1, "coder", "completed"),
  {
    type: "handoff",
    from: "coder",
    to: "reviewer",
    context: { filesModified: ["a.py"], currentState: "", remainingTasks: [] },
    reason: "done",
  },
  step(2, "reviewer", "started"),
  { type: "plan", items: [{ id: "1", title: "look", state: "running" }] },
  { type: "plan", items: [{ id: "1", title: "look", state: "done" }] },
  { type: "verdict", approved: true, issues: [] },
  { type: "verification", passed: true, attempt: 1, checks: [] },
  step(2, "reviewer", "completed"),
  { type: "branch", state: "cloned", remote: "https://host/app", branch: "main", commit: "a1" },
  { type: "branch", state: "pushed", remote: "https://host/app", branch: "brain/t", commit: "b2" },
  { type: "worktree", state: "created", path: "/data/worktrees/t/tree" },
  { type: "worktree", state: "merged", path: "/data/worktrees/t/tree", files: ["a.py"] },
  { type: "usage", inputTokens: 10, outputTokens: 5, cachedTokens: 0, costUsd: 0.1 },
  { type: "complete", result: { summary: "ok", filesModified: ["a.py"], verification: null, usage: {} } },
  { type: "status", status: "completed" },
);
