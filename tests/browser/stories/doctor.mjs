import assert from "node:assert/strict";
import { panel } from "../browser.mjs";
import { ModelServer } from "../model_server.mjs";

export async function before() {
  const local = await ModelServer.start({ usual: true });
  return { end: () => local.close() };
}

/** What the doctor knows stands in the panel, and what one click can mend is mended with one click. */
export default async function ({ sidecar, page, context }) {
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: sidecar.url });
  const { task } = panel(page);
  await page.goto(await sidecar.door());
  await task.waitFor();
  await task.fill("/doctor");
  await task.press("Enter");
  const open = page.getByRole("list", { name: "To be mended" });
  const fine = page.getByRole("list", { name: "In order" });
  await page.getByText("sandbox", { exact: true }).waitFor();
  assert.match(await fine.innerText(), /git/);
  await open.getByText(/is not trusted/).waitFor();
  await open.getByRole("button", { name: "Copy brain keys set anthropic" }).click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "brain keys set anthropic");
  await open.getByRole("button", { name: "Trust this workspace" }).click();
  await fine.getByText(/is trusted/).waitFor();
  const { workspaces } = await sidecar.call("GET", "/api/brain/trust");
  assert.equal(workspaces.find(({ workspace }) => workspace === sidecar.workspace).trusted, true);
  await open.getByRole("button", { name: "Add a key" }).click();
  await page.getByRole("tab", { name: "Models and keys", selected: true }).waitFor();
  await page.getByLabel("Key of Anthropic").waitFor();

  // A model that is served on this machine is chosen with one click, and then nothing of it is left to be mended.
  await page.getByRole("tab", { name: "Health" }).click();
  await open.getByRole("button", { name: "Use openai/tiny-coder" }).click();
  await fine.getByText(/openai\/tiny-coder for fast, smart, instant/).waitFor();
  await open.getByText("No language model is configured").waitFor({ state: "detached" });
}
