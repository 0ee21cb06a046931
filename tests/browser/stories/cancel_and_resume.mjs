import assert from "node:assert/strict";
import { panel } from "../browser.mjs";

/** Cancelled during a command and resumed: finished calls are not repeated. */
export default async function ({ sidecar, page }) {
  const { task, cancel, resume, conversation, tool, reaches, status } = panel(page);
  const models = await sidecar.script("slow", [
    { text: "First a note.", calls: [{ tool: "write_file", args: { path: "note.txt", content: "once\n" } }] },
    { text: "Then the long part.", calls: [{ tool: "run_command", args: { command: "echo begun; sleep 60" } }] },
    { text: "All done." },
  ]);
  const id = await sidecar.execute("do something long", { models, intent: "edit_code", agentType: "coder", approvals: "auto" });
  await page.goto(await sidecar.signInUrl());
  await tool("run_command").getByText("begun", { exact: true }).waitFor();
  await cancel.click();
  await reaches("cancelled");
  await conversation.getByText(/^Cancelled\./).waitFor();
  await conversation.getByText(/^write_file: /).waitFor();
  assert.equal(await cancel.count(), 0);

  await resume.click();
  await status.getByText(/queued|running|waiting|completed/).waitFor();
  await page.waitForFunction(() => /running|completed/.test(document.querySelector("[role=status]")?.textContent ?? ""));
  assert.equal(await tool("write_file").count(), 1, "the note was written once");
  const { events } = await sidecar.call("GET", `/api/brain/tasks/${id}/events?limit=500`);
  assert.equal(events.filter((event) => event.type === "tool" && event.tool === "write_file" && event.status === "success").length, 1);
  // It repeats the stopped command or has completed; end it either way.
  await sidecar.call("POST", `/api/brain/tasks/${id}/cancel`).catch(() => {});
  await status.getByText(/cancelled|completed/).waitFor();
  await task.waitFor();
}
