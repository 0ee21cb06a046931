import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { panel } from "../browser.mjs";

export const files = { "calc.py": "def add(a, b):\n    # TODO: types\n    return a + b\n", "test_calc.py": "from calc import add\n\ndef test_add():\n    assert add(1, 2) == 3\n" };

/** The first run: no key, no account, three examples, and one click does real work. */
export default async function ({ sidecar, page }) {
  const { task, tool, conversation, reaches } = panel(page);
  await page.goto(await sidecar.signInUrl());
  await task.waitFor();
  assert.equal(new URL(page.url()).hash, "", "the code is still in the address");
  await page.getByText("No language model is set up.").waitFor();
  const examples = page.getByRole("list", { name: "Examples" }).getByRole("button");
  await examples.first().waitFor();
  assert.equal(await examples.count(), 3);
  await page.getByRole("button", { name: "run the tests" }).waitFor();
  await page.getByRole("button", { name: "search for TODO" }).click();
  await reaches("completed");
  await tool("search_code").waitFor();
  await conversation.getByText("calc.py").first().waitFor();

  await page.reload();
  await reaches("completed");
  assert.ok(await page.evaluate(() => !document.cookie && !JSON.stringify(localStorage).includes("token")));

  // In an empty workspace, the examples start a project.
  for (const name of ["calc.py", "test_calc.py"]) await rm(join(sidecar.workspace, name));
  await sidecar.trust();
  await page.getByRole("button", { name: "New task" }).click();
  await page.getByRole("button", { name: "create a Python package called hello" }).click();
  // Its test settings are new, so running them is asked about once.
  await page.getByText("for this task", { exact: true }).click();
  await page.getByRole("button", { name: "Allow", exact: true }).click();
  await reaches("completed", { timeout: 110_000 });
  await conversation.getByText(/^Verified: /).first().waitFor();
  assert.match(await sidecar.read("pyproject.toml"), /hello/);
}
