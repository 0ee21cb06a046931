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

  // A wrong key is reported; the right one is tested at once and never shown again.
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
  await groq.getByText(/groq rejects the key/).waitFor();
  await groq.getByRole("button", { name: "Remove the key of Groq" }).click();
  await groq.getByText("Key removed.").waitFor();
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
}
