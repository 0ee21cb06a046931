import assert from "node:assert/strict";
import { panel } from "../browser.mjs";
import { demo, files } from "../demo.mjs";

export { files };

const lines = (text) => text.split("\n").map((line) => ({ kind: { "+": "added", "-": "removed" }[line[0]] ?? "context", text: line.slice(1) }));
const hunk = (id, header, text) => ({ id, header, lines: lines(text), state: "pending" });
const told = () => ({
  files: [
    {
      path: "calc.py",
      change: "modified",
      added: 3,
      removed: 4,
      diff: "",
      hunks: [
        hunk("h1", "@@ -1,5 +1,3 @@", '-import os\n-\n-\n-def add(a, b):\n+def add(a: float, b: float) -> float:\n+    """The sum of both."""\n     return a + b'),
        hunk("h2", "@@ -8,2 +6,3 @@", " def scale(values, factor):\n+    # checked\n     return [value * factor for value in values]"),
      ],
    },
  ],
});

/** Takes the routes' place as long as the sidecar does not have them. */
async function standIn(page, asked) {
  const answer = told();
  await page.route("**/diff", (route) => route.fulfill({ json: answer }));
  await page.route("**/hunks", (route) => {
    const { accept = [], reject = [] } = route.request().postDataJSON();
    asked.push({ accept, reject });
    for (const one of answer.files[0].hunks) {
      if (accept.includes(one.id)) one.state = "accepted";
      if (reject.includes(one.id)) one.state = "rejected";
    }
    return route.fulfill({ json: {} });
  });
  await page.route("**/rewind", (route) => {
    asked.push({ rewind: route.request().postDataJSON().seq });
    return route.fulfill({ json: {} });
  });
}

/** Hunk by hunk with `j`, `k`, `a` and `r`; then back to a checkpoint, with a look at what that changes first. */
export default async function ({ sidecar, page }) {
  const { changes, reaches } = panel(page);
  const models = await sidecar.script("demo", demo);
  const asked = [];
  await standIn(page, asked);
  await sidecar.execute("give add() type hints", { models, intent: "edit_code" });
  await page.goto(await sidecar.door());
  await page.getByRole("navigation", { name: "Tasks" }).getByRole("link", { name: /give add/ }).click();
  await reaches("completed");
  await changes.getByRole("button", { name: "Accept", exact: true }).first().waitFor();
  await page.keyboard.press("Alt+c");
  await page.keyboard.press("a");
  await changes.getByText("accepted").waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("r");
  await changes.getByText("rejected").waitFor();
  assert.deepEqual(asked, [
    { accept: ["h1"], reject: [] },
    { accept: [], reject: ["h2"] },
  ]);
  await changes.getByRole("button", { name: "Rewind" }).first().click();
  const dialog = page.getByRole("dialog", { name: /^Rewind to/ });
  await dialog.getByText("calc.py").waitFor();
  await dialog.getByRole("button", { name: "Rewind", exact: true }).click();
  await page.getByRole("button", { name: "Undo" }).waitFor();
  assert.equal(typeof asked.at(-1).rewind, "number");
}
