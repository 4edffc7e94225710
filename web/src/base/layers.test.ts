// Which folder may import from which: base ← api ← model ← views, base ← draw ← views, base ← widgets ← views.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const MAY: Record<string, readonly string[]> = {
  base: [],
  text: [],
  api: ["base"],
  draw: ["base"],
  widgets: ["base"],
  model: ["base", "api", "text", "draw"], // the timeline's frame state knows the geometry it is drawn with
  views: ["base", "api", "model", "draw", "widgets"],
};

test("imports follow the layers, and files stay short", () => {
  for (const file of readdirSync("src", { recursive: true }) as string[]) {
    if (!/\.tsx?$/.test(file) || !file.includes("/")) continue;
    const text = readFileSync(`src/${file}`, "utf8");
    const folder = file.split("/")[0] as string;
    const written = !/\.test\.ts$/.test(file) && !text.startsWith("// made by tools/generate");
    if (written) assert.ok(text.split("\n").length <= 401, `${file} has more than 400 lines`);
    for (const [, target = ""] of text.matchAll(/from "\.\.\/(\w+)\//g))
      assert.ok(target === folder || MAY[folder]?.includes(target), `${file} imports from ${target}`);
    assert.ok(!/^export default/m.test(text), `${file} has a default export`);
  }
});
