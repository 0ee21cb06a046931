import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isAllowed } from "./proxy.ts";
import { findSidecar, NotRunning, Sidecar } from "./sidecar.ts";

test("a program that took over the sidecar's port gets no token", async () => {
  const heard: string[] = [];
  const impostor = createServer((request, answer) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      heard.push(`${request.url} ${JSON.stringify(request.headers)} ${body}`);
      answer.setHeader("Content-Type", "application/json");
      answer.end(JSON.stringify({ nonce: "n", proof: "p" }));
    });
  }).listen(0, "127.0.0.1");
  await once(impostor, "listening");
  const data = await mkdtemp(join(tmpdir(), "vscode-sidecar-"));
  try {
    const url = `http://127.0.0.1:${(impostor.address() as AddressInfo).port}`;
    await writeFile(join(data, "sidecar.json"), JSON.stringify({ url, pid: 1 }));
    await writeFile(join(data, "token"), "very-secret-token");
    expect(await findSidecar(data)).toBeUndefined();
    expect(heard).toHaveLength(1);
    expect(heard.join()).not.toContain("very-secret-token");
  } finally {
    impostor.close();
    await rm(data, { recursive: true });
  }
});

test("nothing is started before the first use", async () => {
  const sidecar = new Sidecar(() => ({ command: "/nonexistent", dataDir: "/nonexistent", workspace: undefined }));
  await expect(sidecar.endpoint()).rejects.toBeInstanceOf(NotRunning);
});

test.each([
  ["/api/brain/tasks?limit=1", true],
  ["/health", true],
  ["/api/brain/session/code", false],
  ["/api/brain/session", false],
  ["/api/brain/bridge/ticket", false],
  ["/api/brain/../../metrics", false],
  ["/metrics", false],
  ["/mcp", false],
  ["//evil.example/api/brain/tasks", false],
  ["https://evil.example/api/brain/tasks", false],
  ["/\\evil.example/api/brain/x", false],
  ["api/brain/tasks", false],
])("the panel may ask for %s: %s", (path, allowed) => {
  expect(isAllowed(path)).toBe(allowed);
});
