import assert from "node:assert/strict";
import { createServer } from "node:http";
import { panel } from "../browser.mjs";

/** Another program takes the port of a killed sidecar. It learns nothing that the next sidecar accepts. */
export default async function ({ sidecar, page, browser }) {
  const { task, send, reaches } = panel(page);
  await page.goto(await sidecar.signInUrl());
  await page.getByRole("list", { name: "Examples" }).getByRole("button").first().waitFor();
  const stored = await page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage }));
  await sidecar.kill();
  const seen = await impostor(sidecar.port, async (recorded) => {
    await until(() => recorded.filter(({ path }) => path.endsWith("/challenge")).length > 2);
    await task.fill("list the files");
    await send.click();
    await page.getByText("does not answer").first().waitFor();
    // What the page loads later is checked against the build.
    assert.deepEqual(await loadLater(page), { tried: true, refused: true, ran: false });
  });
  assert.ok(seen.every(({ path, body }) => path === "/api/brain/session/challenge" || body === ""), "it was told something");

  await sidecar.start();
  for (const { method, path, headers, body } of seen) {
    const given = { ...headers, host: undefined, connection: undefined, "content-length": undefined };
    const kept = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
    const response = await fetch(sidecar.url + path, { method, headers: kept, ...(body ? { body } : {}) });
    const answer = await response.text();
    // The sidecar proves itself to anybody, and the panel's scripts are no secret; that is all.
    if (!path.endsWith("/challenge") && !path.startsWith("/assets/")) assert.equal(response.status, 401, `${method} ${path}`);
    assert.ok(!answer.includes(sidecar.token), `${method} ${path} gave the token away`);
  }
  // Whatever a page of the impostor could have read in the storage is void.
  for (const word of stored.match(/[\w-]{20,}/g) ?? []) {
    const bearer = await fetch(`${sidecar.url}/api/brain/status`, { headers: { Authorization: `Bearer ${word}` } });
    const code = await fetch(`${sidecar.url}/api/brain/session`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ code: word }),
    });
    assert.deepEqual([bearer.status, code.status], [401, 401]);
  }
  await page.getByRole("alert").waitFor({ state: "detached", timeout: 20_000 });
  await send.click();
  await reaches("completed");
  browser.faults.length = 0; // what the impostor answered
}

/** Load scripts of the panel that it has not loaded yet. */
const loadLater = (page) =>
  page.evaluate(async () => {
    const { integrity } = JSON.parse(document.querySelector("script[type=importmap]").textContent);
    const loaded = new Set(performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname));
    const later = Object.keys(integrity).filter((name) => !loaded.has(name));
    const results = await Promise.allSettled(later.slice(0, 3).map((name) => import(name)));
    return { tried: later.length > 0, refused: results.every(({ status }) => status === "rejected"), ran: "ran" in globalThis };
  });

/** A server on this port, which records what it gets and answers as if it knew. */
async function impostor(port, act) {
  const recorded = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    recorded.push({ method: request.method, path: request.url, headers: request.headers, body });
    const answer = { nonce: "n".repeat(43), proof: "p".repeat(43), token: "t".repeat(43), tasks: [], events: [] };
    const isScript = request.url.startsWith("/assets/");
    response
      .writeHead(200, { "Content-Type": isScript ? "text/javascript" : "application/json" })
      .end(isScript ? "globalThis.ran = true;" : JSON.stringify(answer));
  });
  await new Promise((listening, failed) => server.once("error", failed).listen(port, "127.0.0.1", listening));
  try {
    await act(recorded);
  } finally {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  }
  return recorded;
}

async function until(holds) {
  const end = Date.now() + 30_000;
  while (!holds()) {
    assert.ok(Date.now() < end, "nothing came");
    await new Promise((later) => setTimeout(later, 50));
  }
}
