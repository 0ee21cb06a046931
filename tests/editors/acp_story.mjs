// A whole story with the official TypeScript client: a task with a permission, one that changes a file with unsaved
// text, then one that is cancelled.
// Usage: node acp_story.mjs SDK WORKSPACE TYPED COMMAND [ARGUMENT …]; prints one JSON report.
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";

const [sdk, workspace, typed, command, ...args] = process.argv.slice(2);
const acp = await import(`${sdk}/dist/v1/stable/acp.js`);
const agent = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const stream = acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));

const kinds = new Set();
const place = join(workspace, "greeting.py");
const buffers = new Map([[place, `${readFileSync(place, "utf8")}${typed}\n`]]);
let asked = 0;
let running = () => {};
const app = acp
  .client()
  .onNotification("session/update", ({ params }) => {
    kinds.add(params.update.sessionUpdate);
    if (params.update.status === "in_progress") running();
  })
  .onRequest("session/request_permission", ({ params }) => {
    asked += 1;
    return { outcome: { outcome: "selected", optionId: params.options[0].optionId } };
  })
  .onRequest("fs/read_text_file", ({ params }) => ({
    content: buffers.get(params.path) ?? readFileSync(params.path, "utf8"),
  }))
  .onRequest("fs/write_text_file", ({ params }) => {
    buffers.delete(params.path);
    writeFileSync(params.path, params.content);
    return {};
  });

const text = (words) => [{ type: "text", text: words }];
const report = await app.connectWith(stream, async (context) => {
  await context.request("initialize", {
    protocolVersion: 1,
    clientCapabilities: { fs: { readTextFile: true, writeTextFile: true } },
  });
  const { sessionId } = await context.request("session/new", { cwd: workspace, mcpServers: [] });
  const first = await context.request("session/prompt", { sessionId, prompt: text("run the command touch made.txt") });
  await context.request("session/prompt", { sessionId, prompt: text("rename greet to welcome") });
  const started = new Promise((resolve) => {
    running = resolve;
  });
  const prompted = context.request("session/prompt", { sessionId, prompt: text("run the command sleep 600") });
  await started;
  await context.notify("session/cancel", { sessionId });
  const second = await prompted;
  return { first: first.stopReason, second: second.stopReason, asked, kinds: [...kinds] };
});
console.log(JSON.stringify(report));
agent.stdin.end();
