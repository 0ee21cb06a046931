import assert from "node:assert/strict";
import { panel } from "../browser.mjs";

/** Two windows on one task show the same; both answer an approval, one wins. */
export default async function ({ sidecar, browser, page }) {
  const models = await sidecar.script("asks", [
    { text: "May I?", calls: [{ tool: "run_command", args: { command: ["touch", "made.txt"] } }] },
    { text: "It is there." },
  ]);
  const id = await sidecar.execute("touch a file", { models, intent: "run_command" });
  const { page: other } = await browser.window();
  const [one, two] = [panel(page), panel(other)];
  await page.goto(await sidecar.signInUrl());
  await other.goto(await sidecar.signInUrl());
  await Promise.all([one.allow.waitFor(), two.allow.waitFor()]);
  // The later one finds the approval answered and its button gone.
  const clicked = await Promise.allSettled([one, two].map(({ allow }) => allow.click({ timeout: 5_000 })));
  assert.ok(clicked.some(({ status }) => status === "fulfilled"));
  await Promise.all([one.reaches("completed"), two.reaches("completed")]);
  const text = (shown) => shown.conversation.locator("[data-message], article").allInnerTexts();
  assert.deepEqual(await text(one), await text(two));
  assert.equal(new URL(page.url()).hash, `#task=${id}`);

  // A follow-up in one window appears in the other.
  await one.task.fill("list the files");
  await one.task.press("Enter");
  await two.conversation.getByText("list the files").waitFor();

  // A third window, from the palette, signs in by itself and shows the same task.
  const opening = page.context().waitForEvent("page");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").fill("new window");
  await page.keyboard.press("Enter");
  const third = await opening;
  await panel(third).conversation.getByText("It is there.").first().waitFor();
  assert.equal(new URL(third.url()).hash, `#task=${id}`);
}
