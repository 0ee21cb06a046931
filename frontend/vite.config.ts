import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// `npm run dev` serves the panel with hot reload and forwards API calls to a sidecar.
const sidecar = process.env["BRAIN_URL"] ?? "http://127.0.0.1:3847";
// A sidecar accepts calls from its own origin only.
const proxy = { target: sidecar, changeOrigin: true, headers: { Origin: sidecar } };

export default defineConfig({
  plugins: [react()],
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
