import assert from "node:assert/strict";
import { panel } from "../browser.mjs";

const tool = (callId, name, status, args, more = {}) => ({ type: "tool", callId, tool: name, status, args, summary: "", durationMs: 0, cached: false, executor: "local", ...more });
const check = (name, command, exitCode, evidence) => ({ name, command, exitCode, passed: exitCode === 0, durationMs: 2_300, evidence });

/** One event of each kind. */
export const events = [
  { type: "status", status: "queued" },
  { type: "message", messageId: "q", role: "user", agent: "", text: "Make the checkout faster\nand keep the tests green" },
  { type: "status", status: "running" },
  { type: "route", intent: "refactor_code", confidence: 0.9, pipeline: ["planner", "coder", "reviewer"], why: "it asks for a change in several places" },
  { type: "step", step: 1, total: 3, message: "Turns a request into a plan of small steps.", agent: "planner", state: "started" },
  { type: "model", role: "fast", provider: "groq", model: "llama-4", fallbackFrom: "gemini/flash", reason: "429, too many requests" },
  { type: "message", messageId: "p", role: "assistant", agent: "planner", text: "- [x] measure\n- [x] cache the prices\n- [ ] prove it" },
  { type: "step", step: 1, total: 3, message: "Turns a request into a plan of small steps.", agent: "planner", state: "completed" },
  { type: "handoff", from: "planner", to: "coder", context: { filesModified: [], currentState: "", remainingTasks: [] }, reason: "The planner is done." },
  { type: "step", step: 2, total: 3, message: "Reads and changes code.", agent: "coder", state: "started" },
  tool("c1", "search_code", "success", { query: "price(" }, { summary: "12 matches in 4 files", durationMs: 21, cached: true }),
  tool("c2", "edit_file", "success", { path: "src/checkout.py" }, { summary: "modified src/checkout.py", durationMs: 4, executor: "shell" }),
  { type: "diff", files: [{ path: "src/checkout.py", change: "modified", added: 12, removed: 3 }] },
  tool("c3", "run_command", "error", { command: "npm run bench" }, { durationMs: 1_200, error: { code: "command_failed", message: "exit code 1\nno such script: bench" } }),
  tool("c4", "run_command", "unknown", { command: "make deploy" }, { durationMs: 900 }),
  { type: "verification", passed: false, attempt: 1, checks: [check("tests", "pytest -q", 1, "1 failed\nE   assert 3 == 4"), check("lint", "ruff check", 0, "")] },
  { type: "retry", attempt: 2, of: 3, hints: ["The cache must be cleared when a price changes."], error: "a check failed" },
  { type: "verification", passed: true, attempt: 2, checks: [check("tests", "pytest -q", 0, "48 passed"), check("lint", "ruff check", 0, "")] },
  { type: "status", status: "interrupted", reason: "The sidecar stopped while the task was at work." },
  { type: "status", status: "queued", reason: "resumed after the sidecar stopped" },
  { type: "status", status: "running" },
  { type: "usage", inputTokens: 48_200, outputTokens: 3_100, cachedTokens: 30_000, costUsd: 0.21 },
  { type: "escalation", reason: "The benchmark cannot be run here.", attempts: 3, suggestions: ["Add a bench script to package.json.", "Or say that tests are enough."] },
  { type: "status", status: "escalated", reason: "Needs your help." },
];

export const canned = (id) =>
  events.map((event, place) => {
    const at = new Date(Date.UTC(2026, 0, 1, 12, 0, place * 2)).toISOString();
    return `id: ${place + 1}\ndata: ${JSON.stringify({ ...event, seq: place + 1, taskId: id, at })}\n\n`;
  });

/** Retries, fallbacks, interruptions and verifications are sentences, with their evidence. */
export default async function ({ sidecar, page }) {
  const { conversation, reaches, tool: card, resume, changes } = panel(page);
  const id = await sidecar.execute("list the files");
  await page.route("**/stream", (route) => route.fulfill({ body: canned(id).join(""), contentType: "text/event-stream" }));
  await page.route("**/diff", (route) => route.fulfill({ status: 404, json: { code: "not_found", title: "", detail: "", status: 404 } }));
  await page.goto(await sidecar.signInUrl());
  await page.goto(`${sidecar.url}/#task=${id}`);
  await reaches("escalated");
  const says = (text) => conversation.getByText(text).first().waitFor();
  await says("groq/llama-4 replaces gemini/flash: 429, too many requests");
  await says("Trying again (2 of 3): a check failed");
  await says("The cache must be cleared when a price changes.");
  await says("Not verified: 1 of 2 checks passed.");
  await says("Verified: 2 of 2 checks passed, attempt 2.");
  await says("The sidecar stopped while the task was at work.");
  await says("Needs your help after 3 attempts: The benchmark cannot be run here.");
  await says("unknown: it may have taken effect");
  await card("search_code").getByText("cached").waitFor();
  // The output of a failed check is open, that of a passed one on demand.
  await says("E   assert 3 == 4");
  await says("exit code 1 · 2.3 s");
  assert.ok(!(await conversation.getByText("48 passed").isVisible()));
  await conversation.getByText("pytest -q").last().click();
  await says("48 passed");
  await changes.getByText("src/checkout.py").waitFor();
  await resume.waitFor();
  await page.getByText("Resumes after step 1 of 3 (planner).").waitFor();
  assert.equal(await page.getByRole("list", { name: "Pipeline" }).getByRole("listitem").count(), 3);

  // Instructions for an escalated task continue it.
  const next = conversation.getByRole("form", { name: "What to do next" });
  await says("Or say that tests are enough.");
  await next.getByRole("textbox", { name: "What should it do next?" }).fill("search for TODO");
  await next.getByRole("button", { name: "Continue" }).click();
  for (let tries = 0; (await sidecar.task(id)).lastSeq < 12 && tries < 50; tries += 1) await page.waitForTimeout(100);
  const { events: journal } = await sidecar.call("GET", `/api/brain/tasks/${id}/events`);
  assert.ok(journal.some((event) => event.type === "message" && event.role === "user" && event.text === "search for TODO"));
  if (process.env.BRAIN_SHOW) await page.screenshot({ path: process.env.BRAIN_SHOW });
}
