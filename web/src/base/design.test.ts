// DESIGN.md holds lists; the style sheets and the sources keep to them.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const design = readFileSync("DESIGN.md", "utf8");
const listed = (name: string): Set<string> => {
  const found = new RegExp(`^${name} in px: ([\\d. ]+)$`, "m").exec(design);
  return new Set((found?.[1] ?? assert.fail(`DESIGN.md has no list of ${name}`)).trim().split(" "));
};
const sheets = readdirSync("css").map((f) => ({ f, css: readFileSync(`css/${f}`, "utf8").replace(/\/\*[\s\S]*?\*\//g, "") }));
const sources = readdirSync("src", { recursive: true })
  .map(String)
  .filter((f) => /\.tsx?$/.test(f) && !/\.test\./.test(f) && !f.startsWith("text/"));

test("every size of type is of the scale", () => {
  const sizes = listed("Sizes");
  for (const { f, css } of sheets)
    for (const m of css.matchAll(/(?:font-size: |font: (?:\d{3} )?)([\d.]+)px/g))
      assert.ok(sizes.has(m[1] ?? ""), `${f}: ${m[0]}`);
});

test("every radius is of the scale", () => {
  const radii = listed("Radii");
  for (const { f, css } of sheets)
    for (const m of css.matchAll(/border-radius: ([^;}]*)/g))
      for (const r of (m[1] ?? "").matchAll(/([\d.]+)(?:px|(?=\s|$))/g)) assert.ok(radii.has(r[1] ?? ""), `${f}: ${m[0]}`);
});

test("colors are tokens: no sheet but theirs has one, ink on heat and paper aside", () => {
  for (const { f, css } of sheets.filter((s) => s.f !== "tokens.css"))
    for (const line of css.split("\n").filter((l) => /#[0-9A-Fa-f]{3,8}\b/.test(l.replace(/url\(#\w+\)/g, ""))))
      assert.match(line, /\.heat-(low|high)|background: #FFF; font-size: 10pt|#page/, `${f}: ${line.trim()}`);
});

test("only what floats has a shadow, and nothing a gradient but the rail of a slider", () => {
  for (const { f, css } of sheets)
    for (const line of css.split("\n")) {
      if (/gradient\(/.test(line)) assert.match(line, /\.why-scale/, `${f}: ${line.trim()}`);
      for (const m of line.matchAll(/box-shadow: ([^;}]*)/g))
        assert.match(m[1] ?? "", /var\(--float\)|none|^inset |0 0 0 1px|0 1px 0/, `${f}: ${m[0]}`);
    }
});

test("words are shortened in the places that DESIGN.md names, and nowhere else", () => {
  const named = [...design.matchAll(/`((?:base|draw)\/[\w/-]+\.ts)`/g)].map((m) => m[1]);
  const cuts = sources.filter((f) =>
    /\.slice\([^)]*\)[^`]*\}…`|\.slice\(0[^)]*\)\s*\+\s*"…"/.test(readFileSync(`src/${f}`, "utf8")),
  );
  for (const f of cuts) assert.ok(named.includes(f), `${f} shortens words`);
  assert.ok(cuts.includes("base/text-width.ts"), String(cuts));
});
