import assert from "node:assert/strict";
import { panel } from "../browser.mjs";

const ROUNDS = 3;
const TEXT = "yes and a day: any dad may say yay 123 ";

/** You type while approvals arrive: every key lands in the composer, and none of them answers. */
export default async function ({ sidecar, page }) {
  const { task, allow, deny, reaches } = panel(page);
  const call = (place) => ({ delayMs: 700, calls: [{ tool: "run_command", args: { command: ["touch", `made${place}.txt`] } }] });
  await page.goto(await sidecar.signInUrl());
  await task.waitFor();
  for (let round = 0; round < ROUNDS; round += 1) {
    const models = await sidecar.script(`asks${round}`, [call(round), { text: "Done." }]);
    const id = await sidecar.execute(`ask ${round}`, { models, intent: "run_command" });
    await page.goto(`${sidecar.url}/#task=${id}`);
    await task.fill("");
    let typed = "";
    const approvals = async () => (await sidecar.call("GET", `/api/brain/tasks/${id}/events`)).events.filter((event) => event.type === "approval");
    // Types until well after the card is there, and reads the focus at every key.
    for (let after = 0; after < 30; after += (await allow.count()) > 0 ? 1 : 0) {
      const key = TEXT[typed.length % TEXT.length];
      await page.keyboard.press(key === " " ? "Space" : key);
      typed += key;
      assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("aria-label")), "Task");
      assert.ok(typed.length < 2_000, "the approval did not arrive");
    }
    assert.equal(await task.inputValue(), typed);
    assert.deepEqual((await approvals()).map(({ state }) => state), ["requested"], "a key answered the approval");
    await reaches("waiting");
    await deny.click();
    await reaches("completed");
    await assert.rejects(sidecar.read(`made${round}.txt`));
  }
}
