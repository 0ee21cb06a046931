import assert from "node:assert/strict";
import { panel } from "../browser.mjs";

/** The history: groups, search on the sidecar, rename, pin, archive, delete, and a badge for what needs you; nothing is polled. */
export default async function ({ sidecar, page }) {
  const { task, allow, reaches } = panel(page);
  await sidecar.write("prices.py", "PRICE = 1\n");
  const asks = await sidecar.execute("touch a file", {
    models: await sidecar.script("asks", [{ calls: [{ tool: "run_command", args: { command: ["touch", "made.txt"] } }] }, { text: "It is there." }]),
    intent: "run_command",
  });
  const reads = await sidecar.execute("look at the code", {
    models: await sidecar.script("reads", [{ calls: [{ tool: "read_file", args: { path: "prices.py" } }] }, { text: "The xylophone costs one." }]),
    intent: "explain_code",
  });
  // The panel opens the task that needs you, if there is one when it starts.
  await sidecar.waitsFor(asks);
  const requests = [];
  page.on("request", (request) => requests.push(new URL(request.url()).pathname));
  await page.goto(await sidecar.signInUrl());
  await allow.waitFor();
  const nav = page.getByRole("navigation", { name: "Tasks" });
  await nav.getByRole("region", { name: "Needs you" }).getByText("touch a file").waitFor();
  await nav.getByRole("button", { name: /^Needs you\s*1$/ }).waitFor();
  await nav.getByRole("region", { name: "Today" }).getByText("look at the code").waitFor();

  // A search finds a word of the answer, which the panel has not loaded.
  await nav.getByRole("searchbox", { name: "Search tasks" }).fill("xylophone");
  await nav.getByText("touch a file").waitFor({ state: "detached" });
  await nav.getByText("look at the code").waitFor();
  await nav.getByRole("searchbox", { name: "Search tasks" }).fill("");

  const act = async (title, action) => {
    await nav.getByText(title).hover();
    await nav.getByRole("button", { name: `Actions for ${title}` }).click();
    await page.getByRole("menuitem", { name: action }).click();
  };
  await act("look at the code", "Rename");
  await nav.getByRole("textbox", { name: "Title" }).fill("Prices");
  await page.keyboard.press("Enter");
  await nav.getByText("Prices").waitFor();
  await act("Prices", "Pin");
  await nav.getByRole("region", { name: "Pinned" }).getByText("Prices").waitFor();
  assert.equal((await sidecar.task(reads)).pinned, true);
  await act("Prices", "Archive");
  await nav.getByText("Prices").waitFor({ state: "detached" });
  await nav.getByRole("button", { name: "Archived" }).click();
  await nav.getByText("Prices").waitFor();
  await act("Prices", "Delete");
  await page.getByRole("region", { name: "Messages" }).getByRole("button", { name: "Delete" }).click();
  await nav.getByText("Prices").waitFor({ state: "detached" });
  await assert.rejects(sidecar.task(reads));
  await nav.getByRole("button", { name: "All" }).click();

  // The badge goes away with the answer, from another client and without a poll.
  requests.length = 0;
  const { approvalId } = await sidecar.waitsFor(asks);
  await sidecar.call("POST", `/api/brain/tasks/${asks}/approvals/${approvalId}`, { decision: "deny", scope: "once" });
  await reaches("completed");
  await nav.getByRole("region", { name: "Needs you" }).waitFor({ state: "detached" });
  await task.focus();

  // The dashboard has the same tasks.
  await page.getByRole("button", { name: "Dashboard" }).click();
  const dashboard = page.getByRole("dialog", { name: "Dashboard" });
  await dashboard.getByRole("region", { name: "Workers" }).getByText(/running · 0 of \d+ slots in use/).waitFor();
  await dashboard.getByRole("region", { name: "Alerts" }).getByText("Nothing needs you.").waitFor();
  await page.keyboard.press("Escape");
  await dashboard.waitFor({ state: "detached" });
  assert.ok(requests.filter((path) => path === "/api/brain/tasks").length === 0, "the list was polled");
}
