// What the tests share: opening a view and demanding that nothing went wrong, reading tables.
import assert from "node:assert/strict";
import { openPage, settled } from "./stand.mjs";

export const tests = [];
/** Registers a test; `needs` are the runs of the real data it cannot do without. */
export const test = (name, run, needs = []) => tests.push({ name, run, needs });

export const rowsOf = (table) => table.rows.map((r) => Object.fromEntries(table.columns.map((c, i) => [c.name, r[i]])));
export const plain = (text) => text.replace(/[\s\u2009\u202f]+/g, " ").trim();
export const heading = async (page) => plain(await page.textContent("h1"));
export const cells = (page, selector) => page.$$eval(selector, (list) => list.map((e) => e.textContent.replace(/\s+/g, " ").trim()));

/** What `short` of the page writes of a time: three significant digits and a unit. */
export function time(ns) {
  const [factor, unit] = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]].find(([f]) => ns >= f) ?? [1, "ns"];
  const v = ns / factor;
  return `${v.toFixed(factor === 1 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(v || 1))))} ${unit}`;
}

/** Waits for the address to contain a text. */
export const addressHas = (page, text) => page.waitForFunction((t) => decodeURIComponent(location.hash).includes(t), text);
export const addressLacks = (page, text) => page.waitForFunction((t) => !decodeURIComponent(location.hash).includes(t), text);

/** Opens a view, lets it settle, runs the check, and demands that nothing went wrong on the way. */
export async function visit(s, hash, check, options) {
  const { page, context, faults, done } = await openPage(s, hash, options);
  let went = false;
  try {
    await settled(page);
    await check(page, context);
    assert.deepEqual(faults, []);
    went = true;
  } finally {
    await (went ? done() : context.close());
  }
}
