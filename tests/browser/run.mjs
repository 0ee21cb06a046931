// node tests/browser/run.mjs STORY: runs one story and reports why it failed.
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Browser } from "./browser.mjs";
import { Sidecar } from "./sidecar.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const name = process.argv[2];
const { default: run, files, before = () => ({}) } = await import(join(here, "stories", `${name}.mjs`));
// A story may start servers of its own: `before` returns the sidecar's environment, what launches it, and how
// to end them.
const { environ, launcher, end = () => {}, skip, ...fixtures } = await before();
if (skip) {
  console.log(`skipped: ${skip}`);
  process.exit();
}
const sidecar = await Sidecar.start(files, environ, launcher);
const browser = await Browser.open();
let page;
try {
  const shown = await browser.window();
  page = shown.page;
  await run({ sidecar, browser, page, context: shown.context, ...fixtures });
  if (browser.faults.length > 0) throw new Error(`The browser reported: ${browser.faults.join("; ")}`);
  console.log(`passed: ${name}`);
} catch (error) {
  const picture = join(process.env.BRAIN_PICTURES ?? "/tmp", `story-${name}.png`);
  await mkdir(dirname(picture), { recursive: true });
  await page?.screenshot({ path: picture }).catch(() => {});
  console.error(`${error.stack}\nFaults: ${browser.faults.join("; ")}\nPicture: ${picture}\nSidecar: ${sidecar.log.slice(-2000)}`);
  process.exitCode = 1;
} finally {
  await browser.close();
  await sidecar.close();
  await end();
}
