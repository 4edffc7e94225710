// The Serving view: only servers have it; its numbers are those of the command line; bars, parts and requests lead to the
// timeline; a request's autopsy adds up. The runs are recordings of bench/serving/server.py, with and without its log.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { pictures } from "./pictures.mjs";
import { settled } from "./stand.mjs";
import { addressHas, cells, heading, plain, rowsOf, test, time, visit } from "./tools.mjs";

export function fillServers(s, folder) {
  for (const mode of ["chunked", "prefill_first"]) cpSync(join(s.root, "tests/data/serving", mode), join(folder, mode), { recursive: true });
  for (const run of ["bare", "log", "training"]) mkdirSync(join(folder, run));
  cpSync(join(s.root, "tests/data/serving/chunked/server.pt.trace.json.gz"), join(folder, "bare/server.pt.trace.json.gz"));
  cpSync(join(s.root, "tests/data/serving/prefill_first/requests.jsonl"), join(folder, "log/requests.jsonl"));
  cpSync(join(s.root, "tests/data/sample.pt.trace.json.gz"), join(folder, "training/sample.pt.trace.json.gz"));
}

/** Opens a view of one of these runs; `table` is the command line about it. */
async function on(s, hash, check) {
  const own = await s.also("serving", (folder) => fillServers(s, folder));
  const run = /run=(\w+)/.exec(hash)[1];
  const ask = (analysis) =>
    JSON.parse(execFileSync(s.tacho, [analysis, join(own.folder, run), "-q", "--json", "--limit", "0"], { maxBuffer: 1 << 26 }).toString());
  const table = (analysis, name) => rowsOf(ask(analysis).tables[name]);
  await visit({ ...s, url: own.url }, hash, (page) => check(page, table, ask));
}

const panel = (name) => `section[aria-label='${name}']`;
const words = async (page, name) => plain(await page.textContent(panel(name)));

test("serving: sentence, facts, iterations and parts are those of the command line, in both languages", (s) =>
  on(s, "serving?run=prefill_first", async (page, table, ask) => {
    assert.equal(await heading(page), plain(ask("requests").verdict.text.en)); // it found something; the iterations did not
    const [all] = table("serving", "serving");
    const facts = plain(await page.textContent(".facts"));
    assert.ok(facts.includes(`${all.iterations} iterations`) && facts.includes(`output ${Math.round(all.output_tokens_per_s)} tokens/s`), facts);
    const ttft = table("requests", "latency").find((r) => r.metric === "ttft");
    assert.ok(facts.includes(`first token p50 ${time(ttft.p50)}, p99 ${time(ttft.p99)}`), facts);
    assert.equal(await page.locator(`${panel("Iterations")} svg[data-chart] g.part`).count(), all.iterations);
    for (const phase of table("serving", "phases")) {
      await page.click(`${panel("An iteration")} button[role=radio]:has-text("${phase.phase === "decode" ? "Decode" : "Prefill"}")`);
      await settled(page);
      const parts = table("serving", "parts").filter((r) => r.phase === phase.phase);
      const shown = await cells(page, `${panel("An iteration")} tbody tr:not(.spacer)`);
      assert.equal(shown.filter((line) => !line.startsWith("Total")).length, parts.length);
      for (const p of parts) assert.ok(shown.some((line) => line.includes(`${(p.share * 100).toFixed(1)} %`)), `${p.part} ${shown}`);
    }
    await page.keyboard.press("L");
    await page.waitForSelector(panel("最慢的请求"));
    assert.equal(await heading(page), plain(ask("requests").verdict.text.zh));
  }));

test("serving: bars, parts and requests lead to the timeline", (s) =>
  on(s, "serving?run=chunked", async (page, table) => {
    const rows = table("serving", "iterations");
    const to = async (click, claim) => {
      await click();
      await page.waitForFunction(() => location.hash.startsWith("#/timeline"));
      await addressHas(page, `claim=${claim}`);
      const [from, end] = (await page.evaluate(() => decodeURIComponent(location.hash))).match(/view=(\d+)-(\d+)/).slice(1).map(Number);
      await page.goBack();
      await settled(page);
      return [from, end];
    };
    const longest = rows.reduce((a, b) => (b.duration > a.duration ? b : a));
    const bar = page.locator(`${panel("Iterations")} g.part[aria-label='${longest.step}']`);
    const [from, end] = await to(() => bar.click(), `Iteration ${longest.step}`);
    assert.ok(from <= longest.start - longest.gap_before && end >= longest.start + longest.duration);
    const mixed = rows.filter((r) => r.phase === "mixed").reduce((a, b) => (b.gap_before > a.gap_before ? b : a));
    await to(() => page.click(`${panel("An iteration")} tbody tr:has-text("Gap before")`), `Iteration ${mixed.step}, Gap before: scheduler`);
    const slowest = table("requests", "requests").reduce((a, b) => (b.latency > a.latency ? b : a));
    const place = await to(() => page.click(`${panel("Autopsy")} button:has-text("Show in the timeline")`), slowest.id);
    assert.ok(place[0] <= slowest.arrival && place[1] >= slowest.end);
  }));

test("serving: the autopsy of a request, by its row, its bar and its percentile; its blockers lead on", (s) =>
  on(s, "serving?run=prefill_first", async (page, table) => {
    const requests = table("requests", "requests").sort((a, b) => b.latency - a.latency);
    const slow = await cells(page, `${panel("Slowest requests")} tbody tr:not(.spacer) td:first-child`);
    assert.deepEqual(slow.slice(0, 5), requests.slice(0, 5).map((r) => r.id));
    const second = requests[1];
    await page.click(`${panel("Slowest requests")} tbody tr:has-text("${second.id}")`);
    await addressHas(page, `request=${second.id}`);
    await settled(page);
    const label = plain(await page.getAttribute(`${panel("Autopsy")} svg[data-chart]`, "aria-label"));
    for (const part of ["prefill", "decode", "waiting", "scheduler"]) assert.ok(label.includes(`${part} ${time(second[part])}`), label);
    const waits = table("requests", "blocked_by").filter((r) => r.request === second.id);
    const shown = await cells(page, `${panel("Autopsy")} tbody tr:not(.spacer)`);
    assert.ok(shown[0].startsWith(waits[0].blocker), shown[0]);
    await page.click(`${panel("Autopsy")} tbody tr:has-text("${waits[0].blocker}")`);
    await addressHas(page, `request=${waits[0].blocker}`);
    const ttft = table("requests", "latency").find((r) => r.metric === "ttft");
    await page.click(`${panel("Latency")} button:has-text("p90")`);
    await addressHas(page, `request=${ttft.p90_request}`);
    await page.locator(`${panel("Latency")} svg[data-chart] g.part`).last().click();
    await addressHas(page, `request=${requests.reduce((a, b) => (b.ttft > a.ttft ? b : a)).id}`);
  }));

test("serving: tokens and requests over time; a click shows what ran then", (s) =>
  on(s, "serving?run=chunked&iterations=tokens", async (page) => {
    assert.match(await words(page, "Iterations"), /Prompt.*Output/);
    await page.click(`${panel("Iterations")} button:has-text("Batch")`);
    await settled(page);
    assert.match(await words(page, "Iterations"), /In the server.*In the batch/);
    await page.click(`${panel("Iterations")} svg[data-chart]`, { position: { x: 300, y: 100 } });
    await addressHas(page, "claim=Iteration");
  }));

test("serving: without a log the view says what to do, without iterations it is of requests, without both it is not there", async (s) => {
  await on(s, "serving?run=bare", async (page) => {
    assert.match(await words(page, "Requests"), /requests\.jsonl/);
    assert.equal(await page.locator(panel("Latency")).count(), 0);
  });
  await on(s, "serving?run=log", async (page, table) => {
    assert.equal(await page.locator(panel("Iterations")).count(), 0);
    assert.equal(await page.locator(".rail-link[href='#/serving']").count(), 1);
    assert.match(await words(page, "Latency"), new RegExp(`${table("requests", "requests").length} requests`));
    assert.match(await words(page, "Autopsy"), /is not known/);
  });
  await on(s, "overview?run=training", async (page) => assert.equal(await page.locator(".rail-link[href='#/serving']").count(), 0));
  await on(s, "serving?run=training", async (page) => assert.match(await page.textContent("main"), /not of a server[^]*start_profile/));
});

test("serving: pictures and accessibility", (s) => on(s, "serving?run=chunked", (page) => pictures(s, page, "serving")));
