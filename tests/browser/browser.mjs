// Chromium for a story. Anything that the policy blocks, and any request to another machine, fails the story.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const frontend = resolve(dirname(fileURLToPath(import.meta.url)), "../../frontend");
export const require = createRequire(`${frontend}/package.json`);
const { chromium } = require("playwright-core");

export const CHROMIUM = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
  (path) => path && existsSync(path),
);

export const FLAGS = ["--no-sandbox", "--disable-dev-shm-usage"];

export class Browser {
  /** The Chromium at `BRAIN_BROWSER`, which outlives the story, or one of its own. */
  static async open() {
    const browser = new Browser();
    const shared = process.env.BRAIN_BROWSER;
    browser.chromium = shared ? await chromium.connect(shared) : await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
    browser.faults = [];
    return browser;
  }

  /** A new browser context, without storage. */
  async window(options = {}) {
    const context = await this.chromium.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    context.setDefaultTimeout(40_000);
    return { context, page: await this.tab(context) };
  }

  async tab(context) {
    const page = await context.newPage();
    page.on("console", (message) => {
      if (/Content Security Policy|Refused to/.test(message.text())) this.faults.push(message.text());
    });
    page.on("pageerror", (error) => this.faults.push(String(error)));
    page.on("request", (request) => {
      const { hostname, protocol } = new URL(request.url());
      if (hostname !== "127.0.0.1" && protocol !== "data:" && protocol !== "blob:") this.faults.push(`requested ${request.url()}`);
    });
    return page;
  }

  async close() {
    await this.chromium.close();
  }
}

/** The panel's elements by their accessible names. */
export const panel = (page) => ({
  task: page.getByRole("textbox", { name: "Task", exact: true }),
  send: page.getByRole("button", { name: "Send", exact: true }),
  cancel: page.getByRole("button", { name: "Cancel", exact: true }),
  resume: page.getByRole("button", { name: "Resume", exact: true }),
  allow: page.getByRole("button", { name: "Allow", exact: true }),
  deny: page.getByRole("button", { name: "Deny", exact: true }),
  status: page.getByRole("status", { name: "Task status" }),
  conversation: page.getByRole("log", { name: "Conversation" }),
  palette: page.getByRole("dialog", { name: "Command palette" }),
  changes: page.getByRole("region", { name: "Changes" }),
  tool: (name) => page.getByRole("article", { name, exact: true }),
  /** Pass `options.timeout` for tasks that run real programs. */
  async reaches(status, options) {
    await page.getByRole("status", { name: "Task status" }).and(page.getByText(status, { exact: true })).waitFor(options);
  },
});
