// node tests/browser/browser_server.mjs: one Chromium for several stories. Prints its address; ends with standard input.
import { CHROMIUM, FLAGS, require } from "./browser.mjs";

const { chromium } = require("playwright-core");
const server = await chromium.launchServer({ executablePath: CHROMIUM, args: FLAGS, host: "127.0.0.1" });
console.log(server.wsEndpoint());
process.stdin.resume().on("end", () => server.close());
