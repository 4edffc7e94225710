// Where the browser is: CHROMIUM, then what tools/setup installs (Chromium without its windows, which needs three
// quarters of the time), then any other.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

const NAMES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

export function browserPath() {
  const given = process.env.CHROMIUM;
  if (given) return existsSync(given) ? given : undefined;
  const found = spawnSync("sh", ["-c", NAMES.map((n) => `command -v ${n}`).join(" || ")]);
  return found.stdout.toString().trim() || undefined;
}
