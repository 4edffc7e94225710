// A run of a thousand ranks: what the page asks for, holds and draws is bounded by what can be seen. Counted is work
// (rows, bytes, nodes, fills), not time: a busy machine does not change it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { openPage, settled } from "./stand.mjs";
import { test } from "./tools.mjs";

const RANKS = 1024;
const STEPS = 10;

const thousand = (s) =>
  s.also("thousand ranks", (folder) => s.makeCluster(`${folder}/run`, "--ranks", RANKS, "--steps", STEPS, "--gzip"));

/** Rows and bytes of the answers about all workers. */
function weigh(page) {
  const sum = { rows: 0, bytes: 0, answers: 0, tables: {} };
  page.on("response", async (r) => {
    if (!/\/api\/v1\/(distributed|overview|advise)/.test(r.url()) || r.status() !== 200) return; // 202: still loading
    const body = await r.body().catch(() => Buffer.alloc(0));
    if (!body.length) return;
    sum.answers++;
    sum.bytes += body.length;
    for (const [name, t] of Object.entries(JSON.parse(body).tables)) {
      sum.rows += t.rows.length;
      sum.tables[name] = (sum.tables[name] ?? 0) + t.rows.length;
    }
  });
  return sum;
}

/** Counts what is drawn on canvases and how often elements change, from the first script on. */
const count = () => {
  globalThis.work = { fills: 0, changes: 0 };
  const real = CanvasRenderingContext2D.prototype.fillRect;
  CanvasRenderingContext2D.prototype.fillRect = function (...a) {
    globalThis.work.fills++;
    return real.apply(this, a);
  };
  new MutationObserver((list) => {
    globalThis.work.changes += list.length;
  }).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
};

const panel = (name) => `section[aria-label='${name}']`;

test("a thousand ranks: sent and drawn is only what can be seen", async (s) => {
  const other = await thousand(s);
  const { page, context, faults } = await openPage({ ...s, url: other.url }, "overview");
  try {
    await page.waitForFunction(async () => {
      const { summaries } = await (await fetch("/api/v1/runs")).json();
      return summaries.total === 1024 && summaries.done === summaries.total;
    }, undefined, { timeout: 300_000, polling: 500 });
    await page.addInitScript(count);
    const sent = weigh(page);
    await page.goto(`${other.url}/#/distributed`);
    await page.reload();
    await page.waitForSelector(`${panel("Ranks and steps")} .heat-many canvas`, { timeout: 120_000 });
    await settled(page);
    await page.waitForFunction(() => !document.querySelector("[role=progressbar]"));
    const drawn = await page.evaluate(() => ({ ...globalThis.work, nodes: document.querySelectorAll("*").length }));
    if (process.env.TACHO_BROWSER_TIMES) console.log(JSON.stringify({ ...sent, ...drawn }));
    // Each cell of the map, a few thousand arrivals, a row or two for each rank; tables by the page.
    assert.equal(sent.tables.heat_map, RANKS * STEPS);
    assert.ok(sent.tables.arrivals <= 4096, `${sent.tables.arrivals} arrivals`);
    assert.ok(sent.tables.collectives <= 400 && sent.tables.devices <= 400, "tables come by the page");
    assert.ok(sent.rows <= RANKS * STEPS + 4096 + 2 * RANKS + 2500, `${sent.rows} rows were sent: ${JSON.stringify(sent.tables)}`);
    assert.ok(sent.bytes <= 2_000_000, `${sent.bytes} bytes were sent`);
    assert.ok(drawn.nodes <= 4000, `${drawn.nodes} elements`);
    assert.ok(drawn.fills <= 4 * (RANKS * STEPS + RANKS * 64), `${drawn.fills} cells were drawn`);

    // Moving over the map: the crosshair moves, no cell is drawn again, the page is not built
    // again.
    const map = page.locator(`${panel("Ranks and steps")} .heat-many canvas`);
    await map.evaluate((e) => e.scrollIntoView({ block: "start" })); // its top, below the page's own bar
    const at = await map.boundingBox();
    const box = { x: at.x, y: at.y + 200 };
    await page.mouse.move(box.x + 10, box.y + 10);
    const before = await page.evaluate(() => ({ ...globalThis.work }));
    const MOVES = 40;
    for (let i = 0; i < MOVES; i++) await page.mouse.move(box.x + 20 + 5 * i, box.y + 20 + 3 * i);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const after = await page.evaluate(() => ({ ...globalThis.work }));
    assert.equal(after.fills - before.fills, 0, "cells were drawn again under the pointer");
    assert.ok(after.changes - before.changes <= 20 * MOVES, `${(after.changes - before.changes) / MOVES} changes for each move`);
    assert.match(await page.textContent(`${panel("Ranks and steps")} .map-line`), /rank \d+, Step \d+/);

    // Another measure: only the map is drawn again, nothing is asked again.
    const answers = sent.answers;
    await page.click(`${panel("Ranks and steps")} >> role=radio[name='Computation']`);
    await settled(page);
    const again = await page.evaluate(() => ({ ...globalThis.work }));
    assert.ok(again.fills - after.fills <= 2 * RANKS * STEPS, `${again.fills - after.fills} cells for another measure`);
    assert.equal(sent.answers, answers);
    assert.deepEqual(faults, []);
  } finally {
    await context.close();
  }
}, ["gentrace"]);

test("distributed: a step of all ranks, where the waiting comes from, and the longest chain", async (s) => {
  const { lanes, chain, origins } = s.json("distributed", "ddp", "--all-workers").tables;
  const { page, context, faults } = await openPage(s, "distributed?run=ddp");
  try {
    await settled(page);
    assert.equal(await page.locator(`${panel("A step of all ranks")} svg[data-chart] rect.part`).count(), lanes.rows.length);
    assert.equal(await page.locator(`${panel("The longest chain")} li`).count(), chain.rows.length);
    assert.equal(await page.locator(`${panel("Where the waiting comes from")} li`).count() > 0, origins.rows.length > 0);
    await page.click(`${panel("A step of all ranks")} >> role=radio[name='By rank']`);
    const names = await page.locator(`${panel("A step of all ranks")} .lane-name`).allTextContents();
    assert.deepEqual(names, [...names].sort());
    await page.locator(`${panel("A step of all ranks")} svg[data-chart] rect.part`).first().click();
    await page.waitForFunction(() => /#\/timeline/.test(location.href));
    assert.deepEqual(faults, []);
  } finally {
    await context.close();
  }
}, ["ddp"]);

test("distributed: while summaries are made the page says how many are", async (s) => {
  const { page, context } = await openPage(s, "runs");
  try {
    await page.route("**/api/v1/runs*", async (route) => {
      const answer = await (await route.fetch()).json();
      await route.fulfill({ json: { ...answer, summaries: { done: 3, total: 9 } } });
    });
    await page.route("**/api/v1/distributed*", () => {}); // never answered
    await page.route("**/api/v1/info*", () => {}); // which would say that this run has nothing to wait for
    await page.goto(`${s.url}/#/distributed?run=sample`);
    await page.reload();
    await page.waitForFunction(() => /3 of 9/.test(document.querySelector("main h1")?.textContent ?? ""));
    const bar = page.locator("[role=progressbar]");
    assert.deepEqual([await bar.getAttribute("aria-valuenow"), await bar.getAttribute("aria-valuemax")], ["3", "9"]);
    assert.match(await bar.getAttribute("aria-label"), /3 of 9/);
  } finally {
    await context.close();
  }
});

test("a reduced run: overview, advice and ranks without any trace", async (s) => {
  const other = await s.also("reduced run", (folder) =>
    execFileSync(s.tacho, ["reduce", `${s.data}/pytorch/ddp`, "-o", `${folder}/run.tacho`, "-q"]),
  );
  const answer = JSON.parse(execFileSync(s.tacho, ["distributed", `${other.folder}/run.tacho`, "--json", "-q"]).toString());
  for (const view of ["overview", "distributed", "operators", "kernels"]) {
    const { page, context, faults } = await openPage({ ...s, url: other.url }, view);
    try {
      await settled(page);
      assert.deepEqual(faults, []);
      if (view !== "distributed") continue;
      assert.equal(await page.locator(`${panel("Ranks and steps")} .heat g.part`).count(), answer.tables.heat_map.rows.length);
      assert.ok((await page.textContent("main h1")).length > 10);
    } finally {
      await context.close();
    }
  }
}, ["ddp"]);
