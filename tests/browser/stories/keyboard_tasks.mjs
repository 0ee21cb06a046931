import assert from "node:assert/strict";
import { panel } from "../browser.mjs";

export const files = { "notes.md": "TODO: everything\n" };

/** What the other stories do with the mouse, by keyboard: examples, the queue, editing a message, the history, pickers and the dashboard. */
export default async function ({ sidecar, page }) {
  const { task, reaches, conversation } = panel(page);
  const { keyboard } = page;
  const active = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent?.trim());
  const tabTo = async (name, key = "Tab") => {
    for (let tries = 0; tries < 90; tries += 1) {
      if ((await active())?.startsWith(name)) return;
      await keyboard.press(key);
    }
    assert.fail(`${key} does not reach ${name}; the focus is on ${await active()}`);
  };
  await page.goto(await sidecar.signInUrl());
  await task.waitFor();

  // An example of the first screen; then the approval mode of the next task.
  await page.getByRole("list", { name: "Examples" }).getByRole("button").first().waitFor();
  await tabTo("search for TODO", "Shift+Tab");
  await keyboard.press("Enter");
  await reaches("completed");
  assert.equal(await active(), "Task");
  await keyboard.press("Alt+n");
  await tabTo("Approvals: Edit");
  await keyboard.press("Enter");
  await page.getByRole("menu", { name: "Approvals" }).waitFor();
  await keyboard.press("ArrowUp");
  await keyboard.press("Enter");
  await page.getByRole("button", { name: "Approvals: Plan" }).waitFor();
  assert.match(await active(), /^Approvals: Plan/, "the menu lost the focus");

  // A queued message is edited and another removed, then a sent one is edited and sent again.
  const words = { text: "One more word. ".repeat(120), deltaMs: 30, calls: [{ tool: "list_dir", args: {} }] };
  const models = await sidecar.script("talks", [words, { text: "I heard you." }, { text: "Once more." }, { text: "And again." }]);
  const id = await sidecar.execute("talk to me", { models, intent: "edit_code", agentType: "coder", approvals: "auto", verify: "off" });
  await page.evaluate((hash) => {
    window.location.hash = hash;
  }, `#task=${id}`);
  await conversation.locator("[data-message=growing]").waitFor();
  await task.focus();
  const queue = page.getByRole("list", { name: "Queued messages" });
  for (const text of ["be brif", "never mind"]) {
    await keyboard.type(text);
    await keyboard.press("Enter");
    await queue.getByText(text).waitFor();
  }
  await tabTo("Remove the queued message", "Shift+Tab");
  await keyboard.press("Enter");
  await queue.getByText("never mind").waitFor({ state: "detached" });
  await page.waitForFunction(() => document.activeElement !== document.body);
  await tabTo("Edit the queued message", "Shift+Tab");
  await keyboard.press("Enter");
  assert.equal(await active(), "Task");
  assert.equal(await task.inputValue(), "be brif");
  await keyboard.press("Backspace");
  await keyboard.press("Backspace");
  await keyboard.type("ief");
  await keyboard.press("Enter");
  await reaches("completed", { timeout: 60_000 });
  await conversation.getByText("be brief", { exact: true }).waitFor();
  await keyboard.press("Alt+l");
  await tabTo("Edit this message");
  await keyboard.press("Enter");
  assert.equal(await active(), "Edited message");
  await keyboard.press("Control+a");
  await keyboard.type("talk about something else");
  await keyboard.press("Enter");
  await conversation.getByText("talk about something else", { exact: true }).waitFor();
  await reaches("completed", { timeout: 60_000 });

  // The history: find, rename, pin, archive and delete.
  const nav = page.getByRole("navigation", { name: "Tasks" });
  await tabTo("Search tasks", "Shift+Tab");
  await keyboard.type("TODO");
  await nav.getByText("talk to me").waitFor({ state: "detached" });
  await keyboard.press("Control+a");
  await keyboard.press("Backspace");
  await nav.getByText("talk to me").waitFor();
  const act = async (title, action) => {
    await task.focus();
    await tabTo(`Actions for ${title}`, "Shift+Tab");
    await keyboard.press("Enter");
    const item = page.getByRole("menuitem", { name: action });
    await item.waitFor();
    for (let tries = 0; tries < 6 && !(await item.evaluate((one) => one === document.activeElement)); tries += 1) await keyboard.press("ArrowDown");
    await keyboard.press("Enter");
  };
  await act("talk to me", "Rename");
  await nav.getByRole("textbox", { name: "Title" }).waitFor();
  await keyboard.press("Control+a");
  await keyboard.type("A talk");
  await keyboard.press("Enter");
  await nav.getByText("A talk").waitFor();
  await act("A talk", "Pin");
  await nav.getByRole("region", { name: "Pinned" }).getByText("A talk").waitFor();
  await act("A talk", "Archive");
  await nav.getByText("A talk").waitFor({ state: "detached" });
  await tabTo("Archived", "Shift+Tab");
  await keyboard.press("Enter");
  await nav.getByText("A talk").waitFor();
  await act("A talk", "Delete");
  await page.getByRole("region", { name: "Messages" }).getByRole("button", { name: "Delete" }).waitFor();
  await task.focus();
  await tabTo("Delete", "Shift+Tab");
  await keyboard.press("Enter");
  await nav.getByText("A talk").waitFor({ state: "detached" });
  await assert.rejects(sidecar.task(id));

  // The dashboard, from the palette; a task in it opens with Enter.
  await keyboard.press("Control+k");
  await panel(page).palette.waitFor();
  await keyboard.type("dashboard");
  await keyboard.press("Enter");
  const dashboard = page.getByRole("dialog", { name: "Dashboard" });
  await dashboard.getByText(/slots in use/).waitFor();
  await keyboard.press("Escape");
  await dashboard.waitFor({ state: "detached" });
  await page.waitForFunction(() => document.activeElement !== document.body);
}
