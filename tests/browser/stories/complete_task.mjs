import assert from "node:assert/strict";
import { panel } from "../browser.mjs";
import { demo, files } from "../demo.mjs";

export { files };

/** A task from the prompt to its result, with parallel calls and changes; then a follow-up. */
export default async function ({ sidecar, page }) {
  await sidecar.trust();
  const { task, send, conversation, tool, reaches, changes } = panel(page);
  await sidecar.script("demo", demo);
  await page.goto(await sidecar.signInUrl());
  await task.waitFor();
  await page.evaluate(() => localStorage.setItem("rainy-brain.preferences", JSON.stringify({ model: "scripted/demo" })));
  await page.reload();
  await task.fill("/edit give add() type hints");
  await send.click();
  await reaches("completed", { timeout: 100_000 });

  await page.getByRole("list", { name: "Pipeline" }).getByText("coder").waitFor();
  const parallel = page.getByRole("group", { name: "3 calls" }).getByRole("article");
  await parallel.nth(2).waitFor();
  assert.equal(await parallel.count(), 3);
  await conversation.getByText("2 passed, 0 failed").first().waitFor();
  await conversation.locator("[data-token=keyword]", { hasText: "def" }).first().waitFor();
  await changes.getByText("calc.py").first().waitFor();
  assert.match(await sidecar.read("calc.py"), /a: float/);

  await tool("run_tests").first().getByRole("button", { name: "Details" }).click();
  await tool("run_tests").first().getByText("framework").waitFor();

  await page.goto(`${sidecar.url}/`);
  await page.getByRole("button", { name: "New task" }).click();
  await page.evaluate(() => localStorage.clear());
  await page.reload();
  await task.fill("search for TODO");
  await task.press("Enter");
  await reaches("completed");
  await task.fill("list the files");
  await task.press("Enter");
  await tool("list_dir").waitFor();
  await reaches("completed");
  assert.equal(await tool("search_code").count(), 1, "the follow-up started another conversation");
}
