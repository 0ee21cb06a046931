import assert from "node:assert/strict";

export const files = { "greeting.py": 'def greet(name):\n    return f"hi {name}"\n' };

/** In the middle of a task the extension host is killed and the window reloads: the same task, every event once. */
export default async function (editor) {
  await editor.command("Rainy Brain: Open the Panel");
  let { task, allow, reaches } = await editor.panel();
  const models = await editor.script("killed", [
    { calls: [{ tool: "read_file", args: { path: "greeting.py" } }] },
    { calls: [{ tool: "run_command", args: { command: "touch one.txt" } }] },
    { calls: [{ tool: "write_file", args: { path: "two.txt", content: "2\n" } }] },
    { text: "Both are there." },
  ]);
  const id = await editor.execute("make two files", { models, intent: "edit_code", agentType: "coder", verify: "off" });
  await editor.statusBar.filter({ hasText: "1 waiting" }).waitFor();
  assert.equal(await editor.killExtensionHost(), 1);
  await editor.load();
  if ((await editor.page.locator("iframe.webview.ready").count()) === 0) await editor.command("Rainy Brain: Open the Panel");
  ({ task, allow, reaches } = await editor.panel());
  await allow.first().click();
  await reaches("completed");
  assert.equal((await editor.ended(id)).status, "completed");
  assert.equal(await editor.read("two.txt"), "2\n");
  const { events } = await editor.call("GET", `/api/brain/tasks/${id}/events`);
  const seqs = events.map(({ seq }) => seq);
  assert.deepEqual(seqs, [...new Set(seqs)].sort((one, other) => one - other));
  const frame = editor.page.frameLocator("iframe.webview.ready").frameLocator("iframe#active-frame");
  for (const tool of ["read_file", "run_command", "write_file"])
    assert.equal(await frame.getByRole("article", { name: tool, exact: true }).count(), 1, `${tool} is shown once`);
  assert.ok(await task.count());
}
