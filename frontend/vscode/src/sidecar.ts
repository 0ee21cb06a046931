import { spawn } from "node:child_process";
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { access, constants, mkdir, open, readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import type { Endpoint } from "../../src/bridge/index.ts";

const ALREADY_RUNNING = 3;
const START_MS = 15_000;
const PROOF_MS = 2_000;
const LOG_BYTES = 1_048_576;

export interface SidecarOptions {
  /** The `brain` command; found on the PATH if empty. */
  readonly command: string;
  readonly dataDir: string;
  readonly workspace: string | undefined;
}

/** Nothing runs, and nobody asked for a start yet. */
export class NotRunning extends Error {
  override readonly message = "The Rainy Brain sidecar isn't running.";
}

/** The data directory, where the sidecar and `brain` look for it too. */
export function defaultDataDir(environ: NodeJS.ProcessEnv = process.env): string {
  if (environ["BRAIN_DATA_DIR"]) return environ["BRAIN_DATA_DIR"];
  if (process.platform === "darwin") return join(homedir(), "Library", "Application Support", "rainy-brain");
  return join(environ["XDG_DATA_HOME"] || join(homedir(), ".local", "share"), "rainy-brain");
}

/** Finds the sidecar of the data directory, or starts one, which exits when nobody needs it. */
export class Sidecar {
  #known: Endpoint | undefined;
  #finding: Promise<Endpoint> | undefined;
  #wanted = false;

  constructor(private readonly options: () => SidecarOptions) {}

  /** From now on, start one if none runs. */
  want(): void {
    this.#wanted = true;
  }

  /** The last address failed: look again. */
  doubt(): void {
    this.#known = undefined;
  }

  endpoint(): Promise<Endpoint> {
    if (this.#known !== undefined) return Promise.resolve(this.#known);
    this.#finding ??= this.#find().finally(() => {
      this.#finding = undefined;
    });
    return this.#finding;
  }

  /** `fetch` to the sidecar: a path in, the token added here. */
  readonly fetch = async (path: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const send = async () => {
      const { url, token } = await this.endpoint();
      const headers = new Headers(init.headers);
      headers.set("Authorization", `Bearer ${token}`);
      return fetch(url + String(path), { ...init, headers, redirect: "error" });
    };
    try {
      const answer = await send();
      if (answer.status !== 401) return answer;
      this.doubt();
      return await send();
    } catch (error) {
      this.doubt();
      throw error;
    }
  };

  async #find(): Promise<Endpoint> {
    const options = this.options();
    const found = await findSidecar(options.dataDir);
    if (found === undefined && !this.#wanted) throw new NotRunning();
    this.#known = found ?? (await startSidecar(options));
    return this.#known;
  }
}

/** The running sidecar, if the program at its address proves that it knows the token. */
export async function findSidecar(dataDir: string): Promise<Endpoint | undefined> {
  try {
    const { url } = JSON.parse(await readFile(join(dataDir, "sidecar.json"), "utf8")) as { url: string };
    const token = (await readFile(join(dataDir, "token"), "utf8")).trim();
    return (await isGenuine(url, token)) ? { url, token } : undefined;
  } catch {
    return undefined;
  }
}

async function isGenuine(url: string, token: string): Promise<boolean> {
  const asked = randomBytes(32).toString("base64url");
  const answer = await fetch(`${url}/api/brain/session/challenge`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ id: "token", nonce: asked }),
    redirect: "error",
    signal: AbortSignal.timeout(PROOF_MS),
  });
  const { nonce, proof } = (await answer.json()) as { nonce: unknown; proof: unknown };
  const lines = ["rainy-brain session 1", "sidecar", new URL(url).host, "token", asked, String(nonce)].join("\n");
  const expected = Buffer.from(createHmac("sha256", token).update(lines).digest("base64url"));
  const given = Buffer.from(String(proof));
  return answer.ok && given.length === expected.length && timingSafeEqual(given, expected);
}

export async function startSidecar(options: SidecarOptions): Promise<Endpoint> {
  const command = options.command || (await findCommand());
  const end = Date.now() + START_MS;
  for (;;) {
    const outcome = await spawnSidecar(command, options, end - Date.now());
    if (typeof outcome !== "number") return outcome;
    // Another sidecar is starting or stopping: use it, or take its place.
    const found = outcome === ALREADY_RUNNING ? await findSidecar(options.dataDir) : undefined;
    if (found !== undefined) return found;
    if (outcome !== ALREADY_RUNNING || Date.now() > end)
      throw new Error(await describeFailure(options.dataDir, outcome));
    await new Promise((done) => setTimeout(done, 100));
  }
}

/** Returns the exit code if it ends before it is ready. */
async function spawnSidecar(command: string, options: SidecarOptions, ms: number): Promise<Endpoint | number> {
  await mkdir(options.dataDir, { recursive: true, mode: 0o700 });
  const log = await open(
    join(options.dataDir, "sidecar.log"),
    constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND,
    0o600,
  );
  try {
    if ((await log.stat()).size > LOG_BYTES) await log.truncate();
    const args = ["serve", "--port", "0", "--data-dir", options.dataDir, "--exit-when-idle"];
    if (options.workspace !== undefined) args.push("--workspace", options.workspace);
    // Its own session: tasks go on when the window closes.
    const child = spawn(command, args, { stdio: ["ignore", "pipe", log.fd], detached: true });
    const late = setTimeout(() => child.kill("SIGKILL"), Math.max(ms, 100));
    const lines = createInterface({ input: child.stdout! });
    try {
      const line = await new Promise<string | number>((found, fail) => {
        child.once("error", fail);
        child.once("exit", (code) => found(code ?? -1));
        lines.once("line", found);
      });
      if (typeof line === "number") return line;
      const ready = JSON.parse(line) as { url: string; tokenFile: string };
      return { url: ready.url, token: (await readFile(ready.tokenFile, "utf8")).trim() };
    } finally {
      clearTimeout(late);
      lines.close();
      child.stdout?.destroy();
      child.unref();
    }
  } finally {
    await log.close();
  }
}

/** On the PATH or where `uv tool` and `pipx` install it; never in the workspace. */
async function findCommand(): Promise<string> {
  const places = [...(process.env["PATH"] ?? "").split(delimiter), join(homedir(), ".local", "bin")];
  for (const place of places.filter((each) => each.startsWith("/"))) {
    const path = join(place, "brain");
    if (
      await access(path, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return path;
  }
  throw new Error(
    "The command `brain` isn't installed. Run `uv tool install rainy-brain`, or set `rainyBrain.command`.",
  );
}

async function describeFailure(dataDir: string, code: number): Promise<string> {
  const path = join(dataDir, "sidecar.log");
  const last = await readFile(path, "utf8").then(
    (text) => text.trim().split("\n").at(-1),
    () => undefined,
  );
  return `The sidecar didn't start: ${last?.replace(/^brain: /, "") || `exit code ${code}`}. Its log: ${path}`;
}
