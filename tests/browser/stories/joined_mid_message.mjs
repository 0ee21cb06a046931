import assert from "node:assert/strict";
import { panel } from "../browser.mjs";

const words = Array.from({ length: 80 }, (_, place) => `word${place}`).join(" ");

/** Opened or reloaded in the middle of a message: the message is complete, and no word repeats. */
export default async function ({ sidecar, page }) {
  const { conversation, reaches } = panel(page);
  const models = await sidecar.script("slow", [{ text: words, deltaMs: 60 }]);
  const id = await sidecar.execute("say many words", { models, intent: "chat" });
  await page.goto(await sidecar.signInUrl());
  await conversation.getByText(/word10\b/).waitFor();
  await page.goto(`${sidecar.url}/#task=${id}`);
  await page.reload();
  const growing = page.locator("[data-message=growing]");
  await growing.getByText(/word15\b/).waitFor();
  const shown = (await growing.innerText()).trim().split(" ");
  assert.deepEqual(shown.slice(0, 15), words.split(" ").slice(0, 15), "not every word once, from the first");
  await reaches("completed");
  await conversation.getByText(words).waitFor();
}
