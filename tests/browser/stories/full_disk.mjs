import { spawnSync } from "node:child_process";
import { mkdtemp, rm, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { panel } from "../browser.mjs";

const MOUNT = 'mount -t tmpfs -o size=2m,mode=700 tmpfs "$1" && shift && exec "$@"';

export async function before() {
  if (spawnSync("unshare", ["-m", "true"]).status !== 0) return { skip: "mounting is not allowed here" };
  const scripts = await mkdtemp(join(tmpdir(), "brain-scripts-"));
  const speaks = { text: "Waiting.", calls: [{ tool: "run_command", args: { command: "cat go" } }], delayMs: 1_000 };
  await writeFile(join(scripts, "slow.json"), JSON.stringify([speaks, { text: `Done. ${"x".repeat(2_000)}`, delayMs: 1_000 }]));
  return {
    environ: { BRAIN_SCRIPTS: scripts },
    launcher: (data) => ["unshare", "-m", "sh", "-c", MOUNT, "sh", data],
    end: () => rm(scripts, { recursive: true }),
  };
}

/** The disk is full while a task works: the panel says why nothing happens, and goes on when there is room. */
export default async function ({ sidecar, page }) {
  const { conversation, reaches } = panel(page);
  const model = "scripted/slow";
  const models = { fast: model, smart: model, instant: model };
  await sidecar.write("go", "go");
  await sidecar.execute("wait", { models, intent: "run_command", agentType: "terminal", approvals: "auto", verify: "off" });
  const filler = sidecar.inside(join(sidecar.data, "filler"));
  await fill(filler);
  await page.goto(await sidecar.signInUrl());
  await page.getByRole("alert").filter({ hasText: "full" }).waitFor();
  await unlink(filler);
  await reaches("completed");
  await page.getByRole("alert").waitFor({ state: "detached" });
  await conversation.getByText("Done.").first().waitFor();
}

async function fill(path) {
  for (const size of [1 << 16, 512, 1]) {
    let room = true;
    while (room) room = await writeFile(path, Buffer.alloc(size), { flag: "a" }).then(() => true, () => false);
  }
}
