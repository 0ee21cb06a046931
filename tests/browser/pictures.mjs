// node tests/browser/pictures.mjs DIRECTORY: the panel at three widths, light and dark, to be looked at.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { Browser, panel } from "./browser.mjs";
import { demo, files } from "./demo.mjs";
import { Sidecar } from "./sidecar.mjs";

const directory = process.argv[2] ?? "/tmp/pictures";
const only = process.argv[3];
await mkdir(directory, { recursive: true });
const sidecar = await Sidecar.start(files);
const browser = await Browser.open();
await sidecar.trust();
const models = await sidecar.script("demo", demo);
const done = await sidecar.execute("Give add() type hints and a docstring, and prove that it still works", { models, intent: "edit_code", approvals: "ask" });
const asks = await sidecar.execute("clean up the build directory", { models: await sidecar.script("asks", [{ text: "I will remove what the last build left behind.", calls: [{ tool: "run_command", args: { command: ["rm", "-rf", "build/cache", "it's old"] } }] }, { text: "Done." }]), intent: "run_command" });

const scenes = {
  async welcome(page) {
    await panel(page).task.waitFor();
    await page.getByRole("button", { name: "run the tests" }).waitFor();
  },
  async task(page) {
    await page.goto(`${sidecar.url}/#task=${done}`);
    await page.waitForTimeout(900);
  },
  async approval(page) {
    await page.goto(`${sidecar.url}/#task=${asks}`);
    await panel(page).allow.waitFor();
  },
  async palette(page) {
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("th");
    await page.waitForTimeout(300);
  },
  async settings(page) {
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+,");
    await page.getByRole("dialog", { name: "Settings" }).waitFor();
    await page.waitForTimeout(200);
  },
};
for (const width of [360, 800, 1440]) {
  for (const colorScheme of ["light", "dark"]) {
    const { page, context } = await browser.window({ viewport: { width, height: width === 360 ? 740 : 900 }, colorScheme, deviceScaleFactor: 1 });
    await page.goto(await sidecar.door());
    await page.getByRole("button", { name: "New task" }).first().click();
    for (const [name, show] of Object.entries(scenes)) {
      await show(page);
      if (!only || only === name) await page.screenshot({ path: join(directory, `${name}-${width}-${colorScheme}.png`) });
    }
    await context.close();
  }
}
console.log(browser.faults.length ? browser.faults : `pictures are in ${directory}`);
await browser.close();
await sidecar.close();
