import { defineConfig } from "vite";

// Builds the package `@rainy-brain/client`.
export default defineConfig({
  build: {
    target: "es2022",
    outDir: "src/client/dist",
    minify: false,
    lib: {
      entry: { index: "src/client/index.ts", react: "src/client/react.ts", bridge: "src/bridge/index.ts" },
      formats: ["es"],
    },
    rolldownOptions: { external: ["react", "eventsource-parser"] },
  },
});
