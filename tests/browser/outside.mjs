// node tests/browser/outside.mjs: the page of EMBED.md in a project outside of the repository, with the packed client.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Browser } from "./browser.mjs";
import { Sidecar } from "./sidecar.mjs";

const frontend = resolve(dirname(fileURLToPath(import.meta.url)), "../../frontend");
const project = await mkdtemp(join(tmpdir(), "outside-"));
const run = (command, args, cwd) => execFileSync(command, args, { cwd, encoding: "utf8" });

/** Installs the package as npm packs it; what it depends on comes from the frontend's packages. */
async function install() {
  run("npm", ["run", "--silent", "build:client"], frontend);
  const packed = JSON.parse(run("npm", ["pack", "--json", "--pack-destination", project], join(frontend, "src/client")));
  const own = join(project, "node_modules/@rainy-brain/client");
  await mkdir(own, { recursive: true });
  run("tar", ["-xzf", join(project, packed[0].filename), "--strip-components=1", "-C", own], project);
  for (const name of ["react", "react-dom", "eventsource-parser", "@types", "scheduler"]) {
    await symlink(join(frontend, "node_modules", name), join(project, "node_modules", name));
  }
}

async function buildPage() {
  const code = /```tsx\n([\s\S]*?)```/.exec(await readFile(join(frontend, "EMBED.md"), "utf8"))[1];
  await writeFile(join(project, "page.tsx"), code);
  await writeFile(join(project, "package.json"), '{"type": "module"}');
  await writeFile(join(project, "index.html"), '<!doctype html><div id="root"></div><script type="module" src="/page.tsx"></script>');
  const options = { strict: true, noEmit: true, jsx: "react-jsx", module: "esnext", moduleResolution: "bundler", target: "es2022" };
  const compilerOptions = { ...options, lib: ["es2023", "dom", "dom.iterable"], types: [], skipLibCheck: false };
  await writeFile(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["page.tsx"] }));
  run(join(frontend, "node_modules/.bin/tsc"), ["--project", project], project);
  const { build } = await import(pathToFileURL(join(frontend, "node_modules/vite/dist/node/index.js")));
  await build({ root: project, configFile: false, logLevel: "error", build: { outDir: join(project, "dist") } });
}

/** Serves the built page on another origin than the sidecar's. */
async function serve() {
  const kinds = { ".js": "text/javascript", ".html": "text/html" };
  const server = createServer(async (request, response) => {
    const path = request.url === "/" ? "/index.html" : request.url;
    const body = await readFile(join(project, "dist", path)).catch(() => undefined);
    response.writeHead(body ? 200 : 404, { "Content-Type": kinds[path.slice(path.lastIndexOf("."))] ?? "text/plain" }).end(body);
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return server;
}

await install();
await buildPage();
const server = await serve();
const origin = `http://127.0.0.1:${server.address().port}`;
const sidecar = await Sidecar.start({ "hello.txt": "hello\n" }, { BRAIN_ALLOWED_ORIGINS: origin });
const browser = await Browser.open();
try {
  const { page } = await browser.window();
  const shell = { url: sidecar.url, token: sidecar.token, openFile: "hello.txt" };
  await page.addInitScript((given) => {
    globalThis.shell = given;
  }, shell);
  await page.goto(origin);
  await page.getByLabel("Task").fill("list the files");
  const sent = page.waitForRequest("**/api/brain/execute");
  await page.getByRole("button", { name: "Send" }).click();
  assert.deepEqual((await sent).postDataJSON().context, { currentFile: "hello.txt" });
  await page.getByRole("status").getByText("completed").waitFor();
  await page.getByText("hello.txt").first().waitFor();

  // Cancel and resume act on the task that waits for an approval.
  await page.getByLabel("Task").fill("run the command touch made.txt");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("status").getByText("waiting").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("status").getByText("cancelled").waitFor();
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByRole("status").getByText("waiting").waitFor();
  assert.deepEqual(browser.faults, []);
  console.log("completed");
} finally {
  await browser.close();
  await sidecar.close();
  server.close();
  await rm(project, { recursive: true, force: true });
}
