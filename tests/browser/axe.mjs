// What axe finds on a page that is serious or worse, as a check of a story.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { require } from "./browser.mjs";

export async function axe(page) {
  const source = await readFile(require.resolve("axe-core/axe.min.js"), "utf8");
  return async (where) => {
    // Evaluated by the debugger, which the page's policy does not concern.
    await page.evaluate(source);
    const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
    const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
    const told = serious.map(({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.target} (${node.failureSummary})`).join(", ")}`);
    assert.deepEqual(told, [], where);
  };
}

export const THEMES = ["light", "dark", "contrast"];
export const wear = (page, theme) => page.evaluate((name) => localStorage.setItem("rainy-brain.preferences", JSON.stringify({ theme: name })), theme);
