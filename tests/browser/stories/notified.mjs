import assert from "node:assert/strict";
import { panel } from "../browser.mjs";

/** A task that waits or ends while the page is hidden shows a notification; a click on it opens the task. */
export default async function ({ sidecar, page, context }) {
  await context.grantPermissions(["notifications"], { origin: sidecar.url });
  // Records notifications, and makes the page's visibility scriptable.
  await page.addInitScript(() => {
    window.shown = [];
    const Real = window.Notification;
    window.Notification = class extends Real {
      constructor(title, options) {
        super(title, options);
        window.shown.push({ title, tag: options.tag, note: this });
      }
    };
    let hidden = false;
    Object.defineProperty(document, "visibilityState", { get: () => (hidden ? "hidden" : "visible") });
    window.hide = (wanted) => {
      hidden = wanted;
      document.dispatchEvent(new Event("visibilitychange"));
    };
  });
  const { task, allow, reaches } = panel(page);
  const asks = await sidecar.script("asks", [{ calls: [{ tool: "run_command", args: { command: "touch made.txt" } }] }, { text: "It is made." }]);
  await page.goto(await sidecar.signInUrl());
  await task.waitFor();
  await page.keyboard.press("Control+,");
  const option = { name: /while this window is in the background/ };
  await page.getByRole("checkbox", option).click();
  await page.getByRole("checkbox", { ...option, checked: true }).waitFor();
  await page.keyboard.press("Escape");
  const titles = () => page.evaluate(() => window.shown.map(({ title }) => title));
  const says = (text) => page.waitForFunction((wanted) => window.shown.some(({ title }) => title === wanted), text);

  const id = await sidecar.execute("make a file", { models: asks, intent: "run_command" });
  await page.goto(`${sidecar.url}/#task=${id}`);
  await allow.waitFor();
  assert.deepEqual(await titles(), [], "a visible page showed a notification");
  await page.evaluate(() => window.hide(true));
  const other = await sidecar.execute("make another file", { models: await sidecar.script("other", [{ text: "First.", calls: [{ tool: "run_command", args: { command: "touch other.txt" } }] }, { text: "Done." }]), intent: "run_command" });
  await says("Waiting for you: make another file");
  await sidecar.call("POST", `/api/brain/tasks/${id}/approvals/${await question(sidecar, id)}`, { decision: "allow" });
  await says("Done: make a file");
  await page.evaluate(() => window.hide(false));
  await page.evaluate((tag) => window.shown.find((one) => one.tag === tag).note.onclick(), other);
  await allow.waitFor();
  assert.equal(new URL(page.url()).hash, `#task=${other}`);
  await allow.click();
  await reaches("completed");
  assert.ok(!(await titles()).includes("Done: make another file"), "a visible page showed a notification");
}

async function question(sidecar, id) {
  const { events } = await sidecar.call("GET", `/api/brain/tasks/${id}/events`);
  return events.findLast((event) => event.type === "approval").approvalId;
}
