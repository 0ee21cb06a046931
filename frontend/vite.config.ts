import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// `npm run dev` serves the panel with hot reload and passes calls on to a sidecar that allows this origin.
const sidecar = process.env["BRAIN_URL"] ?? "http://127.0.0.1:3847";
// A sidecar takes calls of its own origin only.
const proxy = { target: sidecar, changeOrigin: true, headers: { Origin: sidecar } };

export default defineConfig({
  plugins: [react()],
  build: {
    target: "es2022",
    // The sidecar forbids inline scripts, and a data: URL is no 'self' to its policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
  },
  server: { proxy: { "/api": proxy, "/health": proxy } },
  test: { include: ["src/**/*.test.{ts,tsx}"], environment: "node" },
});
