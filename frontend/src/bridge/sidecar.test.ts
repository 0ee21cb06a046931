import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket as NodeSocket } from "ws";
import { BridgeClient, type BridgeOptions, type SocketConstructor, ToolFailure, type ToolHandler } from "./index.ts";

// Against the real sidecar, as a Tauri, Electron or VS Code host would use it.

const PROJECT = resolve(import.meta.dirname, "../../..");
const sockets: NodeSocket[] = [];

class Counted extends NodeSocket {
  constructor(url: string, protocols: string[]) {
    super(url, protocols);
    sockets.push(this);
  }
}

let root: string;
let sidecar: ChildProcess;
let url: string;
let token: string;

async function start(): Promise<void> {
  const env: NodeJS.ProcessEnv = { ...process.env, HOME: root, XDG_CONFIG_HOME: join(root, "config") };
  const command = ["-m", "sidecar", "serve", "--port", "0", "--data-dir", join(root, "data"), "--workspace", root];
  const python = process.env["BRAIN_PYTHON"] ?? join(PROJECT, ".venv/bin/python");
  sidecar = spawn(python, command, { cwd: PROJECT, env, stdio: ["ignore", "pipe", "ignore"] });
  const [line] = (await once(createInterface(sidecar.stdout!), "line")) as [string];
  const ready = JSON.parse(line) as { url: string; tokenFile: string };
  url = ready.url;
  token = (await readFile(ready.tokenFile, "utf8")).trim();
}

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "bridge-"));
  await start();
}, 20_000);

afterAll(async () => {
  sidecar.kill();
  await once(sidecar, "exit");
  await rm(root, { recursive: true, force: true });
});

interface Answer {
  status: string;
  content: string;
  executor: string;
  error?: { code: string };
}

async function batch(tool: string, args: object): Promise<Answer> {
  const answer = await fetch(`${url}/api/brain/tools/batch`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify({ workspace: root, approvals: "auto", calls: [{ tool, args }] }),
  });
  const { results } = (await answer.json()) as { results: Answer[] };
  return results[0]!;
}

/** A connected client that is closed after the test. */
async function withClient(
  tools: { [name: string]: ToolHandler },
  use: (client: BridgeClient, welcomed: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const waiting: (() => void)[] = [];
  let welcomes = 0;
  const welcomed = () =>
    new Promise<void>((done) => {
      if (welcomes === 0) return void waiting.push(done);
      welcomes -= 1;
      done();
    });
  const options: BridgeOptions = {
    endpoint: () => ({ url, token }),
    workspace: root,
    shell: { name: "vitest", version: "1" },
    tools,
    WebSocket: Counted as unknown as SocketConstructor,
    onWelcome: () => {
      const next = waiting.shift();
      if (next === undefined) welcomes += 1;
      else next();
    },
  };
  const client = new BridgeClient(options);
  client.start();
  try {
    await welcomed();
    await use(client, welcomed);
  } finally {
    await client.close();
    expect(client.state).toBe("closed");
  }
}

test("a handler runs a tool", async () => {
  await withClient({ read_file: (args) => `buffer of ${args["path"]}` }, async () => {
    expect(await batch("read_file", { path: "a.ts" })).toMatchObject({
      status: "success",
      content: "buffer of a.ts",
      executor: "shell",
    });
    expect(await batch("list_dir", {})).toMatchObject({ status: "success", executor: "local" });
  });
});

test("a failure keeps its code, and an exception becomes a failure", async () => {
  const tools: { [name: string]: ToolHandler } = {
    read_file: () => {
      throw new ToolFailure("locked", "It is locked.");
    },
    list_dir: () => Promise.reject(new Error("Something broke.")),
  };
  await withClient(tools, async () => {
    expect(await batch("read_file", { path: "a" })).toMatchObject({ status: "error", error: { code: "locked" } });
    expect(await batch("list_dir", {})).toMatchObject({ status: "error", error: { code: "tool_failed" } });
  });
});

test("a call that runs while the connection drops runs once, and its result arrives", async () => {
  let runs = 0;
  let begun = () => {};
  let finish = (_: string) => {};
  const began = new Promise<void>((done) => {
    begun = done;
  });
  const finished = new Promise<string>((done) => {
    finish = done;
  });
  const tools = {
    write_file: () => {
      runs += 1;
      begun();
      return finished;
    },
  };
  await withClient(tools, async (_client, welcomed) => {
    const asked = batch("write_file", { path: "a", content: "x" });
    await began;
    sockets.at(-1)!.terminate();
    await welcomed();
    finish("written once");
    expect(await asked).toMatchObject({ status: "success", content: "written once", executor: "shell" });
    expect(runs).toBe(1);
  });
});

test("a result from while the connection was down comes from the log", async () => {
  let runs = 0;
  const tools = {
    write_file: async () => {
      runs += 1;
      sockets.at(-1)!.terminate();
      return "written while away";
    },
  };
  await withClient(tools, async () => {
    const answer = await batch("write_file", { path: "a", content: "x" });
    expect(answer).toMatchObject({ status: "success", content: "written while away" });
    expect(runs).toBe(1);
  });
});

test("a cancelled task aborts its call's signal, after live output", async () => {
  let aborted = "";
  const tools: { [name: string]: ToolHandler } = {
    run_command: (_args, call) =>
      new Promise((_done, fail) => {
        // Repeats the output, because live output is not replayed to a late reader.
        const output = setInterval(() => call.stream("stdout", "started\n"), 50);
        call.signal.addEventListener("abort", () => {
          clearInterval(output);
          aborted = (call.signal.reason as ToolFailure).code;
          call.killed(4711, "sleep");
          fail(new Error("stopped"));
        });
      }),
  };
  await withClient(tools, async () => {
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
    const started = await fetch(`${url}/api/brain/execute`, {
      method: "POST",
      headers,
      body: JSON.stringify({ task: "run `sleep 60`", options: { approvals: "auto", intent: "run_command" } }),
    });
    const { taskId, streamUrl } = (await started.json()) as { taskId: string; streamUrl: string };
    const stream = await fetch(new URL(streamUrl, url), { headers });
    let text = "";
    let cancelled = false;
    for await (const chunk of stream.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      if (!cancelled && text.includes("tool_output")) {
        cancelled = true;
        await fetch(`${url}/api/brain/tasks/${taskId}/cancel`, { method: "POST", headers });
      }
    }
    expect(text).toContain("started\\n");
    expect(text).toContain('"pid":4711');
    expect(aborted).toBe("cancelled");
  });
}, 20_000);

test("the sidecar serves diagnostics that the editor reported", async () => {
  await withClient({}, async (client) => {
    const diagnostics = [{ line: 3, column: 1, severity: "error", message: "x is not defined" }];
    client.notify({ event: "diagnostics", path: "a.ts", diagnostics });
    client.notify({ event: "file_changed", paths: ["b.ts"] });
    client.notify({ event: "focus", path: "a.ts" });
    const answer = await batch("get_diagnostics", {});
    expect(answer).toMatchObject({ executor: "shell" });
    expect(answer.content).toContain("a.ts:3:1 error: x is not defined");
  });
});

test("it reconnects to a restarted sidecar", async () => {
  await withClient({ read_file: () => "still here" }, async (_client, welcomed) => {
    sidecar.kill("SIGKILL");
    await once(sidecar, "exit");
    await start();
    await welcomed();
    expect(await batch("read_file", { path: "a" })).toMatchObject({ content: "still here", executor: "shell" });
  });
}, 20_000);
