import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// Builds the panel for the webview.
export default defineConfig({
  root: "webview",
  base: "./",
  plugins: [react()],
  build: {
    outDir: "../dist/panel",
    emptyOutDir: true,
    target: "es2022",
    cssTarget: ["chrome123"],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
  },
});
