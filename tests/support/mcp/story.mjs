// Drives our MCP server with the official TypeScript client: hand over a task, allow what it asks, undo it, cancel another.
// The argument is JSON: where the client's packages are, its major version, and the server's address or command.
import { pathToFileURL } from "node:url";

const { modules, version, url, token, command, args, env } = JSON.parse(process.argv[2]);
const load = (file) => import(pathToFileURL(`${modules}/node_modules/@modelcontextprotocol/${file}`).href);
const parts =
  version === 1
    ? ["sdk/dist/esm/client/index.js", "sdk/dist/esm/client/streamableHttp.js", "sdk/dist/esm/client/stdio.js"]
    : ["client/dist/index.mjs", "client/dist/index.mjs", "client/dist/stdio.mjs"];
const [{ Client }, { StreamableHTTPClientTransport }, { StdioClientTransport }] = await Promise.all(parts.map(load));

const transport = url
  ? new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } })
  : new StdioClientTransport({ command, args, env });
const options = version === 1 ? {} : { versionNegotiation: { mode: "auto" } };
const client = new Client({ name: "story", version: "1" }, options);
await client.connect(transport);

const progress = [];
const limits = { timeout: 120_000, onprogress: ({ message }) => progress.push(message) };
const call = async (name, given) => {
  const asked = { name, arguments: given };
  const result = await (version === 1 ? client.callTool(asked, undefined, limits) : client.callTool(asked, limits));
  if (result.isError) throw new Error(`${name}: ${result.content[0].text}`);
  return JSON.parse(result.content[0].text);
};

const tools = (await client.listTools()).tools.map(({ name }) => name);
const asked = await call("run_task", { task: "/run make the file", wait_seconds: 90 });
const [approval] = asked.approvals;
await call("approve", { task_id: asked.taskId, id: approval.approvalId, decision: "allow" });
const ended = await call("wait_for_task", { task_id: asked.taskId, seconds: 90 });
const diff = await client.readResource({ uri: `brain://tasks/${asked.taskId}/diff` });
const undone = await call("undo", { task_id: asked.taskId });
const second = await call("run_task", { task: "/run make the file", wait_seconds: 90 });
await call("cancel_task", { task_id: second.taskId });
const cancelled = await call("wait_for_task", { task_id: second.taskId, seconds: 90 });
await client.close();
console.log(
  JSON.stringify({
    tools,
    asked: asked.status,
    argv: approval.argv,
    ended: ended.status,
    diff: diff.contents[0].text,
    undone: undone.files.map(({ path }) => path),
    cancelled: cancelled.status,
    progress,
  }),
);
process.exit(0);
