import assert from "node:assert/strict";
import { panel } from "../browser.mjs";

export const files = { "note.txt": "zero\n" };

const write = (text) => ({ calls: [{ tool: "write_file", args: { path: "note.txt", content: `${text}\n` } }] });

/** Rewinds only the files to before a message, undoes that, and forks a new task from there. */
export default async function ({ sidecar, page }) {
  const { conversation, reaches } = panel(page);
  const models = await sidecar.script("two", [{ text: "First one.", ...write("one") }, { text: "Then two.", ...write("two") }, { text: "Both are written." }]);
  const id = await sidecar.execute("write one, then two", { models, intent: "edit_code", agentType: "coder", verify: "off" });
  await page.goto(await sidecar.signInUrl());
  await page.goto(`${sidecar.url}/#task=${id}`);
  await reaches("completed");
  const eventually = async (wanted) => {
    for (let tries = 0; (await sidecar.read("note.txt")) !== wanted; tries += 1) {
      assert.ok(tries < 50, `unexpected content:\n${await sidecar.read("note.txt")}`);
      await page.waitForTimeout(100);
    }
  };
  const message = (text) => conversation.locator("[data-message]").filter({ hasText: text });
  const back = message("Then two.").getByRole("button", { name: "Rewind to before this message" });
  await back.focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Rewind to before this message?" });
  await dialog.getByText("note.txt").waitFor();
  await dialog.getByRole("radio", { name: /Files only/ }).check();
  await dialog.getByRole("button", { name: "Rewind", exact: true }).click();
  await eventually("one\n");
  await dialog.waitFor({ state: "detached" });
  assert.equal(await conversation.locator("[data-undone]").count(), 0, "the conversation was rewound too");
  await page.getByRole("button", { name: "Undo", exact: true }).click();
  await eventually("two\n");

  await sidecar.script("two", [{ text: "First one.", ...write("one") }, { text: "I leave it at that." }]);
  await back.focus();
  await page.keyboard.press("Enter");
  await dialog.getByRole("radio", { name: /Fork into a new task/ }).check();
  await dialog.getByRole("textbox", { name: "What to do instead" }).fill("write nothing more");
  await dialog.getByRole("button", { name: "Fork", exact: true }).click();
  await page.getByText("Forked from").waitFor();
  await reaches("completed");
  await conversation.getByText("write nothing more").waitFor();
  await conversation.getByText("I leave it at that.").waitFor();
  await eventually("one\n");
  const forked = new URL(page.url()).hash.replace("#task=", "");
  assert.notEqual(forked, id);
  assert.equal((await sidecar.task(forked)).forkedFrom.taskId, id);
  await page.getByRole("link", { name: "another task" }).click();
  await conversation.getByText("Both are written.").waitFor();
}
