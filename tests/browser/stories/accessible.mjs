import assert from "node:assert/strict";
import { axe, THEMES, wear } from "../axe.mjs";
import { panel } from "../browser.mjs";
import { demo, files } from "../demo.mjs";

export { files };

/** Axe finds nothing on any screen of the panel, in any theme. */
export default async function ({ sidecar, page }) {
  await sidecar.trust();
  const { task, reaches, allow } = panel(page);
  const check = await axe(page);
  const models = await sidecar.script("demo", demo);
  const done = await sidecar.execute("give add() type hints", { models, intent: "edit_code" });
  const asks = await sidecar.execute("ask me", {
    models: await sidecar.script("asks", [{ calls: [{ tool: "run_command", args: { command: ["sh", "-c", "echo done > done.txt"] } }] }, { text: "ok" }]),
    intent: "run_command",
  });
  await page.goto(await sidecar.signInUrl());
  await task.waitFor();
  for (const theme of THEMES) {
    await wear(page, theme);
    await page.goto(`${sidecar.url}/#task=${done}`);
    await page.reload();
    await reaches("completed", { timeout: 60_000 });
    await page.getByRole("group", { name: "3 calls" }).getByRole("button").first().click();
    await page.getByRole("article").first().getByRole("button", { name: "Details" }).click();
    await check(`${theme}: a task`);
    await page.goto(`${sidecar.url}/#task=${asks}`);
    await allow.waitFor();
    await check(`${theme}: an approval`);
    await page.keyboard.press("Control+k");
    await page.getByRole("option").first().waitFor();
    await check(`${theme}: the palette`);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+,");
    await page.getByRole("dialog", { name: "Settings" }).waitFor();
    await check(`${theme}: the settings`);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "New task" }).click();
    await task.waitFor();
    await check(`${theme}: the start`);
  }
  await page.setViewportSize({ width: 360, height: 740 });
  await page.getByRole("button", { name: "Tasks" }).click();
  await page.getByRole("dialog", { name: "Tasks" }).waitFor();
  await check("narrow: the tasks");
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360, "the page is wider than the window");
}
