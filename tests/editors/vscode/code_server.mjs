// VS Code in a browser: code-server with the packaged extension, a home of its own, and Chromium around it.
import { spawn, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Browser, panel } from "../../browser/browser.mjs";

const PROJECT = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");
const SERVER = process.env.BRAIN_CODE_SERVER ?? join(PROJECT, ".venv/code-server");
const NODE = join(SERVER, `node_modules/node-${process.platform}-${process.arch}/bin/node`);
const ENTRY = join(SERVER, "node_modules/code-server/out/node/entry.js");
const VSIX = join(PROJECT, "frontend/vscode/dist/rainy-brain.vsix");
const BRAIN = join(dirname(process.env.BRAIN_PYTHON ?? join(PROJECT, ".venv/bin/python")), "brain");
const LIMIT = 90_000;

export class Editor {
  static async open(files, { trust = true } = {}) {
    const editor = new Editor();
    editor.home = await mkdtemp(join(tmpdir(), "brain-vscode-"));
    editor.data = join(editor.home, "data");
    editor.workspace = join(editor.home, "shop");
    editor.trust = trust;
    await mkdir(join(editor.data, "scripts"), { recursive: true, mode: 0o700 });
    for (const [path, text] of Object.entries(files)) await editor.write(path, text);
    await editor.install();
    await editor.start();
    return editor;
  }

  get environ() {
    return { PATH: process.env.PATH, HOME: this.home, LANG: "C.UTF-8" };
  }

  get #folders() {
    return ["--user-data-dir", join(this.home, "user"), "--extensions-dir", join(this.home, "extensions")];
  }

  async install() {
    const settings = {
      "rainyBrain.command": BRAIN,
      "rainyBrain.dataDirectory": this.data,
      "workbench.startupEditor": "none",
      "telemetry.telemetryLevel": "off",
      "extensions.autoCheckUpdates": false,
      "files.autoSave": "off",
      "security.workspace.trust.startupPrompt": "never",
      "window.restoreWindows": "all",
      // The story reads lines from the page, so all of them must be there.
      "editor.minimap.enabled": false,
    };
    for (const name of ["User", "Machine"]) {
      await mkdir(join(this.home, "user", name), { recursive: true });
      await writeFile(join(this.home, "user", name, "settings.json"), JSON.stringify(settings));
    }
    const done = spawnSync(NODE, [ENTRY, ...this.#folders, "--install-extension", VSIX], { env: this.environ, encoding: "utf8" });
    if (done.status !== 0) throw new Error(`The extension can't be installed: ${done.stdout}${done.stderr}`);
  }

  async start() {
    const options = ["--auth", "none", "--bind-addr", "127.0.0.1:0", "--disable-telemetry", "--disable-update-check"];
    if (!this.trust) options.push("--disable-workspace-trust");
    this.process = spawn(NODE, [ENTRY, ...this.#folders, ...options, this.workspace], { env: this.environ, detached: true });
    this.log = "";
    const address = new Promise((found, fail) => {
      for (const output of [this.process.stdout, this.process.stderr])
        createInterface({ input: output }).on("line", (line) => {
          this.log = `${this.log}${line}\n`.slice(-20_000);
          const [, url] = /HTTP server listening on (\S+?)\/?$/.exec(line) ?? [];
          if (url) found(url);
        });
      this.process.once("exit", (code) => fail(new Error(`code-server ended with ${code}: ${this.log}`)));
    });
    this.url = await address;
    this.browser = await Browser.open();
    this.window = await this.browser.window({ viewport: { width: 1400, height: 900 } });
    this.page = this.window.page;
    this.page.setDefaultTimeout(LIMIT);
    await this.load();
  }

  async load() {
    await this.page.goto(`${this.url}/?folder=${encodeURIComponent(this.workspace)}`);
    await this.page.locator(".monaco-workbench .statusbar").waitFor();
    await this.statusBar.waitFor();
  }

  get statusBar() {
    return this.page.locator(".statusbar-item", { hasText: /Brain/ }).first();
  }

  /** Runs a command from the command palette. */
  async command(title) {
    await this.page.keyboard.press("F1");
    const input = this.page.locator(".quick-input-widget input[type=text]").first();
    await input.waitFor();
    await input.fill(`>${title}`);
    await this.page.locator(".quick-input-list .monaco-list-row", { hasText: title }).first().click();
  }

  async openFile(path) {
    await this.page.keyboard.press("Control+P");
    const input = this.page.locator(".quick-input-widget input[type=text]").first();
    await input.waitFor();
    await input.fill(path);
    await this.page.locator(".quick-input-list .monaco-list-row", { hasText: path.split("/").at(-1) }).first().click();
    await this.page.locator(".tab.active", { hasText: path.split("/").at(-1) }).waitFor();
    await this.page.locator(".editor-instance .view-lines").first().waitFor();
  }

  /** The panel's elements, once the webview shows them. */
  async panel() {
    const found = panel(this.page.frameLocator("iframe.webview.ready").frameLocator("iframe#active-frame"));
    await found.task.waitFor();
    return found;
  }

  /** A running sidecar answers the extension; this is the same one, from outside. */
  async call(method, path, body) {
    const { url } = JSON.parse(await readFile(join(this.data, "sidecar.json"), "utf8"));
    const token = (await readFile(join(this.data, "token"), "utf8")).trim();
    const headers = { Authorization: `Bearer ${token}`, ...(body ? { "Content-Type": "application/json" } : {}) };
    const answer = await fetch(url + path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }

  async script(name, replies) {
    await writeFile(join(this.data, "scripts", `${name}.json`), JSON.stringify(replies));
    const model = `scripted/${name}`;
    return { fast: model, smart: model, instant: model };
  }

  async execute(task, options = {}) {
    return (await this.call("POST", "/api/brain/execute", { task, options, context: { workspace: this.workspace } })).taskId;
  }

  async until(what, probe) {
    const end = Date.now() + LIMIT;
    for (;;) {
      const found = await probe();
      if (found) return found;
      if (Date.now() > end) throw new Error(`Not within ${LIMIT / 1000} s: ${what}`);
      await new Promise((done) => setTimeout(done, 100));
    }
  }

  ended(id) {
    return this.until(`task ${id} ends`, async () => {
      const task = await this.call("GET", `/api/brain/tasks/${id}`);
      return ["completed", "failed", "cancelled", "escalated"].includes(task.status) && task;
    });
  }

  /** Kills the process that runs the extensions, as a crash would. */
  async killExtensionHost() {
    const killed = [];
    for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
      const line = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
      const environ = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
      if (line.includes("--type=extensionHost") && environ.includes(`HOME=${this.home}\0`)) killed.push(Number(pid));
    }
    for (const pid of killed) process.kill(pid, "SIGKILL");
    return killed.length;
  }

  async write(path, text) {
    await mkdir(dirname(join(this.workspace, path)), { recursive: true });
    await writeFile(join(this.workspace, path), text);
  }

  read(path) {
    return readFile(join(this.workspace, path), "utf8");
  }

  async close() {
    await this.browser?.close();
    const ready = await readFile(join(this.data, "sidecar.json"), "utf8").then(JSON.parse, () => undefined);
    if (ready !== undefined) spawnSync(BRAIN, ["stop", "--data-dir", this.data], { env: this.environ });
    if (this.process?.exitCode === null) {
      const ended = new Promise((done) => this.process.once("exit", done));
      process.kill(-this.process.pid, "SIGTERM");
      await ended;
    }
    await rm(this.home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}
