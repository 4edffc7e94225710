// The History view: a folder of baselines in which the kernels become longer at one commit. The verdict, the changes and the
// runs are those of the command line; a run without baselines says how to make them.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pictures } from "./pictures.mjs";
import { settled } from "./stand.mjs";
import { heading, plain, rowsOf, test, visit } from "./tools.mjs";

const RUNS = 12;
const CHANGED = 7; // the first run with longer kernels

/** A PyTorch trace of eight steps; the lengths differ a little from step to step and from run to run. */
function made(run) {
  const events = [];
  let now = 0;
  let correlation = 0;
  for (let step = 0; step < 8; step++) {
    const begin = now;
    for (let i = 0; i < 10; i++) {
      const uneven = 1 + (((run * 7 + step * 5 + i * 3) % 11) - 5) / 400;
      const kernel = (run < CHANGED ? 20 : 27) * uneven;
      const args = { correlation: ++correlation };
      events.push({ ph: "X", cat: "cpu_op", name: "aten::mm", pid: 1, tid: 1, ts: now, dur: 25 });
      events.push({ ph: "X", cat: "cuda_runtime", name: "cudaLaunchKernel", pid: 1, tid: 1, ts: now + 1, dur: 1, args });
      events.push({ ph: "X", cat: "kernel", name: "gemm", pid: 0, tid: 7, ts: now + 30, dur: kernel, args: { ...args, device: 0, stream: 7 } });
      now += 30 + kernel;
    }
    events.push({ ph: "X", cat: "user_annotation", name: `ProfilerStep#${step}`, pid: 1, tid: 1, ts: begin, dur: now - begin });
    now += 1;
  }
  return JSON.stringify({ baseTimeNanoseconds: (1_700_000_000 + 3600 * run) * 1e9, traceEvents: events });
}

async function fill(s, folder) {
  for (const name of ["commits", "plain"]) mkdirSync(join(folder, name));
  cpSync(join(s.root, "tests/data/sample.pt.trace.json.gz"), join(folder, "plain/sample.pt.trace.json.gz"));
  for (let run = 0; run < RUNS; run++) {
    const trace = join(folder, "made.json");
    writeFileSync(trace, made(run));
    const commit = `${String(run).padStart(2, "0")}c0ffee1234`;
    execFileSync(s.tacho, ["baseline", trace, "-o", join(folder, "commits", `${commit}.tacho`), "--commit", commit, "-q"]);
  }
}

/** A server of these baselines, and what the command line says of them. */
export async function openHistory(s) {
  const own = await s.also("history", (folder) => fill(s, folder));
  const words = ["history", join(own.folder, "commits"), "-q", "--json", "--limit", "0"];
  return { own: { ...s, url: own.url }, answer: JSON.parse(execFileSync(s.tacho, words).toString()) };
}

test("history: verdict, changes and runs are those of the command line", async (s) => {
  const { own, answer } = await openHistory(s);
  await visit(own, "history?run=commits", async (page) => {
    await settled(page);
    assert.equal(await heading(page), plain(answer.verdict.text.en));
    const changes = rowsOf(answer.tables.changes);
    assert.deepEqual(changes.map((c) => [c.metric, c.at]), [["step", CHANGED], ["device", CHANGED]]);
    assert.equal(await page.locator(".chart svg").count(), 4, "step, device, host and kernels");
    assert.equal(await page.locator(".chart .empty-mark").count(), changes.length, "a mark for each change");
    const text = await page.locator("main").innerText();
    assert.match(text, /07c0ffee12/);
    assert.match(text, /\+3[3-7]\.\d\s?%/); // the device: 20 µs to 27 µs
    assert.match(text, /06c0ffee12/, "the commit before");
  });
});

test("history: a run without baselines says how to make them", async (s) => {
  const { own } = await openHistory(s);
  await visit(own, "history?run=plain", async (page) => {
    await settled(page);
    assert.match(await page.locator("main").innerText(), /tacho baseline RUN/);
  });
});

test("history: pictures in both themes and languages, without a serious fault of accessibility", async (s) => {
  const { own, answer } = await openHistory(s);
  await visit(own, "history?run=commits", async (page) => {
    await pictures(s, page, "history");
    assert.equal(await heading(page), plain(answer.verdict.text.zh));
  });
});
