import assert from "node:assert/strict";
import { panel } from "../browser.mjs";

const lines = (change = {}) => `${Array.from({ length: 40 }, (_, place) => change[place] ?? `value_${place} = ${place}`).join("\n")}\n`;

export const files = { "values.py": lines() };

/** Reviews hunks with `j`, `k`, `a`, `r` and `u`, and never loses the focus; the changes are beside the task at 1280 px and below it at 360 px. */
export default async function ({ sidecar, page }) {
  const { changes, reaches } = panel(page);
  const edit = (place) => ({ tool: "edit_file", args: { path: "values.py", oldText: `value_${place} = ${place}\n`, newText: `value_${place} = "${place}"\n` } });
  const models = await sidecar.script("edits", [
    { calls: [{ tool: "read_file", args: { path: "values.py" } }] },
    { calls: [edit(2), edit(20), edit(37)] },
    { text: "Three values are text now." },
  ]);
  const id = await sidecar.execute("make three values text", { models, intent: "edit_code", agentType: "coder" });
  await page.goto(await sidecar.signInUrl());
  await page.goto(`${sidecar.url}/#task=${id}`);
  await reaches("completed");
  await changes.getByRole("button", { name: "Accept", exact: true }).nth(2).waitFor();
  await changes.locator("[data-token]").first().waitFor();
  await page.keyboard.press("Alt+c");
  await changes.getByText(/reject.*undo/).waitFor();
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? "nothing");
  const reads = async (text) => {
    for (let tries = 0; (await sidecar.read("values.py")) !== text && tries < 100; tries += 1) await page.waitForTimeout(100);
    assert.equal(await sidecar.read("values.py"), text);
  };
  await page.keyboard.press("a");
  await changes.getByText("accepted").waitFor();
  // The focus is on the next open hunk.
  await page.waitForFunction(() => /@@ -1[0-9]/.test(document.activeElement?.getAttribute("aria-label") ?? ""));
  await page.keyboard.press("j");
  assert.match(await focused(), /@@ -3/);
  await page.keyboard.press("k");
  await page.keyboard.press("r");
  await reads(lines({ 2: 'value_2 = "2"', 37: 'value_37 = "37"' }));
  await page.waitForFunction(() => /@@ -3/.test(document.activeElement?.getAttribute("aria-label") ?? ""));
  // `u` brings the rejected hunk back, and `r` rejects it again.
  await page.keyboard.press("u");
  await reads(lines({ 2: 'value_2 = "2"', 20: 'value_20 = "20"', 37: 'value_37 = "37"' }));
  assert.notEqual(await focused(), "nothing", "the focus fell to the page");

  await page.setViewportSize({ width: 360, height: 740 });
  await changes.getByRole("button", { name: "Undo all" }).click();
  await changes.getByText("accepted").waitFor();
  await changes.getByRole("button", { name: "Reject", exact: true }).first().waitFor({ state: "detached" });
  assert.equal(await sidecar.read("values.py"), lines({ 2: 'value_2 = "2"' }), "an accepted hunk was undone");
  // “Undo all” offers to take it back.
  await page.getByRole("region", { name: "Messages" }).getByRole("button", { name: "Undo", exact: true }).click();
  await reads(lines({ 2: 'value_2 = "2"', 20: 'value_20 = "20"', 37: 'value_37 = "37"' }));
}
