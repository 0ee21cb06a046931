import assert from "node:assert/strict";
import { panel } from "../browser.mjs";

export const files = { "calc.py": `${Array.from({ length: 60 }, (_, place) => `value_${place} = ${place}`).join("\n")}\n`, "notes.md": "# Notes\n" };

const answer = `The total is in \`calc.py:42\`, see also [the notes](notes.md).

- [x] read the file
- [ ] ~~delete~~ keep it

| ${Array.from({ length: 14 }, (_, place) => `a wide column ${place}`).join(" | ")} |
|${" --- |".repeat(14)}
| ${Array.from({ length: 14 }, (_, place) => `cell ${place}`).join(" | ")} |

The mean is $\\frac{a+b}{2}$, it costs $5 or $6.[^1]

$$
\\sum_{i=1}^{n} i = \\frac{n(n+1)}{2}
$$

\`\`\`diff
-old line
+new line
\`\`\`

\`\`\`mermaid
graph TD
  A[Ask] --> B{Known?}
  B -->|yes| C[Answer]
  B -->|no| A
\`\`\`

مرحبا بالعالم: هذا نص من اليمين إلى اليسار.

[^1]: As of today.
`;

/** The transcript reads like an answer: calls fold, edits show their diff, thinking stays, and everything in the text is rendered. */
export default async function ({ sidecar, page }) {
  const { conversation, reaches, tool } = panel(page);
  const models = await sidecar.script("reads", [
    { thinking: "I look at **both** files first.", calls: [{ tool: "read_file", args: { path: "calc.py" } }, { tool: "read_file", args: { path: "notes.md" } }, { tool: "search_code", args: { query: "value_4" } }] },
    { calls: [{ tool: "edit_file", args: { path: "notes.md", oldText: "# Notes", newText: "# My notes" } }] },
    { thinking: "Now I can answer.", text: answer },
  ]);
  const id = await sidecar.execute("where is the total?", { models, intent: "edit_code", agentType: "coder" });
  await page.goto(await sidecar.signInUrl());
  await page.goto(`${sidecar.url}/#task=${id}`);
  await reaches("completed");

  // Three calls are one line; a click shows each, and another folds them again.
  const burst = conversation.getByRole("group", { name: "3 calls" });
  const line = burst.getByRole("button", { name: /^Explored 2 files, searched/ });
  await line.waitFor();
  assert.equal(await burst.getByRole("article").count(), 3, "screen readers don't hear the calls");
  assert.equal(await burst.getByRole("button").count(), 1);
  await line.click();
  await burst.getByRole("button", { name: "Details" }).nth(2).waitFor();
  await line.press("Enter");
  await burst.getByRole("button", { name: "Details" }).first().waitFor({ state: "detached" });
  // An edit shows its diff without a click.
  await tool("edit_file").getByText("# My notes").waitFor();

  // Thinking survives a reload, rendered as Markdown.
  await page.reload();
  await reaches("completed");
  const thought = conversation.getByRole("button", { name: /^Thought/ });
  await thought.nth(1).waitFor();
  await thought.first().click();
  assert.equal(await conversation.locator("strong").first().innerText(), "both");

  // Formulas, diagrams, tables, task lists, footnotes and diffs.
  await conversation.locator("math").nth(1).waitFor();
  await conversation.getByText("it costs $5 or $6.").waitFor();
  const diagram = conversation.getByRole("img", { name: /^Diagram: graph TD/ });
  await diagram.scrollIntoViewIfNeeded();
  await page.waitForFunction(() => document.querySelector("img[alt^=Diagram]")?.naturalWidth > 50);
  assert.equal((await conversation.locator("[data-diff=added]").innerText()).trim(), "+new line");
  assert.ok(await conversation.getByRole("checkbox").first().isChecked());
  await conversation.locator("del").getByText("delete").waitFor();
  await conversation.getByText("As of today.").waitFor();
  const table = conversation.getByRole("group", { name: "Table" });
  assert.ok(await table.evaluate((box) => box.scrollWidth > box.clientWidth), "a wide table does not scroll");
  assert.ok(await conversation.evaluate((box) => box.scrollWidth <= box.clientWidth), "the conversation scrolls sideways");
  assert.equal(await conversation.getByText("مرحبا").evaluate((text) => getComputedStyle(text).direction), "rtl");

  // A file reference opens a preview at its line; Esc closes it.
  await conversation.getByRole("button", { name: "calc.py:42" }).click();
  const preview = page.getByRole("dialog", { name: "calc.py, line 42" });
  await preview.getByText("value_41 = 41").waitFor();
  assert.match(await preview.locator("tr[data-wanted]").innerText(), /^42\tvalue_41 = 41/);
  if (process.env.BRAIN_SHOW) await page.screenshot({ path: `${process.env.BRAIN_SHOW}/preview.png` });
  await page.keyboard.press("Escape");
  await preview.waitFor({ state: "detached" });
  if (process.env.BRAIN_SHOW) await page.screenshot({ path: `${process.env.BRAIN_SHOW}/transcript.png` });

  // Half a link does not flash while a text grows.
  const slow = await sidecar.script("slow", [{ text: "See [the documentation](https://example.org/a/long/address/to/type) for **more** words.", deltaMs: 25 }]);
  const writing = await sidecar.execute("write slowly", { models: slow, intent: "chat" });
  await page.evaluate(() => {
    window.flashes = [];
    new MutationObserver(() => {
      const text = document.querySelector("[data-message=growing]")?.textContent ?? "";
      if (/\]\(|https:|\*\*/.test(text)) window.flashes.push(text);
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  await page.evaluate((hash) => {
    window.location.hash = hash;
  }, `#task=${writing}`);
  await conversation.getByRole("link", { name: "the documentation" }).waitFor();
  await reaches("completed");
  assert.deepEqual(await page.evaluate(() => window.flashes), []);
}
