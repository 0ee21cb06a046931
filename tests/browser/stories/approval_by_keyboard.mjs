import assert from "node:assert/strict";
import { panel } from "../browser.mjs";

const ask = (name) => [{ text: "I must ask.", calls: [{ tool: "run_command", args: { command: ["sh", "-c", `echo hello > ${name}`] } }] }, { text: "Thank you." }];

/** An approval shows the whole command, leaves the focus where it is, and is answered by keyboard once it is focused. */
export default async function ({ sidecar, page }) {
  const { task, conversation, allow, deny, reaches } = panel(page);
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label"));
  await sidecar.execute("first", { models: await sidecar.script("first", ask("yes.txt")), intent: "run_command" });
  await page.goto(await sidecar.signInUrl());
  await allow.waitFor();
  await reaches("waiting");
  await conversation.getByText("sh -c 'echo hello > yes.txt'").last().waitFor();
  await deny.waitFor();
  assert.equal(await focused(), "Task", "the approval took the focus");
  await page.getByText(/^Approval needed: Run this command\? sh -c/).waitFor({ state: "attached" });
  await page.keyboard.press("Alt+a");
  assert.equal(await focused(), "Approval");
  for (const key of ["a", "y", "d", "n", "Enter"]) await page.keyboard.press(key);
  await reaches("waiting");
  const armed = async () => page.waitForFunction((button) => !button.disabled, await allow.elementHandle());
  await armed();
  await page.keyboard.press("Control+Enter");
  await reaches("completed");
  assert.equal(await sidecar.read("yes.txt"), "hello\n");
  assert.equal(await focused(), "Task", "the focus did not return to the composer");

  const second = await sidecar.execute("second", { models: await sidecar.script("second", ask("no.txt")), intent: "run_command" });
  await page.goto(`${sidecar.url}/#task=${second}`);
  await allow.waitFor();
  await page.keyboard.press("Alt+a");
  await page.keyboard.press("2");
  assert.ok(await page.getByRole("radio", { name: "for this task" }).isChecked());
  await armed();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await conversation.getByText(/^Denied/).waitFor();
  await reaches("completed");
  await assert.rejects(sidecar.read("no.txt"));
  assert.equal(await task.inputValue(), "");
}
