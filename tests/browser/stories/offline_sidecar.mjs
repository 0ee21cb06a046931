import assert from "node:assert/strict";
import { panel } from "../browser.mjs";

/** The sidecar is down: the panel says so, keeps what you typed, and reconnects when it is back. */
export default async function ({ sidecar, page }) {
  const { task, send, reaches } = panel(page);
  await page.goto(await sidecar.signInUrl());
  await page.getByRole("list", { name: "Examples" }).getByRole("button").first().waitFor();
  await sidecar.kill();
  await page.getByRole("alert").filter({ hasText: "does not answer" }).waitFor({ timeout: 20_000 });
  await task.fill("list the files");
  await send.click();
  await page.getByRole("region", { name: "Messages" }).getByText("does not answer").waitFor();
  assert.equal(await task.inputValue(), "list the files", "the text is gone");
  await sidecar.start();
  await page.getByRole("alert").waitFor({ state: "detached" });
  await send.click();
  await reaches("completed");

  const stranger = await page.context().browser().newContext();
  const tab = await stranger.newPage();
  await tab.goto(sidecar.url);
  await tab.getByText("brain open").waitFor();
  await tab.goto("about:blank");
  await tab.goto(`${sidecar.url}/#code=nonsense`);
  await tab.getByText("brain open").first().waitFor();
  assert.ok(!(await tab.getByRole("main").innerText()).includes("`"), "marks are shown");
  assert.equal(new URL(tab.url()).hash, "");
}
