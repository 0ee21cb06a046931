import assert from "node:assert/strict";

export const files = { "greeting.py": 'def greet(name):\n    return f"hi {name}"\n' };

/** First run: opening the panel starts the sidecar; a task, an approval, and nothing takes the focus. */
export default async function (editor) {
  await editor.command("Rainy Brain: Open the Panel");
  const { task, send, allow, reaches } = await editor.panel();
  await task.fill("run the command touch made.txt");
  await send.click();
  await allow.first().waitFor();
  await allow.first().click();
  await reaches("completed");
  assert.equal(await editor.read("made.txt"), "");
  const [{ workspace }] = (await editor.call("GET", "/api/brain/tasks")).tasks;
  assert.equal(workspace, editor.workspace);
}
