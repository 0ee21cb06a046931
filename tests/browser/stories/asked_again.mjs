import assert from "node:assert/strict";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { panel } from "../browser.mjs";

/** A script that changed while its question was open is asked about again, with the difference in plain words. */
export default async function ({ sidecar, page }) {
  const { task, allow, deny, reaches } = panel(page);
  const script = join(sidecar.workspace, "swapped.sh");
  await writeFile(script, "echo good\n");
  const calls = [{ tool: "run_command", args: { command: "sh swapped.sh" } }];
  const models = await sidecar.script("asked_again", [{ calls }, { text: "Done." }]);
  const id = await sidecar.execute("look around", { models, intent: "run_command" });
  await page.goto(await sidecar.signInUrl());
  await task.waitFor();
  await page.goto(`${sidecar.url}/#task=${id}`);
  await allow.waitFor();
  assert.equal(await page.getByText("Changed since you last allowed this, or were asked:").count(), 0);
  await writeFile(script, "echo evil\n");
  await allow.click();
  await page.getByText("Changed since you last allowed this, or were asked:").waitFor();
  await page.getByText("swapped.sh changed since").waitFor();
  await page.getByText("evil", { exact: true }).first().waitFor();
  assert.ok(await page.getByText("Run this command?", { exact: true }).isVisible(), "it is no question about an edit");
  await deny.click();
  await reaches("completed");
  await rm(script);
}
