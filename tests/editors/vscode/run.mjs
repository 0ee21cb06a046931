// node tests/editors/vscode/run.mjs STORY: runs one story in VS Code and reports why it failed.
import { join } from "node:path";
import { tmpdir } from "node:os";
import { Editor } from "./code_server.mjs";

const name = process.argv[2];
const { default: run, files } = await import(`./stories/${name}.mjs`);
const editor = await Editor.open(files);
try {
  await run(editor);
  console.log(`passed: ${name}`);
} catch (error) {
  const picture = join(process.env.BRAIN_PICTURES ?? tmpdir(), `vscode-${name}.png`);
  await editor.page?.screenshot({ path: picture }).catch(() => {});
  console.error(`${error.stack}\nPicture: ${picture}\ncode-server: ${editor.log.slice(-3000)}`);
  process.exitCode = 1;
} finally {
  await editor.close();
}
