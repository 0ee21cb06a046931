import assert from "node:assert/strict";
import { panel } from "../browser.mjs";

export const files = { "notes.md": "TODO: everything\n" };

/** Everything works without a pointer. */
export default async function ({ sidecar, page }) {
  const { task, reaches, tool, conversation, palette } = panel(page);
  const active = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent?.trim());
  const tabTo = async (name) => {
    for (let tries = 0; tries < 60; tries += 1) {
      if ((await active())?.startsWith(name)) return;
      await page.keyboard.press("Tab");
    }
    assert.fail(`Tab does not reach ${name}; the focus is on ${await active()}`);
  };
  await page.goto(await sidecar.signInUrl());
  await task.waitFor();
  assert.equal(await active(), "Task");
  await page.keyboard.type("search for TODO");
  await page.keyboard.press("Shift+Enter");
  assert.equal(await task.inputValue(), "search for TODO\n", "Shift and Enter make a new line");
  await page.keyboard.press("Backspace");
  await page.keyboard.press("Enter");
  await reaches("completed");
  assert.equal(await task.inputValue(), "");
  await page.keyboard.press("ArrowUp");
  assert.equal(await task.inputValue(), "search for TODO", "the arrow key recalls the last prompt");
  await page.keyboard.press("ArrowDown");

  await page.keyboard.press("Alt+l");
  assert.equal(await active(), "Conversation");
  await tabTo("Details");
  await page.keyboard.press("Enter");
  await tool("search_code").getByText("query").waitFor();

  const models = await sidecar.script("slow", [{ text: "Wait.", calls: [{ tool: "run_command", args: { command: "sleep 30" } }] }, { text: "Done." }]);
  const id = await sidecar.execute("wait a little", { models, intent: "run_command" });
  await page.keyboard.press("Control+k");
  await palette.waitFor();
  await page.keyboard.type("wait a litt");
  await palette.getByRole("option", { name: /wait a little/ }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Allow" }).waitFor();
  assert.equal(await active(), "Task", "the approval took the focus");
  await page.keyboard.press("Alt+a");
  assert.equal(await active(), "Approval");
  await tabTo("Allow");
  await page.keyboard.press("Enter");
  await reaches("running");
  await page.keyboard.press("Control+.");
  await reaches("cancelled");
  await conversation.getByText(/^Cancelled\./).waitFor();
  assert.equal((await sidecar.task(id)).status, "cancelled");

  await page.keyboard.press("Alt+n");
  await page.getByRole("list", { name: "Examples" }).waitFor();
  await page.keyboard.press("Control+b");
  await page.getByRole("navigation", { name: "Tasks" }).waitFor({ state: "detached" });
  await page.keyboard.press("Control+b");
  await page.keyboard.press("Control+,");
  await page.getByRole("dialog", { name: "Settings" }).waitFor();
  assert.equal(await active(), "General", "the first tab has the focus");
  await page.keyboard.press("Tab");
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "light");

  // Page by page with the arrow keys, with a fix on the Health page.
  await page.keyboard.press("Shift+Tab");
  for (const name of ["Models and keys", "Approvals", "MCP servers", "Health"]) {
    await page.keyboard.press("ArrowDown");
    await page.getByRole("tab", { name, selected: true }).waitFor();
    assert.equal(await active(), name);
  }
  await page.getByRole("button", { name: "Trust this workspace" }).waitFor();
  await tabTo("Trust this workspace");
  await page.keyboard.press("Enter");
  await page.getByRole("list", { name: "OK" }).getByText(/you trust/).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog", { name: "Settings" }).waitFor({ state: "detached" });

  // The changes hunk by hunk, then a fork from before a message.
  const edit = [{ text: "I write.", calls: [{ tool: "write_file", args: { path: "made.txt", content: "made\n" } }] }, { text: "Written." }];
  const made = await sidecar.execute("write a file", { models: await sidecar.script("edit", edit), intent: "edit_code", agentType: "coder", verify: "off" });
  await page.keyboard.press("Control+k");
  await palette.waitFor();
  await page.keyboard.type("write a fil");
  await palette.getByRole("option", { name: /write a file/ }).waitFor();
  await page.keyboard.press("Enter");
  await reaches("completed");
  await page.getByRole("button", { name: "Reject", exact: true }).waitFor();
  await page.keyboard.press("Alt+c");
  await page.keyboard.press("a");
  await page.getByRole("region", { name: "Changes" }).getByText("accepted").waitFor();
  await page.keyboard.press("Alt+l");
  await tabTo("Rewind to before this message");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Rewind to before this message?" });
  await dialog.waitFor();
  await tabTo("Close");
  await page.keyboard.press("Tab");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Tab");
  assert.equal(await active(), "What to do instead");
  await page.keyboard.type("search for TODO");
  await tabTo("Fork");
  await page.keyboard.press("Enter");
  await page.getByText("Forked from").waitFor();
  await page.waitForFunction((old) => !location.hash.includes(old), made);
}
