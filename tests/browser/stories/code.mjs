import assert from "node:assert/strict";
import { axe } from "../axe.mjs";
import { panel } from "../browser.mjs";

export const files = {
  "shop/tax.py": "def tax(price):\n    \"\"\"The tax on a price.\"\"\"\n    return price * 0.2\n",
  "shop/prices.py": "from shop.tax import tax\n\n\ndef gross_price(net):\n    \"\"\"A net price with its tax.\"\"\"\n    return net + tax(net)\n",
  "shop/cart.py": "from shop.prices import gross_price\n\n\ndef total(items):\n    return sum(gross_price(item) for item in items)\n",
  "shop/__init__.py": "",
};

/** Finding a place by meaning, and looking at what depends on it: by keyboard, and as a list. */
export default async function ({ sidecar, page, context }) {
  const { task, palette } = panel(page);
  const check = await axe(page);
  await page.goto(await sidecar.signInUrl());
  await task.waitFor();

  // Whatever is typed into the palette can be looked for in the code.
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").fill("net price with its tax");
  await palette.getByRole("option", { name: "Find “net price with its tax” in code" }).waitFor();
  await page.keyboard.press("Enter");
  const find = page.getByRole("dialog", { name: "Find in code" });
  const place = find.getByRole("button", { name: /gross_price shop\/prices\.py:4/ });
  await place.waitFor();
  await check("find in code");
  await page.keyboard.press("ArrowDown");
  assert.match(await page.evaluate(() => document.activeElement.textContent), /gross_price/);
  await find.getByRole("button", { name: "Graph of shop/prices.py" }).first().click();

  const graph = page.getByRole("dialog", { name: "Imports and impact" });
  await graph.getByText("Imports 1 file. 1 file may break if it changes.").waitFor();
  await graph.getByRole("button", { name: "prices.py shop", exact: true }).focus();
  await page.keyboard.press("ArrowRight");
  await graph.getByText(/imports shop\/prices\.py, line 1/).waitFor();
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  assert.match(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), /^tax\.py shop/);
  await check("the graph");
  await page.keyboard.press("Enter");
  await graph.getByRole("button", { name: /^cart\.py shop, imports shop\/prices\.py, 2 imports away/ }).waitFor();

  // The list has the same; a click shows the file at its line.
  await graph.getByRole("button", { name: "List" }).click();
  await graph.getByRole("region", { name: "2 imports away" }).getByText("shop/cart.py", { exact: true }).click();
  const preview = page.getByRole("dialog", { name: "shop/cart.py, line 1" });
  await preview.getByText("from shop.prices import gross_price").waitFor();
  await preview.getByRole("button", { name: "What depends on it?" }).click();
  await graph.getByText("Imports 1 file. 0 files may break if it changes.").waitFor();
  await page.keyboard.press("Escape");
  await graph.waitFor({ state: "detached" });

  // An editor on the bridge opens the file itself.
  const editor = await connectEditor(sidecar, context);
  await task.fill("/find gross_price");
  await page.keyboard.press("Enter");
  await place.click();
  await page.getByText("Opened shop/prices.py in your editor.").waitFor();
  assert.deepEqual(await editor.evaluate(() => window.opened), [{ path: "shop/prices.py", line: 4 }]);
  await editor.close();
}

/** A page that speaks the bridge protocol, as a webview shell does. */
async function connectEditor(sidecar, context) {
  const editor = await context.newPage();
  await editor.goto(`${sidecar.url}/health`);
  const { ticket } = await sidecar.call("POST", "/api/brain/bridge/ticket");
  await editor.evaluate(
    async ({ ticket, workspace }) => {
      window.opened = [];
      const socket = new WebSocket(`ws://${location.host}/api/brain/bridge?ticket=${ticket}`, "rainy.bridge.v1");
      const properties = { path: { type: "string" }, line: { type: "integer" } };
      const tool = { name: "open_in_editor", description: "Show a file.", parameters: { type: "object", properties }, readOnly: true };
      await new Promise((ready) => {
        socket.onopen = () => socket.send(JSON.stringify({ type: "hello", shell: { name: "test", version: "1" }, workspace, tools: [tool] }));
        socket.onmessage = ({ data }) => {
          const frame = JSON.parse(data);
          if (frame.type === "welcome") ready();
          if (frame.type !== "tool_call") return;
          window.opened.push(frame.args);
          socket.send(JSON.stringify({ type: "tool_result", id: frame.id, result: { content: "Shown." } }));
        };
      });
    },
    { ticket, workspace: sidecar.workspace },
  );
  return editor;
}
