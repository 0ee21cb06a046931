// node tests/browser/pictures.mjs DIRECTORY [SCENE …]: screenshots of the panel at three widths, in three themes.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { THEMES, wear } from "./axe.mjs";
import { Browser, panel } from "./browser.mjs";
import { ModelServer } from "./model_server.mjs";
import { files, startTasks } from "./picture_tasks.mjs";
import { scenes } from "./scenes.mjs";
import { Sidecar } from "./sidecar.mjs";

const [directory = "/tmp/pictures", ...only] = process.argv.slice(2);
const wanted = Object.entries(scenes).filter(([name]) => only.length === 0 || only.includes(name));
await mkdir(directory, { recursive: true });
const local = await ModelServer.start({ usual: true });
const sidecar = await Sidecar.start(files);
const browser = await Browser.open();
const failures = [];
try {
  const tasks = await startTasks(sidecar);
  for (const width of [360, 800, 1440]) {
    for (const theme of THEMES) {
      const { page, context } = await browser.window({ viewport: { width, height: width === 360 ? 740 : 900 } });
      await page.goto(await sidecar.signInUrl());
      await panel(page).task.waitFor();
      await wear(page, theme);
      for (const [name, { task, show = () => {} }] of wanted) {
        // Each scene starts from a page that was loaded for it, so that none depends on how another ended.
        await page.goto("about:blank");
        await page.goto(task ? `${sidecar.url}/#task=${tasks[task]}` : `${sidecar.url}/#new`);
        try {
          await panel(page).task.waitFor();
          if (task) await panel(page).status.waitFor();
          await show(page, { sidecar });
        } catch (error) {
          failures.push(`${name} at ${width} px, ${theme}: ${error.message.split("\n")[0]}`);
        }
        await page.screenshot({ path: join(directory, `${name}-${width}-${theme}.png`) });
        // What a scene typed must not be in the next one.
        await page.evaluate(() => sessionStorage.removeItem("rainy-brain.drafts"));
      }
      await context.close();
    }
  }
  for (const each of [...failures, ...browser.faults]) console.error(each);
  console.log(`pictures are in ${directory}`);
  process.exitCode = failures.length + browser.faults.length > 0 ? 1 : 0;
} finally {
  await browser.close();
  await sidecar.close();
  await local.close();
}
