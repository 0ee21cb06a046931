import assert from "node:assert/strict";
import { panel } from "../browser.mjs";

const words = Array.from({ length: 60 }, (_, place) => `word${place}`).join(" ");

/** The sidecar is killed during a task and restarted: the panel reconnects, with no gap and no repeat. */
export default async function ({ sidecar, page }) {
  const { task, send, conversation, tool, reaches } = panel(page);
  const replies = (count) =>
    Array.from({ length: count }, (_, place) => ({
      text: `Part ${place}.`,
      delayMs: 250,
      calls: [{ tool: "write_file", args: { path: `part${place}.txt`, content: `${place}\n` } }],
    }));
  const models = await sidecar.script("parts", [...replies(8), { text: `The end. ${words}`, deltaMs: 5 }]);
  const id = await sidecar.execute("write eight parts", { models, intent: "edit_code", agentType: "coder", approvals: "auto" });
  await page.goto(await sidecar.signInUrl());
  await conversation.getByText("Part 2.").waitFor();
  await sidecar.kill("SIGKILL");
  await page.getByRole("alert").first().waitFor();
  await task.fill("typed while it was gone");
  await sidecar.start();
  await reaches("completed");

  for (let place = 0; place < 8; place += 1) assert.equal(await conversation.getByText(`Part ${place}.`, { exact: true }).count(), 1, `part ${place}`);
  assert.equal(await tool("write_file").count(), 8);
  assert.equal(await page.getByRole("alert").count(), 0);
  assert.equal(await task.inputValue(), "typed while it was gone");
  const { lastSeq } = await sidecar.task(id);
  const { events } = await sidecar.call("GET", `/api/brain/tasks/${id}/events?limit=500`);
  assert.equal(events.length, lastSeq);

  // The panel has the new token: a new task works.
  await page.getByRole("button", { name: "New task" }).click();
  await task.fill("list the files");
  await send.click();
  await reaches("completed");
}
