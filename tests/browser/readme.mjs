// node tests/browser/readme.mjs: runs the code of the client library's README against a real sidecar.
import { spawnSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Sidecar } from "./sidecar.mjs";

const client = resolve(dirname(fileURLToPath(import.meta.url)), "../../frontend/src/client");
const built = spawnSync("npm", ["run", "--silent", "build:client"], { cwd: resolve(client, "../.."), encoding: "utf8" });
if (built.status !== 0) throw new Error(built.stdout + built.stderr);
const code = /```js\n([\s\S]*?)```/.exec(await readFile(join(client, "README.md"), "utf8"))[1];
const script = join(client, "dist", "readme.mjs");
await writeFile(script, code);
const sidecar = await Sidecar.start({ "hello.txt": "hello\n" });
try {
  const env = { ...process.env, BRAIN_URL: sidecar.url, BRAIN_TOKEN: sidecar.token };
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], { env, encoding: "utf8", timeout: 30_000 });
  if (status !== 0 || !stdout.includes("completed") || !stdout.includes("hello.txt")) throw new Error(stdout + stderr);
  console.log(stdout);
} finally {
  await sidecar.close();
}
