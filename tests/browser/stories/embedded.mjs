import assert from "node:assert/strict";
import { panel } from "../browser.mjs";

/** Embedded in a host page: it takes theme, context and text from the host, and sends back only what the host asks for. */
export default async function ({ sidecar, page }) {
  const door = await sidecar.signInUrl();
  const host = `<!doctype html><title>host</title><iframe id="panel" width="900" height="700"></iframe>`;
  await page.route("**/host.html", (route) => route.fulfill({ body: host, contentType: "text/html" }));
  await page.goto(`${sidecar.url}/host.html`);
  await page.evaluate((url) => {
    window.received = [];
    window.addEventListener("message", (event) => window.received.push(event.data));
    document.getElementById("panel").src = url;
  }, door);
  const frame = page.frameLocator("#panel");
  const { task, send } = panel(frame);
  await task.waitFor();
  await page.waitForFunction(() => window.received.some((message) => message.type === "rainy.ready"));
  const post = (message) => page.evaluate((one) => document.getElementById("panel").contentWindow.postMessage(one, "*"), message);
  await post({ type: "rainy.hello", offers: ["insert", "openFile"] });
  await post({ type: "rainy.theme", theme: "dark", variables: { "--accent": "rgb(255, 0, 128)", "--bg": "url(https://evil.example)" } });
  await post({ type: "rainy.compose", text: "list the files" });
  await post({ type: "rainy.commands", commands: [{ id: "format", title: "Format the document" }] });
  await post({ type: "rainy.execute", task: "rm -rf" });
  await page.waitForFunction(() => document.getElementById("panel").contentDocument.querySelector("textarea").value === "list the files");
  const look = await page.evaluate(() => {
    const root = document.getElementById("panel").contentDocument.documentElement;
    return { theme: root.dataset.theme, accent: root.style.getPropertyValue("--accent"), bg: root.style.getPropertyValue("--bg") };
  });
  assert.deepEqual(look, { theme: "dark", accent: "rgb(255, 0, 128)", bg: "" });
  assert.equal((await sidecar.call("GET", "/api/brain/tasks")).tasks.length, 0, "a message started a task");

  await task.press("Control+k");
  await frame.getByRole("combobox").fill("format");
  await frame.getByRole("option", { name: /Format the document/ }).waitFor();
  await frame.getByRole("combobox").press("Enter");
  await page.waitForFunction(() => window.received.some((message) => message.type === "rainy.command" && message.id === "format"));

  // The editor's context goes with the next task only.
  await post({ type: "rainy.context", context: { currentFile: "calc.py", selectedCode: "x = 1", openFiles: ["calc.py", "other.py"], token: "no" } });
  const sent = page.waitForRequest("**/api/brain/execute");
  await frame.getByRole("textbox", { name: "Task", exact: true }).press("Enter");
  const { context } = (await sent).postDataJSON();
  assert.deepEqual(context, { currentFile: "calc.py", selectedCode: "x = 1", openFiles: ["calc.py", "other.py"], attachments: [] });
  await page.waitForFunction(() => window.received.some((message) => message.type === "rainy.status" && message.status === "completed"));

  const models = await sidecar.script("code", [{ text: "Here:\n\n```python\nx = 1\n```" }]);
  const id = await sidecar.execute("some code", { models, intent: "chat" });
  await page.evaluate((one) => {
    document.getElementById("panel").contentWindow.location.hash = `#task=${one}`;
  }, id);
  await frame.getByRole("button", { name: "Insert at cursor" }).click();
  await page.waitForFunction(() => window.received.some((message) => message.type === "rainy.insert" && message.text === "x = 1"));
  assert.ok(await send.count());

  // “Open in editor” opens a changed file in the host.
  const edits = await sidecar.script("edits", [{ calls: [{ tool: "write_file", args: { path: "made.py", content: "x = 1\n" } }] }, { text: "Done." }]);
  const made = await sidecar.execute("make a file", { models: edits, intent: "edit_code", agentType: "coder" });
  await page.evaluate((one) => {
    document.getElementById("panel").contentWindow.location.hash = `#task=${one}`;
  }, made);
  await frame.getByRole("button", { name: "Open in editor" }).click();
  await page.waitForFunction(() => window.received.some((message) => message.type === "rainy.openFile" && message.path === "made.py"));
  assert.ok(!(await page.evaluate(() => JSON.stringify(window.received))).includes(sidecar.token), "the token left the panel");
}
