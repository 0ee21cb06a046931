import assert from "node:assert/strict";
import { panel } from "../browser.mjs";

export const files = { "src/checkout.py": "def pay():\n    pass\n" };

/** The palette by keyboard: open, type, choose, close. */
export default async function ({ sidecar, page }) {
  const { task, palette, reaches } = panel(page);
  const id = await sidecar.execute("list the files");
  await page.goto(await sidecar.signInUrl());
  await task.waitFor();
  await page.keyboard.press("Control+k");
  await palette.waitFor();
  const box = palette.getByRole("combobox");
  assert.ok(await box.evaluate((element) => element === document.activeElement));
  await palette.getByRole("option", { name: /^New task/ }).waitFor();
  assert.equal(await palette.getByRole("option", { name: /^Command palette/ }).count(), 0, "it offers itself");
  const ends = await palette.locator("[cmdk-item] > :last-child").evaluateAll((all) => all.slice(0, 8).map((one) => one.getBoundingClientRect().right));
  assert.ok(Math.max(...ends) - Math.min(...ends) < 2, "the hints end at different places");
  await box.fill("theme dark");
  await page.keyboard.press("Enter");
  await palette.waitFor({ state: "detached" });
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  assert.ok(await task.evaluate((element) => element === document.activeElement), "the focus did not return");

  await page.keyboard.press("Control+k");
  await box.fill("list the fil");
  await palette.getByRole("option").first().waitFor();
  await page.keyboard.press("Enter");
  await reaches("completed");
  assert.match(page.url(), new RegExp(id));

  await page.keyboard.press("Control+k");
  await box.fill("checkout");
  await palette.getByRole("option", { name: "src/checkout.py" }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector("textarea").value === "@src/checkout.py ");

  await page.keyboard.press("Control+k");
  await box.fill("zzzz");
  await palette.getByRole("option", { name: "Find “zzzz” in code" }).waitFor();
  assert.equal(await palette.getByRole("option").count(), 1);
  await page.keyboard.press("Escape");
  await palette.waitFor({ state: "detached" });

  await task.fill("/set");
  await page.getByRole("option", { name: /settings/ }).waitFor();
  await task.press("Tab");
  await task.press("Enter");
  await page.getByRole("dialog", { name: "Settings" }).waitFor();
  await page.keyboard.press("Escape");

  await task.fill("");
  await task.press("Control+k");
  await palette.waitFor();
}
