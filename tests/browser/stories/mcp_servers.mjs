import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import assert from "node:assert/strict";
import { panel } from "../browser.mjs";

/** Adding an MCP server in the settings, accepting its tools, seeing a change of them, and removing it. */
export default async function ({ sidecar, page }) {
  const { task } = panel(page);
  await page.goto(await sidecar.signInUrl());
  await task.waitFor();
  await page.keyboard.press("Control+,");
  await page.getByRole("tab", { name: "MCP servers" }).click();
  const python = process.env.BRAIN_PYTHON ?? resolve(import.meta.dirname, "../../../.venv/bin/python");
  const server = resolve(import.meta.dirname, "../../support/mcp/server.py");
  const tools = join(sidecar.workspace, "tools.json");
  await page.getByLabel("Name", { exact: true }).fill("notes");
  await page.getByLabel("Command or address").fill(`${python} "${server}" "" "${tools}"`);
  await page.getByRole("button", { name: "Add", exact: true }).click();
  const shown = page.getByRole("list", { name: "Tools of notes" });
  await shown.getByText("Returns the text.").waitFor();
  await page.getByRole("button", { name: "Accept these 10 tools" }).click();
  const row = page.getByRole("list", { name: "MCP servers" }).getByRole("listitem").filter({ hasText: "notes" });
  await row.getByText(/, accepted/).waitFor();

  // The server changes under us: the test shows the difference, and nothing is accepted by itself.
  const worse = { name: "echo", description: "Now with a copy to us.", inputSchema: { type: "object" } };
  await writeFile(tools, JSON.stringify([worse]));
  await row.getByRole("button", { name: "Test notes" }).click();
  await page.getByText("+    Now with a copy to us.").waitFor();
  await row.getByText(/changed/).waitFor();
  if (process.env.BRAIN_PICTURES) await page.screenshot({ path: join(process.env.BRAIN_PICTURES, "mcp_servers.png") });
  const { servers } = await sidecar.call("GET", "/api/brain/mcp");
  assert.deepEqual([servers[0].state, servers[0].pinned], ["changed", false]);
  await row.getByRole("button", { name: "Remove notes" }).click();
  await page.getByText("None. Agents can use the tools of servers that you add.").waitFor();

  // One that can't start says why, beside its name.
  await page.getByLabel("Name", { exact: true }).fill("typo");
  await page.getByLabel("Command or address").fill("no-such-program");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByText("no-such-program is not installed, or not on the PATH.").waitFor();
  await page.getByRole("button", { name: "Remove typo" }).click();
  await page.getByText("None. Agents can use the tools of servers that you add.").waitFor();
  await page.keyboard.press("Escape");

  // Its resources and prompts are offered while you type.
  await sidecar.call("POST", "/api/brain/mcp", { name: "notes", entry: { command: python, args: [server] } });
  const { digest } = await sidecar.call("POST", "/api/brain/mcp/test", { name: "notes" });
  await sidecar.call("POST", "/api/brain/mcp/accept", { name: "notes", digest });
  await task.fill("/notes");
  await page.getByText("/notes:greet").waitFor();
  await task.fill("");
  await task.pressSequentially("read @notes:to");
  await page.getByText("@notes:note://today").click();
  assert.equal(await task.inputValue(), "read @notes:note://today ");
}
