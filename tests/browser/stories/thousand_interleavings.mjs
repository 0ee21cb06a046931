import assert from "node:assert/strict";
import { panel } from "../browser.mjs";
import { cannedStream } from "../canned.mjs";

/** Rounds with keys and clicks of the browser itself, and with events that a script sends, which is faster. */
const REAL = 40;
const SENT = 960;
const KEYS = [..."aydnrjku123 ", "Enter", "Backspace", "Control+Enter", "Escape", "ArrowUp", "Meta+Enter"];

/** A thousand approvals arrive at random moments while you type and click: none of them is answered without the gesture. */
export default async function ({ sidecar, page }) {
  const { task, allow, reaches } = panel(page);
  const { emit } = await cannedStream(page);
  const answers = [];
  await page.route("**/approvals/*", (route) => {
    answers.push(route.request().postDataJSON());
    return route.fulfill({ json: { approvalId: "x", decision: "allow", scope: "once" } });
  });
  await page.route("**/messages", (route) => route.fulfill({ status: 202, json: { taskId: "t", status: "waiting", streamUrl: "" } }));
  await page.route("**/cancel", (route) => route.fulfill({ status: 202, json: { taskId: "t", status: "waiting", streamUrl: "" } }));
  const id = await sidecar.execute("list the files");
  await page.goto(await sidecar.signInUrl());
  await task.waitFor();
  await page.evaluate((hash) => {
    window.location.hash = hash;
  }, `#task=${id}`);
  await emit({ type: "status", status: "queued" }, { type: "status", status: "waiting" });
  await reaches("waiting");
  const ask = (place, state = "requested") => ({ type: "approval", approvalId: `a${place}`, callId: `c${place}`, action: "run", argv: ["touch", `made${place}.txt`], cwd: ".", why: "it changes files", state, ...(state === "requested" ? {} : { scope: "once" }) });
  await emit(ask(0));
  await allow.waitFor();
  const box = await allow.boundingBox();
  await emit(ask(0, "denied"));
  await task.click();

  // The seed is printed by the assertion, so that a failure can be repeated.
  let seed = 20261117;
  const random = (below) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((seed / 2 ** 31) * below);
  };
  for (let round = 1; round <= REAL; round += 1) {
    const before = Array.from({ length: random(3) }, () => KEYS[random(KEYS.length)]);
    const after = Array.from({ length: 1 + random(3) }, () => KEYS[random(KEYS.length)]);
    for (const key of before) await page.keyboard.press(key === " " ? "Space" : key);
    await emit(ask(round));
    // Every tenth time, a click that was meant for what was there before.
    if (random(10) === 0) {
      await page.mouse.click(box.x + 5, box.y + 5);
      await task.focus();
    } else for (const key of after) await page.keyboard.press(key === " " ? "Space" : key);
    assert.deepEqual(answers, [], `round ${round}: ${before} | ${after} answered an approval`);
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("aria-label")), "Task", `round ${round} moved the focus`);
    await emit(ask(round, "denied"));
  }
  const missed = await page.evaluate(sendKeysAndClicks, { rounds: SENT, first: REAL + 1, keys: KEYS, at: { x: box.x + 5, y: box.y + 5 }, seed });
  assert.deepEqual(answers, [], "a key or click answered an approval");
  assert.deepEqual(missed, [], "the focus moved");
  // The gesture itself works.
  await emit(ask("last"));
  await allow.waitFor();
  await page.keyboard.press("Alt+a");
  await page.getByRole("button", { name: "Allow", exact: true, disabled: false }).waitFor();
  await page.keyboard.press("Control+Enter");
  for (let tries = 0; answers.length === 0 && tries < 100; tries += 1) await page.waitForTimeout(50);
  assert.deepEqual(answers, [{ decision: "allow", scope: "once" }]);
}

/** Runs in the page: sends approvals, keys and clicks in a random order, with a frame at a random place. */
async function sendKeysAndClicks({ rounds, first, keys, at, seed }) {
  const random = (below) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((seed / 2 ** 31) * below);
  };
  const task = document.querySelector("[aria-label=Task]");
  const frame = () => new Promise((next) => requestAnimationFrame(next));
  const press = (name) => {
    const target = document.activeElement;
    const [key, modifier] = name.split("+").reverse();
    const options = { key, bubbles: true, cancelable: true, ctrlKey: modifier === "Control", metaKey: modifier === "Meta" };
    const passed = target.dispatchEvent(new KeyboardEvent("keydown", options));
    // What a browser does with a key on a button.
    if (passed && target instanceof HTMLButtonElement && (key === "Enter" || key === " ")) target.click();
  };
  const click = () => {
    const target = document.elementFromPoint(at.x, at.y);
    for (const type of ["pointerdown", "mousedown", "pointerup", "mouseup", "click"]) target?.dispatchEvent(new MouseEvent(type, { bubbles: true, cancelable: true }));
    task.focus();
  };
  const missed = [];
  for (let round = first; round < first + rounds; round += 1) {
    const approval = { type: "approval", approvalId: `a${round}`, callId: `c${round}`, action: "run", argv: ["touch", "x"], cwd: ".", why: "it changes files" };
    const actions = Array.from({ length: 1 + random(4) }, () => (random(8) === 0 ? click : () => press(keys[random(keys.length)])));
    actions.splice(random(actions.length), 0, () => window.emit({ ...approval, state: "requested" }));
    // The card is drawn in a frame: somewhere before, between or after the actions.
    const drawn = random(actions.length);
    for (const [place, act] of actions.entries()) {
      act();
      if (place === drawn) await frame();
    }
    if (document.activeElement !== task) missed.push(round);
    window.emit({ ...approval, state: "denied", scope: "once" });
  }
  return missed;
}
