import assert from "node:assert/strict";
import { panel } from "../browser.mjs";

export const files = { "notes.md": "TODO: everything\n" };

/** Once through everything without a pointer. */
export default async function ({ sidecar, page }) {
  const { task, reaches, tool, conversation, palette } = panel(page);
  const active = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent?.trim());
  const tabTo = async (name) => {
    for (let tries = 0; tries < 60; tries += 1) {
      if ((await active())?.startsWith(name)) return;
      await page.keyboard.press("Tab");
    }
    assert.fail(`the Tab key does not come to ${name}; it is at ${await active()}`);
  };
  await page.goto(await sidecar.door());
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
  assert.equal(await task.inputValue(), "search for TODO", "the arrow brings back what was asked");
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
  await page.waitForFunction(() => document.activeElement?.getAttribute("aria-label") === "Approval");
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
  await tabTo("As the system").catch(() => {});
  await page.getByRole("radio", { name: "As the system" }).focus();
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "light");
  await page.keyboard.press("Escape");
}
