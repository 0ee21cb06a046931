// node tests/browser/run.mjs STORY: tells one story, and says why it failed if it did.
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Browser } from "./browser.mjs";
import { Sidecar } from "./sidecar.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const name = process.argv[2];
const { default: tell, files, before = () => ({}) } = await import(join(here, "stories", `${name}.mjs`));
// What a story needs around the sidecar, such as a model server: values of its environment, and how to end it.
const { environ, end = () => {}, ...around } = await before();
const sidecar = await Sidecar.start(files, environ);
const browser = await Browser.open();
let page;
try {
  const shown = await browser.window();
  page = shown.page;
  await tell({ sidecar, browser, page, context: shown.context, ...around });
  if (browser.faults.length > 0) throw new Error(`The browser complained: ${browser.faults.join("; ")}`);
  console.log(`told: ${name}`);
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
