import assert from "node:assert/strict";
import { panel } from "../browser.mjs";

const lines = (change = {}) => `${Array.from({ length: 30 }, (_, place) => change[place] ?? `line ${place}`).join("\n")}\n`;

export const files = { "long.txt": lines() };

/** Rejecting a hunk undoes it in the file; a rewind restores the file, and can be undone. */
export default async function ({ sidecar, page }) {
  const { changes, conversation, reaches } = panel(page);
  const edit = (from, to) => ({ calls: [{ tool: "edit_file", args: { path: "long.txt", oldText: from, newText: to } }] });
  const read = { calls: [{ tool: "read_file", args: { path: "long.txt" } }] };
  const models = await sidecar.script("edits", [read, edit("line 2\n", "line TWO\n"), edit("line 27\n", "line LATE\n"), { text: "Both are done." }]);
  const id = await sidecar.execute("change two lines", { models, intent: "edit_code", agentType: "coder" });
  await page.goto(await sidecar.signInUrl());
  await page.goto(`${sidecar.url}/#task=${id}`);
  await reaches("completed");

  const eventually = async (wanted) => {
    for (let tries = 0; (await sidecar.read("long.txt")) !== wanted; tries += 1) {
      assert.ok(tries < 50, `unexpected content:\n${await sidecar.read("long.txt")}`);
      await page.waitForTimeout(100);
    }
  };
  await changes.getByRole("button", { name: "Reject", exact: true }).nth(1).waitFor();
  await changes.getByRole("button", { name: "Accept", exact: true }).first().click();
  await changes.getByText("accepted").waitFor();
  await changes.getByRole("button", { name: "Reject", exact: true }).click();
  await eventually(lines({ 2: "line TWO" }));
  await conversation.getByText("I rejected these changes").waitFor();

  await changes.getByRole("button", { name: "Rewind" }).first().click();
  const dialog = page.getByRole("dialog", { name: /^Rewind to before the first change/ });
  await dialog.getByText("long.txt").waitFor();
  await dialog.getByRole("button", { name: "Rewind", exact: true }).click();
  await eventually(lines());
  await conversation.getByText("Rewound to an earlier checkpoint").waitFor();
  assert.equal(await conversation.locator("[data-undone]").getByText("Both are done.").count(), 1, "it is not marked as rewound");
  await page.getByRole("button", { name: "Undo", exact: true }).click();
  await eventually(lines({ 2: "line TWO" }));
  await conversation.locator("[data-undone]").getByText("Both are done.").waitFor({ state: "detached" });
}
