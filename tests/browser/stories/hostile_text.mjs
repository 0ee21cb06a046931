import assert from "node:assert/strict";
import { panel } from "../browser.mjs";

const EVIL = `<img src=x onerror="window.stolen=1"><script>window.stolen=1</script>

[click](javascript:window.stolen=1) ![pixel](https://evil.example/p.png) <iframe src="https://evil.example"></iframe>

| a |
| --- |
| <b onmouseover="window.stolen=1">cell</b> |

\`\`\`html
<script>window.stolen=1</script>
\`\`\`
`;

/** Text from a model or a file is only ever shown as text, and loads nothing. */
export default async function ({ sidecar, page }) {
  const { conversation, reaches } = panel(page);
  await sidecar.write("evil.html", EVIL);
  const models = await sidecar.script("evil", [{ text: EVIL, calls: [{ tool: "read_file", args: { path: "evil.html" } }] }, { text: EVIL }]);
  const id = await sidecar.execute(EVIL, { models, intent: "explain_code" });
  await page.goto(await sidecar.signInUrl());
  await page.goto(`${sidecar.url}/#task=${id}`);
  await reaches("completed");
  await conversation.getByText("onerror").first().waitFor();
  assert.equal(await conversation.locator("img, script, iframe, b").count(), 0);
  assert.equal(await conversation.locator("a[href^='javascript']").count(), 0);
  for (const link of await conversation.getByText("click", { exact: true }).all()) await link.click();
  assert.equal(await page.evaluate(() => window.stolen), undefined);

  // The address can't change where the panel sends its token.
  await page.goto(`${sidecar.url}/?url=https://evil.example&token=x#url=https://evil.example`);
  await page.getByRole("button", { name: "New task" }).waitFor();
}
