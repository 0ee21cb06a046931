import assert from "node:assert/strict";

const lines = (from, to) => Array.from({ length: to - from }, (_, index) => `line_${from + index} = ${from + index}\n`).join("");
export const files = { "numbers.py": lines(0, 20) };

/** An unsaved buffer is what the agent reads and builds on; the diff editor accepts one hunk and rejects the other. */
export default async function (editor) {
  await editor.command("Rainy Brain: Open the Panel");
  await editor.panel();
  await editor.openFile("numbers.py");
  await editor.page.locator(".editor-instance .view-lines").first().click();
  await editor.page.keyboard.press("Control+End");
  await editor.page.keyboard.type("typed = 1");
  await editor.page.locator(".tab.active.dirty").waitFor();
  await editor.until("the editor reports diagnostics and buffers", async () => {
    const { shells } = await editor.call("GET", "/api/brain/status");
    return shells.some(({ connected, workspace }) => connected && workspace === editor.workspace);
  });

  const models = await editor.script("edit", [
    { calls: [{ tool: "read_file", args: { path: "numbers.py" } }] },
    {
      calls: [
        {
          tool: "multi_edit",
          args: { path: "numbers.py", edits: [{ oldText: "line_1 = 1\n", newText: "first = 1\n" }, { oldText: "line_18 = 18\n", newText: "second = 18\n" }] },
        },
      ],
    },
    { text: "Done." },
  ]);
  const id = await editor.execute("change two lines", { models, intent: "edit_code", agentType: "coder", verify: "off" });
  assert.equal((await editor.ended(id)).status, "completed");
  const { events } = await editor.call("GET", `/api/brain/tasks/${id}/events`);
  const read = events.find(({ type, tool, status }) => type === "tool" && tool === "read_file" && status === "success");
  assert.equal(read.executor, "shell");
  const edited = lines(0, 1) + "first = 1\n" + lines(2, 18) + "second = 18\n" + lines(19, 20) + "typed = 1";
  assert.equal((await editor.read("numbers.py")).trimEnd(), edited, "an unsaved line was lost, or an edit");

  await editor.command("Rainy Brain: Review Changes");
  const rejects = editor.page.locator(".codelens-decoration a", { hasText: "Reject" });
  const accepts = editor.page.locator(".codelens-decoration a", { hasText: "Accept" });
  await rejects.nth(1).waitFor();
  await rejects.nth(1).click();
  const rejected = edited.replace("second = 18", "line_18 = 18");
  await editor.until("the rejected hunk is undone", async () => (await editor.read("numbers.py")).trimEnd() === rejected);
  await accepts.first().click();
  await editor.until("the other hunk is accepted", async () => {
    const { files: changed } = await editor.call("GET", `/api/brain/tasks/${id}/diff`);
    return !changed.some(({ hunks }) => hunks.some(({ state }) => state === "pending"));
  });
  assert.equal((await editor.read("numbers.py")).trimEnd(), rejected);
}
