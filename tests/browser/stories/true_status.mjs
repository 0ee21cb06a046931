import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { panel } from "../browser.mjs";
import { cannedStream } from "../canned.mjs";

/** What the panel says about a task is so: thinking, errors with what fixes them, costs, and Esc stops a run. */
export default async function ({ sidecar, browser, page }) {
  const { task, conversation, reaches, cancel } = panel(page);
  // Esc stops a run, wherever the focus is, but not while it closes something.
  const models = await sidecar.script("slow", [{ thinking: "Hm. ".repeat(40), text: "Words. ".repeat(200), deltaMs: 40 }]);
  const id = await sidecar.execute("write a lot", { models, intent: "chat" });
  await page.goto(await sidecar.signInUrl());
  await page.evaluate((hash) => {
    window.location.hash = hash;
  }, `#task=${id}`);
  await conversation.locator("[data-message=growing]").waitFor();
  await page.keyboard.press("Control+k");
  await panel(page).palette.waitFor();
  await page.keyboard.press("Escape");
  await panel(page).palette.waitFor({ state: "detached" });
  await page.getByRole("searchbox", { name: "Search tasks" }).fill("lot");
  await page.keyboard.press("Escape");
  assert.equal(await cancel.count(), 1, "closing the palette, or emptying a field, stopped the task");
  await task.focus();
  await page.keyboard.press("Escape");
  await reaches("cancelled");
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("aria-label")), "Task");
  // The focus never falls to the page: the focused button goes with its task.
  await page.getByRole("button", { name: "Resume" }).focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement !== document.body);
  await cancel.click();
  await reaches("cancelled");
  await page.waitForFunction(() => document.activeElement !== document.body);

  // A dead sidecar is shown at once, in one place.
  const { page: other } = await browser.window();
  const { emit } = await cannedStream(other);
  await other.goto(await sidecar.signInUrl());
  await panel(other).task.waitFor();
  await other.evaluate((hash) => {
    window.location.hash = hash;
  }, `#task=${id}`);
  await emit({ type: "status", status: "queued" }, { type: "status", status: "running" }, { type: "step", step: 1, total: 1, message: "Answers.", agent: "coder", state: "started" });
  await emit({ type: "delta", messageId: "m", role: "assistant", agent: "coder", kind: "thinking", text: "Well…" });
  await other.getByText("coder is thinking…").waitFor();
  await other.getByRole("button", { name: /^Thinking…/ }).waitFor();
  await emit({ type: "delta", messageId: "m", role: "assistant", agent: "coder", kind: "text", text: "So" });
  await other.getByText("coder is writing…").waitFor();
  await emit({ type: "usage", inputTokens: 1_000, outputTokens: 200, cachedTokens: 0, costUsd: 0.5 });
  await other.getByText("$0.50").waitFor();
  // An error has the button that fixes it.
  await emit({ type: "error", code: "bad_key", message: "Anthropic rejected the key.", recoverable: true }, { type: "status", status: "failed" });
  await panel(other).conversation.getByRole("button", { name: "Change key" }).click();
  await other.getByRole("dialog", { name: "Settings" }).getByRole("tab", { name: "Models and keys", selected: true }).waitFor();
  await other.keyboard.press("Escape");

  await sidecar.kill();
  await page.getByRole("alert").filter({ hasText: "does not answer" }).waitFor({ timeout: 10_000 });
  assert.equal(await page.getByRole("alert").count(), 1);
  await sidecar.start();
  await page.getByRole("alert").waitFor({ state: "detached", timeout: 30_000 });
  // At 320 px nothing is wider than the window.
  await page.setViewportSize({ width: 320, height: 640 });
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 320);
  // A toast takes room of its own and covers no control.
  await task.fill("/cancel");
  await task.press("Enter");
  const toast = await page.getByRole("region", { name: "Messages" }).getByText("Nothing to cancel").boundingBox();
  const composer = await task.boundingBox();
  assert.ok(toast.y + toast.height <= composer.y, "the message covers the composer");

  // A broken configuration file is said with the next task, and again after a reload.
  const config = join(sidecar.home, ".config/rainy-brain");
  await mkdir(config, { recursive: true });
  await writeFile(join(config, "config.toml"), "model_smart = \n");
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(`${sidecar.url}/#`);
  await page.getByRole("button", { name: "New task" }).first().click();
  await task.fill("list the files");
  await task.press("Enter");
  await page.getByRole("region", { name: "Messages" }).getByText(/config\.toml.*stay in force/).waitFor();
  await page.reload();
  await page.getByRole("status", { name: "Settings notice" }).getByText(/config\.toml/).waitFor();
}
