// Fails a story for every finding of axe.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { require } from "./browser.mjs";

export async function axe(page) {
  const source = await readFile(require.resolve("axe-core/axe.min.js"), "utf8");
  return async (where) => {
    // The debugger evaluates it, which the page's policy allows.
    await page.evaluate(source);
    const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
    const findings = violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.target} (${node.failureSummary})`).join(", ")}`);
    assert.deepEqual(findings, [], where);
  };
}

export const THEMES = ["light", "dark", "contrast"];
export const wear = (page, theme) => page.evaluate((name) => localStorage.setItem("rainy-brain.preferences", JSON.stringify({ theme: name })), theme);
