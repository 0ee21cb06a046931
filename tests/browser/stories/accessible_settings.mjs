import assert from "node:assert/strict";
import { axe, THEMES, wear } from "../axe.mjs";
import { panel } from "../browser.mjs";
import { canned } from "./event_notes.mjs";

/** Axe finds nothing on the settings pages, on an escalated task and in the rewind dialog; nothing overflows. */
export default async function ({ sidecar, page }) {
  const { task, allow, reaches, conversation } = panel(page);
  const check = await axe(page);
  const asks = await sidecar.script("asks", [{ calls: [{ tool: "run_command", args: { command: "touch made.txt" } }] }, { text: "ok" }]);
  const allowed = await sidecar.execute("make a file", { models: asks, intent: "run_command" });
  const gone = await sidecar.execute("list the files");
  await page.goto(await sidecar.signInUrl());
  await page.goto(`${sidecar.url}/#task=${allowed}`);
  await allow.waitFor();
  await page.getByText("in this workspace", { exact: true }).click();
  await allow.click();
  await reaches("completed");
  await page.route(`**/tasks/${gone}/stream`, (route) => route.fulfill({ body: canned(gone).join(""), contentType: "text/event-stream" }));
  await page.route(`**/tasks/${gone}/diff`, (route) => route.fulfill({ status: 404, json: { code: "not_found", title: "", detail: "", status: 404 } }));
  const fits = async (where) => assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)) <= 0, `${where} is wider than the window`);
  for (const theme of THEMES) {
    await wear(page, theme);
    await page.goto(`${sidecar.url}/#task=${gone}`);
    await page.reload();
    await reaches("escalated");
    await conversation.getByRole("form", { name: "What to do next" }).waitFor();
    await page.getByRole("heading", { level: 1 }).waitFor();
    await check(`${theme}: an escalated task`);
    await conversation.getByRole("button", { name: "Rewind to before this message" }).first().focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: /^Rewind to/ }).waitFor();
    await page.getByRole("radio", { name: /Fork into a new task/ }).check();
    await check(`${theme}: the rewind dialog`);
    await page.keyboard.press("Escape");
    for (const width of theme === "dark" ? [360, 1280] : [1280]) {
      await page.setViewportSize({ width, height: 740 });
      await page.keyboard.press("Control+,");
      for (const name of ["Models and keys", "Approvals", "MCP servers", "Health", "About"]) {
        await page.getByRole("tab", { name }).click();
        const shown = { "Models and keys": page.getByLabel("Key of Groq"), Approvals: page.getByRole("button", { name: /^Revoke/ }), "MCP servers": page.getByLabel("Command or address"), Health: page.getByRole("button", { name: "Trust this workspace" }), About: page.getByText("Journal") };
        await shown[name].first().waitFor();
        await check(`${theme}, ${width} px: ${name}`);
        await fits(`${name} at ${width} px`);
      }
      await page.keyboard.press("Escape");
    }
  }
  await task.waitFor();
}
