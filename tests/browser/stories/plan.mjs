import assert from "node:assert/strict";
import { panel } from "../browser.mjs";

export const files = {
  "calc.py": "def add(a, b):\n    return a + b\n",
  "test_calc.py": "from calc import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n",
};

/** A plan is a list with states, a verdict has its issues; the JSON that agents exchange is not shown. */
export default async function ({ sidecar, page }) {
  await sidecar.trust();
  const { task, conversation, reaches, changes } = panel(page);
  await page.goto(await sidecar.signInUrl());
  await task.fill("rename add to plus");
  await task.press("Enter");
  await reaches("completed", { timeout: 60_000 });
  const plan = conversation.getByRole("list", { name: "Plan" }).getByRole("listitem");
  assert.equal(await plan.count(), 1);
  assert.equal(await plan.first().getAttribute("data-state"), "done");
  await conversation.getByText("Approved", { exact: true }).waitFor();
  assert.ok(!/[{}]/.test(await conversation.locator("[data-message]").allInnerTexts().then((all) => all.join(""))), "no JSON");
  await changes.getByText("test_calc.py").first().waitFor();
  assert.match(await sidecar.read("test_calc.py"), /import plus/);

  const review = { passed: false, summary: "Not yet.", issues: [{ file: "calc.py", line: 2, severity: "error", message: "It takes text too.", fix: "Check the types." }] };
  const models = await sidecar.script("strict", { reviewer: [{ text: `\`\`\`json\n${JSON.stringify(review)}\n\`\`\`` }] });
  const id = await sidecar.execute("review the change", { models, intent: "review_code" });
  await page.goto(`${sidecar.url}/#task=${id}`);
  await conversation.getByText("Changes requested").waitFor();
  await conversation.getByRole("list", { name: "Issues" }).getByText("It takes text too.").waitFor();
}
