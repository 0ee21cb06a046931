import assert from "node:assert/strict";
import { panel } from "../browser.mjs";

/** A limit can be cleared and typed anew; what is no limit is marked, and gives way to the last one. */
export default async function ({ sidecar, page }) {
  await page.goto(await sidecar.signInUrl());
  await panel(page).task.waitFor();
  await page.keyboard.press("Control+,");
  const stored = () => page.evaluate(() => JSON.parse(localStorage.getItem("rainy-brain.preferences") ?? "{}"));
  const minutes = page.getByLabel("Time limit, in minutes");
  await minutes.focus();
  await page.keyboard.press("End");
  for (const key of ["Backspace", "Backspace", "4", "5"]) await page.keyboard.press(key);
  await page.keyboard.press("Tab");
  assert.equal(await minutes.inputValue(), "45");
  assert.equal((await stored()).maxMinutes, 45);
  await minutes.fill("20000");
  assert.ok(await minutes.evaluate((input) => input.matches(":invalid")));
  await page.keyboard.press("Tab");
  assert.equal(await minutes.inputValue(), "45");
  const cost = page.getByLabel("Cost limit, in US dollars");
  await cost.pressSequentially("0.25");
  assert.equal((await stored()).maxCostUsd, 0.25);
  await cost.fill("-3");
  await page.keyboard.press("Tab");
  assert.equal(await cost.inputValue(), "0.25");
  await cost.fill("");
  await page.keyboard.press("Tab");
  assert.equal(await cost.inputValue(), "");
  const { maxMinutes, maxCostUsd } = await stored();
  assert.deepEqual([maxMinutes, maxCostUsd], [45, null]);
}
