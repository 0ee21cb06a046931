// Bundles the extension into dist/extension.js, with the client library and the bridge.
import { build } from "esbuild";

await build({
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.js",
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  external: ["vscode", "bufferutil", "utf-8-validate"],
  minify: true,
  legalComments: "none",
  logLevel: "warning",
});
