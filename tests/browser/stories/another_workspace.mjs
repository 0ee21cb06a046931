import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { panel } from "../browser.mjs";

export const files = { "here.py": "def here():\n    pass\n" };

/** A task in another workspace shows that workspace, and its follow-ups run there too. */
export default async function ({ sidecar, page }) {
  const { task, reaches } = panel(page);
  const elsewhere = await mkdtemp(join(tmpdir(), "brain-elsewhere-"));
  try {
    await writeFile(join(elsewhere, "there.py"), "def far_away():\n    pass\n");
    const body = { task: "explain far_away", context: { workspace: elsewhere } };
    const { taskId } = await sidecar.call("POST", "/api/brain/execute", body);
    await page.goto(await sidecar.signInUrl());
    await page.goto(`${sidecar.url}/#task=${taskId}`);
    await reaches("completed");
    await page.getByRole("navigation", { name: "Tasks" }).getByText(`${basename(elsewhere)} · completed`).waitFor();

    await task.pressSequentially("see @here");
    await page.getByRole("option", { name: "there.py" }).first().waitFor();
    assert.equal(await page.getByRole("option", { name: "here.py", exact: true }).count(), 0);

    // A slash command continues the task, in its workspace.
    const { lastSeq } = await sidecar.task(taskId);
    await task.fill("/explain far_away");
    await task.press("Enter");
    const ended = async () => {
      const now = await sidecar.task(taskId);
      return now.lastSeq > lastSeq && now.status === "completed" && now;
    };
    for (let tries = 0; !(await ended()) && tries < 200; tries += 1) await page.waitForTimeout(100);
    assert.match((await ended()).result.summary, /there\.py/);
    assert.equal(new URL(page.url()).hash, `#task=${taskId}`);
  } finally {
    await rm(elsewhere, { recursive: true, force: true });
  }
}
