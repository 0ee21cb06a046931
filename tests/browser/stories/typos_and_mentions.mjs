import assert from "node:assert/strict";
import { panel } from "../browser.mjs";

export const files = { "src/agents/router.py": "def route():\n    pass\n", "src/app.py": "", "a name.md": "# Notes\n" };

/** A mistyped command gets a suggestion; an @ leads into folders; no text gets lost. */
export default async function ({ sidecar, page }) {
  const { task, reaches } = panel(page);
  const messages = page.getByRole("region", { name: "Messages" });
  const tasks = async () => (await sidecar.call("GET", "/api/brain/tasks")).tasks.map((one) => one.task);
  await page.goto(await sidecar.signInUrl());

  // A command of the sidecar, and one of the panel.
  await task.fill("/exlpain src/app.py");
  await task.press("Enter");
  await messages.getByText("There is no command /exlpain. Did you mean /explain?").waitFor();
  assert.equal(await task.inputValue(), "/exlpain src/app.py");
  await task.fill("/setings");
  await task.press("Enter");
  await messages.getByText("There is no command /setings. Did you mean /settings?").waitFor();
  await task.fill("/cancel");
  await task.press("Escape");
  await task.press("Enter");
  await messages.getByText("Nothing to cancel: no task is running here.").waitFor();
  assert.deepEqual(await tasks(), [], "a task was started");

  // Sending it again sends it as a task.
  await task.fill("/setings is not found");
  await task.press("Enter");
  await messages.getByText("Press Enter again to send it as it is.").last().waitFor();
  await task.press("Enter");
  await reaches("failed");
  assert.deepEqual(await tasks(), ["/setings is not found"]);

  // “/new” with text after it is a task.
  await page.getByRole("button", { name: "New task" }).first().click();
  await task.fill("/new nothing in particular");
  await task.press("Enter");
  await page.waitForFunction(() => document.querySelector("textarea").value === "");
  assert.equal((await tasks())[0], "/new nothing in particular");

  // Into a folder, step by step, then a name with spaces.
  await task.pressSequentially("explain @src/");
  await page.getByRole("option", { name: "src/agents/", exact: true }).waitFor();
  await task.press("ArrowDown");
  await task.press("Tab");
  await page.getByRole("option", { name: "src/agents/router.py", exact: true }).waitFor();
  assert.equal(await task.inputValue(), "explain @src/agents/");
  await page.getByRole("option", { name: "src/agents/router.py", exact: true }).click();
  assert.equal(await task.inputValue(), "explain @src/agents/router.py ");
  await task.pressSequentially("and @name");
  await page.getByRole("option", { name: "a name.md" }).click();
  assert.equal(await task.inputValue(), 'explain @src/agents/router.py and @"a name.md" ');
}
