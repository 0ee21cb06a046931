import assert from "node:assert/strict";
import { panel } from "../browser.mjs";
import { longTask } from "../long_task.mjs";

/** A task with ten thousand events opens and scrolls like any other. */
export default async function ({ sidecar, page }) {
  const { conversation, reaches, tool, task } = panel(page);
  const { id, lastSeq } = await longTask(sidecar);
  assert.ok(lastSeq >= 10_000, `${lastSeq} events`);
  await page.goto(await sidecar.signInUrl());
  await task.waitFor();
  await page.goto(`${sidecar.url}/#task=${id}`);
  await reaches("completed");
  await conversation.getByText("That was all.").waitFor();
  const drawn = await tool("read_file").count();
  assert.ok(drawn > 50 && drawn < 400, `${drawn} cards are drawn`);
  await page.getByRole("button", { name: "Show earlier events" }).click();
  assert.ok((await tool("read_file").count()) > drawn);
}
