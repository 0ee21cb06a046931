import assert from "node:assert/strict";
import { panel } from "../browser.mjs";

const long = Array.from({ length: 120 }, (_, place) => `Line ${place}.`).join("\n\n");

/** Steers a running task; the conversation follows the end until you scroll up. */
export default async function ({ sidecar, page }) {
  const { task, send, conversation, reaches, cancel } = panel(page);
  const models = await sidecar.script("talk", [
    { text: "First I look.", calls: [{ tool: "list_dir", args: {} }] },
    { text: long, deltaMs: 12, calls: [{ tool: "run_command", args: { command: "sleep 1" } }] },
    { text: "I have heard you." },
  ]);
  const id = await sidecar.execute("talk to me", { models, intent: "edit_code", agentType: "coder", approvals: "auto", verify: "off" });
  await page.goto(await sidecar.signInUrl());
  await conversation.getByText("Line 40.").waitFor();
  const fromEnd = () => conversation.evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight);
  assert.ok((await fromEnd()) < 80, "it follows the end");
  assert.equal(await cancel.count(), 1);
  await conversation.hover();
  await page.mouse.wheel(0, -600);
  await page.getByRole("button", { name: "Latest" }).waitFor();
  const before = await conversation.evaluate((box) => box.scrollTop);
  await conversation.getByText("Line 60.").waitFor({ state: "attached" });
  assert.ok(Math.abs((await conversation.evaluate((box) => box.scrollTop)) - before) < 5, "the view moved while you read");
  await page.getByRole("button", { name: "Latest" }).click();
  assert.ok((await fromEnd()) < 80);

  await task.fill("be brief, please");
  await send.click();
  await conversation.getByText("be brief, please").waitFor();
  await reaches("completed");
  await conversation.getByText("I have heard you.").last().waitFor();
  assert.equal(await conversation.getByText("be brief, please").count(), 1);
  assert.match(await page.title(), /^completed: talk to me/);
  const { events } = await sidecar.call("GET", `/api/brain/tasks/${id}/events`);
  assert.equal(events.filter((event) => event.type === "message" && event.role === "user").length, 2);
}
