import assert from "node:assert/strict";
import { panel } from "../browser.mjs";
import { ModelServer } from "../model_server.mjs";

export async function before() {
  const local = await ModelServer.start({ usual: true });
  return { end: () => local.close() };
}

/** The Health page shows the doctor's findings, and fixes with one click. */
export default async function ({ sidecar, page, context }) {
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: sidecar.url });
  const { task } = panel(page);
  await page.goto(await sidecar.signInUrl());
  await task.waitFor();
  await task.fill("/doctor");
  await task.press("Enter");
  const open = page.getByRole("list", { name: "To fix" });
  const ok = page.getByRole("list", { name: "OK" });
  await page.getByText("sandbox", { exact: true }).waitFor();
  assert.match(await ok.innerText(), /git/);
  await open.getByText(/is untrusted/).waitFor();
  await open.getByRole("button", { name: "Copy brain keys set anthropic" }).click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "brain keys set anthropic");
  await open.getByRole("button", { name: "Trust this workspace" }).click();
  await ok.getByText(/you trust/).waitFor();
  const { workspaces } = await sidecar.call("GET", "/api/brain/trust");
  assert.equal(workspaces.find(({ workspace }) => workspace === sidecar.workspace).trusted, true);
  await open.getByRole("button", { name: "Add a key" }).click();
  await page.getByRole("tab", { name: "Models and keys", selected: true }).waitFor();
  await page.getByLabel("Key of Anthropic").waitFor();

  // One click chooses a local model, and the finding about models disappears.
  await page.getByRole("tab", { name: "Health" }).click();
  await open.getByRole("button", { name: "Use openai/tiny-coder" }).click();
  await ok.getByText(/openai\/tiny-coder for fast, smart, instant/).waitFor();
  await open.getByText("No language model is configured").waitFor({ state: "detached" });
}
