import assert from "node:assert/strict";
import { panel } from "../browser.mjs";

const run = (command) => ({ calls: [{ tool: "run_command", args: { command } }] });

/** Answers several approvals at once; lists and revokes standing ones, which are then asked again. */
export default async function ({ sidecar, page }) {
  const { conversation, allow, reaches } = panel(page);
  const both = ["a", "b"].map((name) => ({ tool: "write_file", args: { path: `${name}/.env`, content: "A=1\n" } }));
  const several = await sidecar.script("several", [{ calls: both }, { text: "Both are there." }]);
  const first = await sidecar.execute("write two secrets files", { models: several, intent: "edit_code", agentType: "coder" });
  await page.goto(await sidecar.signInUrl());
  await page.goto(`${sidecar.url}/#task=${first}`);
  await page.getByRole("region", { name: "All approvals" }).getByText("2 approvals needed").waitFor();
  const question = page.getByRole("region", { name: "Approval", exact: true }).first();
  await question.getByText("Create this file?").waitFor();
  await question.getByText("a/.env", { exact: true }).waitFor();
  await question.getByText("A=1").waitFor();
  await page.getByRole("button", { name: "Allow all, once" }).click();
  await reaches("completed");
  assert.equal(await sidecar.read("a/.env"), "A=1\n");
  assert.equal(await sidecar.read("b/.env"), "A=1\n");

  // The same command twice with another in between: allowed for the task, revoked meanwhile, asked again.
  const models = await sidecar.script("again", [run("echo x >> log.txt"), run("touch between"), run("echo x >> log.txt"), { text: "Done." }]);
  const second = await sidecar.execute("log twice", { models, intent: "run_command" });
  await page.goto(`${sidecar.url}/#task=${second}`);
  await allow.waitFor();
  await page.getByText("for this task", { exact: true }).click();
  assert.ok(await page.getByRole("radio", { name: "for this task" }).isChecked());
  await allow.click();
  await conversation.getByText(/^Allowed for this task/).waitFor();
  await conversation.getByText("touch between").first().waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").fill("approvals");
  await page.getByRole("option", { name: /Settings: Approvals/ }).click();
  const allowed = page.getByRole("list", { name: "Allowed" });
  await allowed.getByText("for the task “log twice”").waitFor();
  await allowed.getByRole("button", { name: /^Revoke/ }).click();
  await page.getByText("None. Approvals").waitFor();
  await page.keyboard.press("Escape");
  await allow.click();
  await page.getByRole("region", { name: "Approval", exact: true }).getByText("echo x >> log.txt").waitFor();
  await page.getByText("in this workspace", { exact: true }).click();
  await allow.click();
  await reaches("completed");
  assert.equal(await sidecar.read("log.txt"), "x\nx\n");

  // For the workspace: listed and revoked.
  await page.keyboard.press("Control+,");
  await page.getByRole("tab", { name: "Approvals" }).click();
  await allowed.getByText(/^in shop/).waitFor();
  await allowed.getByRole("button", { name: /^Revoke/ }).click();
  await page.getByText("None. Approvals").waitFor();
  assert.deepEqual(await sidecar.call("GET", "/api/brain/approvals"), { approvals: [] });
}
