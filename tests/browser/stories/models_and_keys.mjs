import assert from "node:assert/strict";
import { panel } from "../browser.mjs";
import { ModelServer } from "../model_server.mjs";

const KEY = "gsk-a-key-that-must-not-be-seen";

export async function before() {
  const remote = await ModelServer.start({ key: KEY });
  const local = await ModelServer.start({ usual: true });
  const end = () => Promise.all([remote.close(), local.close()]);
  return { environ: { GROQ_BASE_URL: remote.url }, remote, local, end };
}

/** From offline to a real model: a local server with two clicks, or a pasted key. */
export default async function ({ sidecar, page, remote, local }) {
  const { task, conversation, reaches } = panel(page);
  const settings = page.getByRole("tabpanel");
  await page.goto(await sidecar.signInUrl());
  await page.getByText("No language model is set up.").waitFor();
  await page.getByRole("button", { name: "Add a model" }).click();
  await settings.getByText("openai/tiny-coder").waitFor();
  await settings.getByRole("button", { name: "Use openai/tiny-coder" }).click();
  await settings.getByText(/From the next task on, all roles use/).waitFor();
  await settings.getByText("in use").waitFor();
  await page.keyboard.press("Escape");
  await page.getByText("No language model is set up.").waitFor({ state: "detached" });
  await task.fill("/ask hello");
  await task.press("Enter");
  await reaches("completed");
  await conversation.getByText("Hello from a small model.").waitFor();
  assert.ok(local.asked.length > 0);

  // A wrong key is tested before it is stored; the right one is never shown again.
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").fill("models and keys");
  await page.keyboard.press("Enter");
  const groq = settings.getByRole("list", { name: "Keys" }).getByRole("listitem").filter({ hasText: "Groq" });
  await settings.getByRole("button", { name: "Change smart" }).click();
  await settings.getByRole("textbox", { name: "Model for smart" }).or(settings.getByRole("combobox", { name: "Model for smart" })).fill("auto");
  await page.keyboard.press("Enter");
  await settings.getByText(/the role smart uses/).waitFor();
  await groq.getByLabel("Key of Groq").fill("gsk-wrong");
  await groq.getByRole("button", { name: "Save" }).click();
  await groq.getByText(/groq rejects the key.* Nothing was changed/).waitFor();
  assert.equal((await sidecar.call("GET", "/api/brain/keys")).keys.find(({ provider }) => provider === "groq").place, null, "a refused key was stored");
  await groq.getByLabel("Key of Groq").fill(KEY);
  await groq.getByLabel("Key of Groq").press("Enter");
  await groq.getByText(/answered in .* and calls tools/).waitFor();
  assert.equal(remote.asked.at(-1), `Bearer ${KEY}`);
  assert.ok(!(await page.content()).includes(KEY), "the key is still in the page");
  assert.ok(!JSON.stringify(await sidecar.call("GET", "/api/brain/keys")).includes(KEY));
  assert.ok(await page.evaluate((key) => !JSON.stringify([{ ...localStorage }, { ...sessionStorage }]).includes(key), KEY));
  await groq.getByRole("button", { name: "Test Groq" }).click();
  await groq.getByText(/answered in .* and calls tools/).waitFor();
  assert.match((await sidecar.call("GET", "/api/brain/models")).roles.find(({ role }) => role === "smart").chain[0], /^groq\//);

  // A wrong new key leaves the old one in use.
  await groq.getByRole("button", { name: "Change the key of Groq" }).click();
  await page.keyboard.type("gsk-wrong-again");
  await page.keyboard.press("Enter");
  await groq.getByText(/groq rejects the key.* Nothing was changed/).waitFor();
  await groq.getByRole("button", { name: "Keep the old one" }).click();
  await groq.getByRole("button", { name: "Test Groq" }).click();
  await groq.getByText(/answered in .* and calls tools/).waitFor();

  // How much it should think goes with the next task.
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "New task" }).first().click();
  await page.getByRole("button", { name: /^Model: groq/ }).click();
  await page.getByRole("menuitemradio", { name: "high" }).click();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: /^Model: groq.*, high$/ }).waitFor();
  const sent = page.waitForRequest("**/api/brain/execute");
  await task.fill("/ask hello again");
  await task.press("Enter");
  assert.equal((await sent).postDataJSON().options.effort, "high");
  await reaches("completed");
}
