import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

// `npm run dev` serves the panel with hot reload and forwards API calls to a sidecar.
const sidecar = process.env["BRAIN_URL"] ?? "http://127.0.0.1:3847";
// A sidecar accepts calls from its own origin only.
const proxy = { target: sidecar, changeOrigin: true, headers: { Origin: sidecar } };

/** What the page loads later must be of this build too, whoever answers on the sidecar's port by then. */
function integrity(): Plugin {
  return {
    name: "integrity",
    apply: "build",
    writeBundle({ dir }, bundle) {
      if (dir === undefined || bundle["index.html"] === undefined) return;
      const scripts = Object.keys(bundle).filter((name) => name.endsWith(".js"));
      const sha384 = (name: string) =>
        `sha384-${createHash("sha384")
          .update(readFileSync(join(dir, name)))
          .digest("base64")}`;
      const map = { integrity: Object.fromEntries(scripts.map((name) => [`/${name}`, sha384(name)])) };
      const page = join(dir, "index.html");
      const html = readFileSync(page, "utf8");
      const tag = `<script type="importmap">${JSON.stringify(map)}</script>`;
      // A preload without the hash that the map demands would be loaded a second time.
      const preloads = html.replace(
        /<link rel="modulepreload"([^>]*) href="\/([^"]+)"/g,
        (link, _, name: string) => `${link} integrity="${sha384(name)}"`,
      );
      writeFileSync(page, preloads.replace("<script", `${tag}\n    <script`));
    },
  };
}

export default defineConfig({
  plugins: [react(), integrity()],
  build: {
    // Browsers with `light-dark()`.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    target: "es2022",
    // The sidecar's policy allows neither inline scripts nor data: URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
  },
  server: { proxy: { "/api": proxy, "/health": proxy } },
  test: { include: ["{src,vscode/src}/**/*.test.{ts,tsx}"], environment: "node" },
});
