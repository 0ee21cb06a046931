import assert from "node:assert/strict";
import { panel } from "../browser.mjs";

const ask = (name) => [{ text: "I must ask.", calls: [{ tool: "run_command", args: { command: ["sh", "-c", `echo hello > ${name}`] } }] }, { text: "Thank you." }];

/** Asked in the flow, with the whole command; answered with one key, for or against. */
export default async function ({ sidecar, page }) {
  const { conversation, allow, deny, reaches } = panel(page);
  await sidecar.execute("first", { models: await sidecar.script("first", ask("yes.txt")), intent: "run_command" });
  await page.goto(await sidecar.door());
  await allow.waitFor();
  await reaches("waiting");
  await conversation.getByText("sh -c 'echo hello > yes.txt'").last().waitFor();
  await deny.waitFor();
  const focused = await page.evaluate(() => document.activeElement?.getAttribute("aria-label"));
  assert.equal(focused, "Approval", "the question has the focus");
  await page.keyboard.press("a");
  await reaches("completed");
  assert.equal(await sidecar.read("yes.txt"), "hello\n");
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("aria-label")), "Task", "the focus is back in the composer");

  const second = await sidecar.execute("second", { models: await sidecar.script("second", ask("no.txt")), intent: "run_command" });
  await page.goto(`${sidecar.url}/#task=${second}`);
  await allow.waitFor();
  await page.getByRole("radio", { name: "for this task" }).waitFor();
  await page.keyboard.press("2");
  assert.ok(await page.getByRole("radio", { name: "for this task" }).isChecked());
  await page.keyboard.press("d");
  await conversation.getByText(/^Denied/).waitFor();
  await reaches("completed");
  await assert.rejects(sidecar.read("no.txt"));
}
