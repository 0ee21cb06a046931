import assert from "node:assert/strict";
import { panel } from "../browser.mjs";

export const files = { "calc.py": "def add(a, b):\n    return a - b\n", "test_calc.py": "from calc import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n" };

const write = (sign) => ({ calls: [{ tool: "write_file", args: { path: "calc.py", content: `def add(a, b):\n    return a ${sign} b\n` } }] });
const PATIENT = { timeout: 60_000 };
const passed = Array(6).fill({ text: '{"passed": true}' });

/** Changes are checked, sent back with the evidence, and verified, or you are asked. */
export default async function ({ sidecar, page }) {
  const { conversation, reaches } = panel(page);
  const tasks = page.getByRole("navigation", { name: "Tasks" });
  const run = async (name, coder) => sidecar.execute(`fix add, ${name}`, { models: await sidecar.script(name, { coder, reviewer: passed }), intent: "edit_code", approvals: "auto" });
  const mended = await run("mended", [write("*"), { text: "Fixed." }, write("+"), { text: "Now it is." }]);
  await page.goto(await sidecar.signInUrl());
  await page.goto(`${sidecar.url}/#task=${mended}`);
  await reaches("completed", PATIENT);
  await conversation.getByText(/^Not verified: \d of \d checks? passed/).waitFor();
  await conversation.getByText(/assert 6 == 5/).first().waitFor();
  await conversation.getByText(/^Trying again \(2 of \d\)/).waitFor();
  await conversation.getByText(/^Verified: .*attempt 2/).waitFor();
  await conversation.getByText(/verified by \d check/).waitFor();
  await tasks.getByRole("link", { name: /fix add, mended/ }).getByText("verified", { exact: true }).waitFor();
  assert.equal((await sidecar.task(mended)).verified, true);

  const stuck = await run("stuck", [...Array(3).fill([write("*"), { text: "Fixed." }]).flat(), write("+ 0 +"), { text: "Now I add." }]);
  await page.goto(`${sidecar.url}/#task=${stuck}`);
  await reaches("escalated", PATIENT);
  await conversation.getByText(/^Needs your help after \d attempts?/).waitFor();
  await tasks.getByRole("link", { name: /fix add, stuck/ }).getByText("not verified").waitFor();
  const next = conversation.getByRole("form", { name: "What to do next" });
  await next.getByRole("textbox").fill("use + instead");
  await next.getByRole("button", { name: "Continue" }).click();
  await conversation.getByText("use + instead").waitFor();
  await next.waitFor({ state: "detached" });
  await conversation.getByText("Now I add.").waitFor();
  await reaches("completed", PATIENT);
  assert.equal((await sidecar.task(stuck)).verified, true);
}
