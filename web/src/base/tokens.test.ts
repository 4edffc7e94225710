// Contrasts of the token file: text at least 4.5:1, marks at least 3:1, in both themes.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { contrast } from "./scale.ts";

const css = readFileSync("css/tokens.css", "utf8");
const [light = "", dark = ""] = css.split(':root[data-theme="dark"]');

function tokens(text: string): Map<string, string> {
  return new Map([...text.matchAll(/--([\w-]+):\s*(#[0-9A-Fa-f]{6})\s*;/g)].map((m) => [m[1] as string, m[2] as string]));
}

const GROUNDS = ["page", "surface", "sunken", "hover", "selected"];
const MARKS = ["kernel", "memcpy", "memset", "communication", "runtime", "data_loader", "cpu_exec", "accent"];

for (const [theme, text] of [
  ["light", light],
  ["dark", dark],
] as const) {
  const all = tokens(text);
  const at = (name: string) => all.get(name) ?? assert.fail(`${theme}: no token ${name}`);
  test(`${theme}: text reads on every ground`, () => {
    for (const ground of GROUNDS)
      for (const name of ["t1", "t2", "t3", "accent-text"])
        assert.ok(contrast(at(name), at(ground)) >= 4.5, `${name} on ${ground}: ${contrast(at(name), at(ground)).toFixed(2)}`);
    for (const name of ["critical", "warning", "info", "good"]) {
      assert.ok(contrast(at(name), at("surface")) >= 4.5, name);
      assert.ok(contrast(at(name), at(`${name}-ground`)) >= 4.5, `${name} on its ground`);
    }
  });
  test(`${theme}: marks stand out from the surface`, () => {
    for (const name of [...MARKS, ...Array.from({ length: 12 }, (_, i) => `c${i + 1}`)])
      assert.ok(contrast(at(name), at("surface")) >= 2.995, `${name}: ${contrast(at(name), at("surface")).toFixed(2)}`);
  });
}
