import assert from "node:assert/strict";
import { panel } from "../browser.mjs";

export const files = {
  "calc.py": "def add(a, b):\n    return a + b\n",
  "test_calc.py": "from calc import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n",
};

/** A plan is a list that ticks off, a verdict is a word and what was found; what the agents exchange is not shown. */
export default async function ({ sidecar, page }) {
  await sidecar.trust();
  const { task, conversation, reaches, changes } = panel(page);
  await page.goto(await sidecar.door());
  await task.fill("rename add to plus");
  await task.press("Enter");
  await reaches("completed", { timeout: 60_000 });
  const plan = conversation.getByRole("list", { name: "Plan" }).getByRole("listitem");
  assert.equal(await plan.count(), 1);
  assert.match(await plan.first().getAttribute("class"), /plan-completed/);
  await conversation.getByText("passes", { exact: true }).waitFor();
  assert.ok(!/[{}]/.test(await conversation.locator(".message").allInnerTexts().then((all) => all.join(""))), "no JSON");
  await changes.getByText("test_calc.py").first().waitFor();
  assert.match(await sidecar.read("test_calc.py"), /import plus/);

  const review = { passed: false, summary: "Not yet.", issues: [{ file: "calc.py", line: 2, severity: "error", message: "It takes text too.", fix: "Check the types." }] };
  const models = await sidecar.script("strict", { reviewer: [{ text: `\`\`\`json\n${JSON.stringify(review)}\n\`\`\`` }] });
  const id = await sidecar.execute("review the change", { models, intent: "review_code" });
  await page.goto(`${sidecar.url}/#task=${id}`);
  await conversation.getByText("does not pass").waitFor();
  await conversation.getByRole("list", { name: "What was found" }).getByText("It takes text too.").waitFor();
}
