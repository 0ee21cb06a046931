// A real sidecar for a story, with its own data directory and workspace; it can be killed and restarted.
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const PROJECT = process.env.BRAIN_PROJECT ?? resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const PYTHON = process.env.BRAIN_PYTHON ?? join(PROJECT, ".venv/bin/python");

export class Sidecar {
  /** `environ` adds environment variables; `launcher` returns a command that runs the sidecar, for its data directory. */
  static async start(files = {}, environ = {}, launcher = undefined) {
    const home = await mkdtemp(join(tmpdir(), "brain-story-"));
    const sidecar = new Sidecar();
    sidecar.environ = environ;
    sidecar.home = home;
    sidecar.data = join(home, "data");
    sidecar.launcher = launcher?.(sidecar.data) ?? [];
    sidecar.workspace = join(home, "shop");
    await mkdir(join(sidecar.data, "scripts"), { recursive: true });
    await mkdir(sidecar.workspace, { recursive: true });
    for (const [path, text] of Object.entries(files)) await sidecar.write(path, text);
    await sidecar.installPytest();
    await sidecar.start();
    return sidecar;
  }

  /** Gives the project an environment of its own, with the pytest of the test environment. */
  async installPytest() {
    for (const name of ["python", "pytest"]) {
      const path = join(this.workspace, ".venv", "bin", name);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, `#!/bin/sh\nexec ${join(dirname(PYTHON), name)} "$@"\n`, { mode: 0o755 });
    }
  }

  async start() {
    const args = ["-m", "sidecar", "serve", "--port", String(this.port ?? 0), "--data-dir", this.data];
    const env = { PATH: process.env.PATH, HOME: this.home, LANG: "C.UTF-8", ...this.environ };
    const [program, ...rest] = [...this.launcher, PYTHON, ...args, "--workspace", this.workspace];
    this.process = spawn(program, rest, { cwd: PROJECT, env, stdio: ["pipe", "pipe", "pipe"] });
    this.log = "";
    this.process.stderr.on("data", (chunk) => {
      this.log += chunk;
    });
    const ended = new Promise((_, reject) => this.process.once("exit", (code) => reject(new Error(`ended with ${code}: ${this.log}`))));
    ended.catch(() => {});
    const ready = new Promise((found) => createInterface({ input: this.process.stdout }).once("line", (line) => found(JSON.parse(line))));
    const { url, tokenFile } = await Promise.race([ready, ended]);
    this.url = url;
    this.port = Number(new URL(url).port);
    this.token = (await readFile(this.inside(tokenFile), "utf8")).trim();
  }

  /** A path as the sidecar sees it, which a launcher may have given a disk of its own. */
  inside(path) {
    return this.launcher.length > 0 ? `/proc/${this.process.pid}/root${path}` : path;
  }

  async kill(signal = "SIGKILL") {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const ended = new Promise((done) => this.process.once("exit", done));
    this.process.kill(signal);
    await ended;
  }

  async close() {
    await this.kill("SIGTERM");
    await rm(this.home, { recursive: true, force: true, maxRetries: 3 });
  }

  async call(method, path, body) {
    const headers = { Authorization: `Bearer ${this.token}`, ...(body ? { "Content-Type": "application/json" } : {}) };
    const response = await fetch(this.url + path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }

  /** The URL that signs in to the panel, once. */
  async signInUrl() {
    return `${this.url}/#code=${(await this.call("POST", "/api/brain/session/code")).code}`;
  }

  async write(path, text) {
    await mkdir(dirname(join(this.workspace, path)), { recursive: true });
    await writeFile(join(this.workspace, path), text);
  }

  read(path) {
    return readFile(join(this.workspace, path), "utf8");
  }

  /** Models that reply with this script. */
  async script(name, replies) {
    await writeFile(join(this.data, "scripts", `${name}.json`), JSON.stringify(replies));
    const model = `scripted/${name}`;
    return { fast: model, smart: model, instant: model };
  }

  async execute(task, options = {}) {
    return (await this.call("POST", "/api/brain/execute", { task, options })).taskId;
  }

  /** The first approval that a task asks for, as soon as it does. */
  async waitsFor(id) {
    for (let tries = 0; tries < 400; tries += 1) {
      const { events } = await this.call("GET", `/api/brain/tasks/${id}/events`);
      const asked = events.find((event) => event.type === "approval");
      if (asked) return asked;
      await new Promise((done) => setTimeout(done, 100));
    }
    throw new Error(`The task ${id} asked for nothing.`);
  }

  /** Trusts the workspace, so that its tests run without asking. */
  async trust() {
    await this.call("POST", "/api/brain/trust", { workspace: this.workspace, trusted: true });
  }

  task(id) {
    return this.call("GET", `/api/brain/tasks/${id}`);
  }
}
