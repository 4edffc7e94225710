// The page in a real browser: every view with real data, numbers equal to the command line's, the ways a
// user takes, accessibility, screenshots. `tests/browser/run [NAME…]` runs the tests whose name contains
// one of the words. TACHO_PAGE=http://… tests a server that is already there.
import { existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { browserPath } from "./path.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const need = [
  [existsSync(join(root, "web/node_modules/playwright-core")), "playwright-core is missing: make web-packages"],
  [browserPath(), "Chromium is not installed: tools/setup browser"],
];
for (const [there, why] of need)
  if (!there) {
    console.log(why);
    process.exit(77);
  }
process.env.CHROMIUM = browserPath();
mkdirSync(join(root, "build/screenshots"), { recursive: true });
const { main } = await import("./suite.mjs");
process.exit(await main(root, process.argv.slice(2))); // a page that hangs must not keep it alive
