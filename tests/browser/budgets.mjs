// node tests/browser/budgets.mjs [SLACK|size]: the panel's budgets for size and speed. SLACK relaxes the times for a busy
// machine; `size` measures no times.
import { readdir, readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { Browser, panel } from "./browser.mjs";
import { longTask } from "./long_task.mjs";
import { Sidecar } from "./sidecar.mjs";

const onlySize = process.argv[2] === "size";
const slack = onlySize ? 1 : Number(process.argv[2] ?? 1);
const dist = resolve(dirname(fileURLToPath(import.meta.url)), "../../frontend/dist");
const results = [];
/** The best of a few runs, up to the first within the limit: other load can only make it worse. */
async function best(measure, within, times = 4) {
  let found;
  for (let time = 0; time < times && !(found && within(found)); time += 1) {
    const next = await measure();
    if (found === undefined || next.value < found.value) found = next;
  }
  return found;
}
const budget = (what, value, limit, unit, timed = true) =>
  results.push({ what, value: Math.round(value * 10) / 10, limit, unit, ok: value <= limit * (timed ? slack : 1) });

async function size() {
  const html = await readFile(`${dist}/index.html`, "utf8");
  const scripts = [...html.matchAll(/(?:src|href)="\/(assets\/[^"]+\.js)"/g)].map((found) => found[1]);
  let bytes = 0;
  for (const script of scripts) bytes += gzipSync(await readFile(`${dist}/${script}`), { level: 9 }).length;
  budget("script of the first load, gzip", bytes / 1024, 300, "KB", false);
  let all = 0;
  for (const file of await readdir(`${dist}/assets`)) all += gzipSync(await readFile(`${dist}/assets/${file}`)).length;
  console.log(`all assets: ${Math.round(all / 1024)} KB gzip in ${(await readdir(`${dist}/assets`)).length} files`);
}

/** The wall time contains the load of the machine; a page without scripts, opened in the same run, shows how much. */
async function start(sidecar, browser) {
  const bare = await best(() => firstLoad(browser, () => `${sidecar.url}/health`, (page) => page.getByText("ok").waitFor()), () => false, 3);
  const own = await best(() => firstLoad(browser, () => sidecar.signInUrl(), (page) => panel(page).task.waitFor()), ({ value }) => value <= 1_000);
  console.log(`a page without scripts takes ${Math.round(bare.value)} ms, ${Math.round(bare.busy)} ms of the processor`);
  budget("from nothing to a composer that takes text", own.value, 1_000, "ms");
  budget("processor time of the page for that", own.busy, 400, "ms");
}

async function firstLoad(browser, address, shown) {
  const { page, context } = await browser.window();
  const url = await address();
  const { result, busy } = await traced(browser, page, async () => {
    const before = performance.now();
    await page.goto(url, { waitUntil: "commit" });
    await shown(page);
    return performance.now() - before;
  });
  await context.close();
  return { value: result, busy };
}

/** The longest frame while deltas arrive faster than any model writes, from an even stream inside the page. */
async function deltas(sidecar, browser) {
  const id = await sidecar.execute("list the files");
  const { value, longest, busy, gaps, seconds } = await best(() => written(sidecar, browser, id), ({ value }) => value <= 50);
  console.log(`of each frame the page itself needs ${(busy / gaps.length).toFixed(1)} ms of the processor`);
  console.log(`deltas: ${Math.round(4_800 / seconds)} a second for ${seconds.toFixed(1)} s, ${gaps.length} frames, median ${gaps[gaps.length >> 1].toFixed(1)} ms`);
  // On a busy machine a frame waits for the processor, so only its own processor time counts there.
  if (slack === 1) budget("longest frame while deltas come", value, 50, "ms");
  else console.log(`longest frame while deltas come: ${Math.round(value)} ms`);
  budget("longest task of the page while deltas come, processor time", longest, 50, "ms");
}

async function written(sidecar, browser, id) {
  const { page, context } = await browser.window();
  await page.addInitScript(() => {
    const real = window.fetch;
    const perSecond = 1_200;
    const seconds = 4;
    window.fetch = (input, init) => {
      if (!String(input).endsWith("/stream")) return real(input, init);
      const encoder = new TextEncoder();
      const event = (fields) => encoder.encode(`${fields.seq ? `id: ${fields.seq}\n` : ""}data: ${JSON.stringify({ taskId: "t", at: new Date().toISOString(), ...fields })}\n\n`);
      const began = performance.now();
      let sent = 0;
      const body = new ReadableStream({
        start(controller) {
          controller.enqueue(event({ type: "status", status: "running", seq: 1 }));
          const timer = setInterval(() => {
            const due = Math.min(perSecond * seconds, ((performance.now() - began) / 1_000) * perSecond);
            for (let place = sent; place < due; place += 1) {
              const text = place % 60 === 59 ? `word${place}.\n\n` : place % 7 === 0 ? `**word${place}** ` : `\`word${place}\` `;
              controller.enqueue(event({ type: "delta", messageId: "m", role: "assistant", agent: "coder", kind: "text", text }));
            }
            sent = Math.ceil(due);
            if (sent < perSecond * seconds) return;
            clearInterval(timer);
            controller.enqueue(event({ type: "status", status: "completed", seq: 2 }));
            controller.close();
          }, 5);
        },
      });
      return Promise.resolve(new Response(body, { headers: { "content-type": "text/event-stream" } }));
    };
  });
  await page.goto(await sidecar.signInUrl());
  await panel(page).task.waitFor();
  await page.waitForTimeout(500);
  await page.evaluate((task) => {
    window.location.hash = `#task=${task}`;
  }, id);
  await page.locator("[data-message=growing]").waitFor();
  const measured = await traced(browser, page, () =>
    page.evaluate(async () => {
      const gaps = [];
      const began = performance.now();
      let last = began;
      while (document.querySelector("[data-message=growing]")) {
        await new Promise((next) => requestAnimationFrame(next));
        const now = performance.now();
        gaps.push(now - last);
        last = now;
      }
      return { gaps: gaps.sort((one, other) => one - other), seconds: (last - began) / 1_000 };
    }),
  );
  await context.close();
  return { value: measured.result.gaps.at(-1), longest: measured.longest, busy: measured.busy, ...measured.result };
}

/** The CPU time of the page's main thread meanwhile; other load doesn't count. */
async function traced(browser, page, act) {
  await browser.chromium.startTracing(page, { categories: ["toplevel"] });
  const result = await act();
  const { traceEvents } = JSON.parse((await browser.chromium.stopTracing()).toString());
  const main = new Set(traceEvents.filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain").map(({ pid, tid }) => `${pid}.${tid}`));
  const tasks = traceEvents.filter(({ name, ph, pid, tid }) => ph === "X" && name === "ThreadControllerImpl::RunTask" && main.has(`${pid}.${tid}`));
  const times = tasks.map(({ tdur = 0 }) => tdur / 1_000);
  return { result, busy: times.reduce((sum, one) => sum + one, 0), longest: Math.max(...times) };
}

async function long(sidecar, browser) {
  const { id, lastSeq } = await longTask(sidecar);
  const { value, busy, heap } = await best(() => opened(sidecar, browser, id), ({ value }) => value <= 1_000);
  budget(`a task of ${lastSeq} events is open`, value, 1_000, "ms");
  budget("processor time of the page for that", busy, 1_000, "ms");
  budget("heap with it", heap, 150, "MB", false);
}

async function opened(sidecar, browser, id) {
  const { page, context } = await browser.window();
  await page.goto(await sidecar.signInUrl());
  await panel(page).task.waitFor();
  await page.waitForTimeout(500);
  // Observed inside the page: polling from outside would slow it down.
  const { result, busy } = await traced(browser, page, () =>
    page.evaluate(
      (task) =>
        new Promise((done) => {
          const began = performance.now();
          const open = () => document.querySelector("[role=log]")?.textContent.includes("That was all.") && document.querySelector("[role=status]")?.textContent === "completed";
          new MutationObserver(() => open() && requestAnimationFrame(() => done(performance.now() - began))).observe(document.body, { subtree: true, childList: true, characterData: true });
          window.location.hash = `#task=${task}`;
        }),
      id,
    ),
  );
  const debuggerSession = await context.newCDPSession(page);
  await debuggerSession.send("HeapProfiler.collectGarbage");
  await debuggerSession.send("Performance.enable");
  const { metrics } = await debuggerSession.send("Performance.getMetrics");
  await context.close();
  return { value: result, busy, heap: metrics.find((metric) => metric.name === "JSHeapUsedSize").value / 1_048_576 };
}

/** A keystroke in the palette among 20,000 entries, from the key to the next frame. */
async function palette(sidecar, browser) {
  const { page, context } = await browser.window();
  await page.route("**/tools/batch", (route) => {
    const paths = Array.from({ length: 20_000 }, (_, place) => `src/module${place % 200}/feature${place}/file${place}.ts`);
    const result = { callId: "f", tool: "find_files", status: "success", content: "", details: { paths }, durationMs: 1, cached: false, executor: "local" };
    return route.fulfill({ json: { results: [result] } });
  });
  await page.goto(await sidecar.signInUrl());
  await panel(page).task.waitFor();
  await page.keyboard.press("Control+k");
  await panel(page).palette.getByRole("option").first().waitFor();
  await page.getByRole("combobox").fill("file19999");
  await panel(page).palette.getByRole("option", { name: /file19999\.ts/ }).waitFor();
  await page.getByRole("combobox").fill("");
  await page.evaluate(() => {
    window.keys = [];
    const box = document.querySelector("[cmdk-input]");
    box.addEventListener("keydown", () => {
      const began = performance.now();
      // A task queued in a frame runs after that frame is painted.
      requestAnimationFrame(() => {
        const channel = new MessageChannel();
        channel.port1.onmessage = () => window.keys.push(performance.now() - began);
        channel.port2.postMessage(0);
      });
    });
  });
  for (const key of "module19 file5") {
    await page.keyboard.press(key === " " ? "Space" : key);
    await page.waitForTimeout(60);
  }
  const keys = (await page.evaluate(() => window.keys)).sort((one, other) => one - other);
  console.log(`keystrokes in the palette: ${keys.map((ms) => ms.toFixed(0)).join(" ")} ms`);
  budget("a keystroke in the palette, 20,000 entries, median", keys[keys.length >> 1], 30, "ms");
  await context.close();
}

async function times() {
  const sidecar = await Sidecar.start();
  const browser = await Browser.open();
  try {
    await start(sidecar, browser);
    await deltas(sidecar, browser);
    await palette(sidecar, browser);
    await long(sidecar, browser);
  } finally {
    await browser.close();
    await sidecar.close();
  }
}

await size();
if (!onlySize) await times();
for (const { what, value, limit, unit, ok } of results) console.log(`${ok ? "ok " : "OVER"} ${what}: ${value} ${unit} (budget ${limit} ${unit})`);
process.exitCode = results.every(({ ok }) => ok) ? 0 : 1;
