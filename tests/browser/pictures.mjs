// node tests/browser/pictures.mjs DIRECTORY [SCENE]: screenshots of the panel at three widths, in three themes.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { THEMES, wear } from "./axe.mjs";
import { Browser, panel } from "./browser.mjs";
import { demo, files } from "./demo.mjs";
import { ModelServer } from "./model_server.mjs";
import { Sidecar } from "./sidecar.mjs";

const directory = process.argv[2] ?? "/tmp/pictures";
const only = process.argv[3];
await mkdir(directory, { recursive: true });
const local = await ModelServer.start({ usual: true });
const shop = Object.fromEntries(
  Object.entries({ money: [], tax: ["money"], prices: ["money", "tax"], cart: ["prices"], orders: ["cart", "prices"], mail: ["orders"], reports: ["orders", "tax"] }).map(([name, imports]) => [
    `shop/${name}.py`,
    `${imports.map((each) => `from shop.${each} import ${each}\n`).join("")}\n\ndef ${name}():\n    return ${imports.map((each) => `${each}()`).join(" + ") || 1}\n`,
  ]),
);
const sidecar = await Sidecar.start({ ...files, ...shop, "shop/__init__.py": "" });
const browser = await Browser.open();
const run = async (name, task, replies, options = {}) => sidecar.execute(task, { models: await sidecar.script(name, replies), ...options });
const ended = async (id) => {
  for (let tries = 0; !/completed|failed|escalated/.test((await sidecar.task(id)).status); tries += 1) {
    if (tries > 600) throw new Error(`${id} does not end`);
    await new Promise((soon) => setTimeout(soon, 100));
  }
  return id;
};
const write = (body) => ({ calls: [{ tool: "write_file", args: { path: "calc.py", content: `def add(a, b):\n    return ${body}\n\n\ndef scale(values, factor):\n    return [value * factor for value in values]\n` } }] });
const passed = Array(6).fill({ text: '{"passed": true}' });
const edits = { intent: "edit_code", approvals: "auto" };

const asks = await run("asks", "clean up the build directory", [{ text: "I will remove what the last build left behind.", calls: [{ tool: "run_command", args: { command: ["rm", "-rf", "build/cache", "it's old"] } }] }, { text: "Done." }], { intent: "run_command" });
const allowed = await run("allowed", "make the notes", [{ calls: [{ tool: "run_command", args: { command: "touch notes.md" } }] }, { text: "ok" }, { text: "ok" }], { intent: "run_command" });
await sidecar.trust();
const done = await ended(await run("demo", "Give add() type hints and a docstring, and prove that it still works", demo, { intent: "edit_code", approvals: "ask" }));
const retried = await ended(await run("retried", "Let add() take any number of values", { coder: [{ text: "I make it take more values.", ...write("a * b") }, { text: "It adds now." }, { text: "The test says that 1 and 2 make 3, and not 2. I mixed the signs up.", ...write("a + b") }, { text: "`add()` adds again." }], reviewer: passed }, edits));
const stuck = await ended(await run("stuck", "Make add() faster", { coder: Array(3).fill([write("a * b"), { text: "It is faster." }]).flat(), reviewer: passed }, edits));
const words = "I have looked at the shop's prices and at who asks for them. ".repeat(30);
const running = await run("running", "Look at the prices and tell me what is slow", [{ text: "First I look at what there is.", calls: [{ tool: "read_file", args: { path: "calc.py" } }, { tool: "search_code", args: { query: "scale(" } }] }, { calls: [{ tool: "run_command", args: { command: "for i in $(seq 1 4000); do echo \"measuring $i of 4000\"; sleep 0.2; done" } }] }, { text: words }], { intent: "refactor_code", agentType: "coder", approvals: "auto" });

const settings = async (page, name, shown) => {
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+,");
  await page.getByRole("tab", { name }).click();
  await shown.waitFor();
};
const task = (id) => async (page) => {
  await page.goto(`${sidecar.url}/#task=${id}`);
  await panel(page).status.waitFor();
  await page.getByRole("article").first().waitFor();
};
const code = async (page, typed, name) => {
  await page.keyboard.press("Escape");
  await panel(page).task.fill(typed);
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name }).waitFor();
};
const { events } = await sidecar.call("GET", `/api/brain/tasks/${allowed}/events`);
const question = events.findLast((event) => event.type === "approval");
if (question?.state === "requested") await sidecar.call("POST", `/api/brain/tasks/${allowed}/approvals/${question.approvalId}`, { decision: "allow", scope: "workspace" });

const scenes = {
  async welcome(page) {
    await page.getByRole("list", { name: "Examples" }).getByRole("button").first().waitFor();
  },
  async running(page) {
    await task(running)(page);
    await page.getByText(/measuring \d+ of/).first().waitFor();
  },
  async task(page) {
    await task(done)(page);
    await page.getByRole("button", { name: "Accept", exact: true }).first().waitFor({ state: "attached" });
    await page.locator("[data-token=keyword]").first().waitFor({ state: "attached" });
  },
  retried: task(retried),
  async escalated(page) {
    await task(stuck)(page);
    await page.getByRole("form", { name: "What to do next" }).waitFor();
  },
  async review(page) {
    await task(done)(page);
    await page.getByRole("button", { name: "Accept", exact: true }).first().scrollIntoViewIfNeeded();
  },
  async back(page) {
    await page.getByRole("button", { name: "Rewind", exact: true }).first().click();
    await page.getByRole("list", { name: "What would change" }).waitFor();
  },
  async approval(page) {
    await page.keyboard.press("Escape");
    await page.goto(`${sidecar.url}/#task=${asks}`);
    await panel(page).allow.waitFor();
  },
  async palette(page) {
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("th");
    await page.getByRole("option").first().waitFor();
  },
  async dashboard(page) {
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Dashboard" }).click();
    await page.getByRole("dialog", { name: "Dashboard" }).waitFor();
  },
  async find(page) {
    await code(page, "/find scale the values", "Find in code");
    await page.getByRole("button", { name: /^scale/ }).waitFor();
  },
  async graph(page) {
    await code(page, "/graph shop/money.py", "Imports and impact");
    await page.getByText(/may break if it changes/).waitFor();
  },
  async history(page) {
    await page.keyboard.press("Escape");
    const drawer = page.getByRole("button", { name: "Tasks", exact: true });
    if (await drawer.isVisible()) await drawer.click();
    await page.getByRole("searchbox", { name: "Search tasks" }).fill("add");
    await page.getByText("Give add() type hints").first().waitFor();
  },
  general: (page) => settings(page, "General", page.getByText("Appearance")),
  models: (page) => settings(page, "Models and keys", page.getByText("openai/tiny-coder")),
  allowed: (page) => settings(page, "Approvals", page.getByRole("button", { name: /^Revoke/ }).first()),
  doctor: (page) => settings(page, "Health", page.getByRole("list", { name: "OK" })),
  about: (page) => settings(page, "About", page.getByText("Journal", { exact: true })),
};
for (const width of [360, 800, 1440]) {
  for (const theme of THEMES) {
    const { page, context } = await browser.window({ viewport: { width, height: width === 360 ? 740 : 900 }, deviceScaleFactor: 1 });
    await page.goto(await sidecar.signInUrl());
    await panel(page).task.waitFor();
    await wear(page, theme);
    await page.reload();
    await page.getByRole("button", { name: "New task" }).first().click();
    for (const [name, show] of Object.entries(scenes)) {
      await show(page);
      if (!only || only === name) await page.screenshot({ path: join(directory, `${name}-${width}-${theme}.png`) });
    }
    await context.close();
  }
}
console.log(browser.faults.length ? browser.faults : `pictures are in ${directory}`);
await browser.close();
await sidecar.call("POST", `/api/brain/tasks/${running}/cancel`);
await sidecar.close();
await local.close();
