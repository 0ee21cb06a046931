import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { panel } from "../browser.mjs";

const command = "echo x >> begun.txt; while [ ! -e go ]; do sleep 0.05; done; echo done >> ended.txt";

/** Killed in the middle of a command: the panel asks whether it runs again, is skipped or looked at, and does just that. */
export default async function ({ sidecar, page }) {
  const { task, conversation, reaches } = panel(page);
  const question = page.getByRole("region", { name: "Question", exact: true });
  const choice = (name) => question.getByRole("button", { name, exact: true });
  const lines = async (name) => (await sidecar.read(name).catch(() => "")).split("\n").length - 1;
  const interrupt = async (times) => {
    while ((await lines("begun.txt")) < times) await page.waitForTimeout(20);
    await sidecar.kill("SIGKILL");
    await sidecar.start();
  };

  await page.goto(await sidecar.signInUrl());
  await task.fill(`run \`${command}\``);
  await task.press("Enter");
  await interrupt(1);
  await question.getByText(/may have run/).waitFor();
  await reaches("waiting");
  assert.deepEqual(await question.getByRole("button").allInnerTexts(), ["run again", "skip", "look"]);

  await choice("look").click();
  await question.getByText(/Files that changed[^]*begun\.txt/).waitFor();
  assert.equal(await question.count(), 1, "the answered question is closed");
  await choice("run again").click();
  await interrupt(2);
  await question.getByText(/may have run/).waitFor();
  await choice("skip").click();
  await reaches("completed");
  assert.deepEqual([await lines("begun.txt"), await lines("ended.txt")], [2, 0], "it ran once more, and was then skipped");
  assert.equal(await question.count(), 0);
  assert.equal(await conversation.getByText("skip", { exact: true }).count(), 1);

  // The choice to run it again, seen to its end.
  await page.getByRole("button", { name: "New task" }).click();
  await task.fill(`run \`${command}\``);
  await task.press("Enter");
  await interrupt(3);
  await question.waitFor();
  await writeFile(join(sidecar.workspace, "go"), "");
  await choice("run again").click();
  await reaches("completed");
  assert.deepEqual([await lines("begun.txt"), await lines("ended.txt")], [4, 1]);
}
