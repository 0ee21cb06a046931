import assert from "node:assert/strict";
import { panel } from "../browser.mjs";

export const files = { "notes.md": "# Notes\n" };

const PIXEL = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

/** Everything about a task stays in its conversation: attachments, edited messages, queued messages and drafts. */
export default async function ({ sidecar, page }) {
  const { task, send, conversation, reaches } = panel(page);
  const edit = (to) => ({ calls: [{ tool: "write_file", args: { path: "notes.md", content: `# ${to}\n` } }] });
  // A round begins where the rounds before it left the script: each counts as one reply.
  const models = await sidecar.script("talks", [
    edit("First"),
    { text: "The answer." },
    { text: "More of it. ".repeat(70), deltaMs: 25, calls: [{ tool: "run_command", args: { command: "sleep 2" } }] },
    { text: "I heard you." },
  ]);
  const id = await sidecar.execute("write the notes", { models, intent: "edit_code", agentType: "coder", approvals: "auto", verify: "off" });
  const messages = async (role) => (await sidecar.call("GET", `/api/brain/tasks/${id}/events`)).events.filter((event) => event.type === "message" && event.role === role).map(({ text }) => text);
  await page.goto(await sidecar.signInUrl());
  await page.evaluate((hash) => {
    window.location.hash = hash;
  }, `#task=${id}`);
  await reaches("completed");

  // A follow-up with a picture stays in the task; the picture is a thumbnail, before and after.
  await page.locator("input[type=file]").setInputFiles([{ name: "dot.png", mimeType: "image/png", buffer: PIXEL }, { name: "log.txt", mimeType: "text/plain", buffer: Buffer.from("all is well") }]);
  await page.getByRole("img", { name: "dot.png" }).waitFor();
  await task.fill("what is in the picture?");
  await send.click();
  await conversation.getByText("The answer.").nth(1).waitFor();
  await conversation.getByRole("img", { name: "dot.png" }).waitFor();
  await conversation.getByText("log.txt").waitFor();
  assert.equal(new URL(page.url()).hash, `#task=${id}`);
  assert.equal((await sidecar.call("GET", "/api/brain/tasks")).tasks.length, 1, "the follow-up started another task");
  await page.reload();
  await conversation.getByRole("img", { name: "dot.png" }).waitFor();

  // Messages to a task that writes wait above the composer: they can be edited and removed, and go when it can hear them.
  await task.fill("tell me more");
  await send.click();
  await conversation.locator("[data-message=growing]").waitFor();
  const queue = page.getByRole("list", { name: "Queued messages" });
  for (const text of ["be brif", "never mind"]) {
    await task.fill(text);
    await task.press("Enter");
    await queue.getByText(text).waitFor();
  }
  await queue.getByRole("listitem").filter({ hasText: "never mind" }).getByRole("button", { name: "Remove the queued message" }).click();
  await queue.getByRole("button", { name: "Edit the queued message" }).click();
  assert.equal(await task.inputValue(), "be brif");
  await task.fill("be brief");
  await task.press("Enter");
  await queue.getByText("be brief").waitFor();
  await conversation.getByText("be brief", { exact: true }).waitFor();
  await queue.waitFor({ state: "detached" });
  await conversation.getByText("I heard you.").waitFor();
  await reaches("completed");
  assert.deepEqual((await messages("user")).slice(1), ["what is in the picture?", "tell me more", "be brief"]);

  // Drafts belong to their task.
  await task.fill("half a thought");
  await page.getByRole("button", { name: "New task" }).first().click();
  assert.equal(await task.inputValue(), "");
  await page.goBack();
  assert.equal(await task.inputValue(), "half a thought");
  await task.fill("");

  // Editing a message in place takes back what followed, files too; Esc keeps everything.
  const first = conversation.getByText("what is in the picture?", { exact: true });
  await first.hover();
  await conversation.getByRole("button", { name: "Edit this message" }).nth(1).click();
  const edited = conversation.getByRole("textbox", { name: "Edited message" });
  assert.equal(await edited.inputValue(), "what is in the picture?");
  await edited.fill("something else");
  await page.keyboard.press("Escape");
  await edited.waitFor({ state: "detached" });
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("aria-label")), "Task");
  await conversation.getByText("what is in the picture?", { exact: true }).waitFor();
  await first.hover();
  await conversation.getByRole("button", { name: "Edit this message" }).nth(1).click();
  await edited.fill("look again");
  await edited.press("Enter");
  const asked = async (...texts) => {
    for (let tries = 0; (await messages("user")).slice(-texts.length).join() !== texts.join() && tries < 200; tries += 1) await page.waitForTimeout(100);
    assert.deepEqual((await messages("user")).slice(-texts.length), texts);
    await reaches("completed");
  };
  await asked("look again");
  assert.equal(await conversation.locator("[data-undone]").getByText("I heard you.").count(), 1);

  // Answer again.
  await conversation.getByRole("button", { name: "Answer again" }).focus();
  await page.keyboard.press("Enter");
  await asked("look again", "look again");
  if (process.env.BRAIN_SHOW) await page.screenshot({ path: `${process.env.BRAIN_SHOW}/thread.png` });
}
