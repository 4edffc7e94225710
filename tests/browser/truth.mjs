// One truth: everything on one page is about one thing, follows the window, fits the framework, and is never a
// zero where nothing was measured. Numbers are compared with the command line.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openPage, settled } from "./stand.mjs";
import { heading, plain, rowsOf, test, time, visit } from "./tools.mjs";

const panel = (name) => `section[aria-label='${name}']`;
const words = async (page, selector) => plain(await page.textContent(selector));
const thousands = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");
const ms = (ns) => (ns / 1e6).toFixed(2);
const share = (v) => `${(v * 100).toFixed(1)} %`;

/** Operators and nothing that could be a step: two calls, each of another name. */
const UNSTEPPED = {
  schemaVersion: 1,
  traceEvents: ["aten::relu", "aten::tanh"].map((name, i) => ({ ph: "X", cat: "cpu_op", name, pid: 1, tid: 1, ts: 100 * i, dur: 50 })),
};

/** Runs that are not like the others: traces that only lie together, memory alone, no steps, found steps, a cluster. */
function fill(s, folder) {
  const put = (run, name, from) => {
    mkdirSync(join(folder, run), { recursive: true });
    if (existsSync(from)) cpSync(from, join(folder, run, name), { recursive: true });
  };
  const sample = join(s.root, "tests/data/sample.pt.trace.json.gz");
  put("apart", "first.pt.trace.json.gz", sample);
  put("apart", "second.pt.trace.json.gz", sample);
  put("memory", "snapshot.pickle", join(s.root, "tests/data/memory_snapshot.pickle"));
  put("found", "found.pt.trace.json.gz", join(s.data, "serving/unmarked_9_steps.pt.trace.json.gz"));
  put("meg", "one", join(s.data, "megengine/real/train_with"));
  put("cluster", "profiler", join(s.data, "mindspore/mindinsight/tests/utils/resource/profiler"));
  mkdirSync(join(folder, "unstepped"));
  writeFileSync(join(folder, "unstepped/one.pt.trace.json"), JSON.stringify(UNSTEPPED));
}

const on = async (s, hash, check) => {
  const own = await s.also("truth", (folder) => fill(s, folder));
  return visit({ ...s, url: own.url }, hash, check);
};

test("all ranks: numbers, breadcrumb and events are of all; a view of one rank says which", async (s) => {
  const events = s.json("info", "ddp", "--all-workers").quality.events_read;
  const one = s.json("info", "ddp", "--worker", "rank0").quality.events_read;
  const crumb = (page) => words(page, ".crumbs");
  for (const view of ["overview", "operators", "kernels"]) {
    const answer = s.json(view, "ddp", "--all-workers");
    await visit(s, `${view}?run=ddp&worker=*`, async (page) => {
      assert.equal(await heading(page), plain(answer.verdict.text.en));
      assert.match(await crumb(page), /4 ranks/);
      assert.ok((await words(page, ".trust-chip")).includes(`${thousands(events)} events`));
      if (view === "overview") {
        const loader = rowsOf(answer.tables.breakdown).find((r) => r.category === "communication");
        assert.ok((await words(page, panel("Average step"))).includes(share(loader.share)));
        const cpu = rowsOf(answer.tables.spread).find((r) => r.category === "cpu_exec");
        const row = page.locator(`${panel("Across ranks")} tbody tr`, { hasText: "CPU" });
        const ms = (ns) => (ns / 1e6).toFixed(1);
        assert.ok(plain(await row.innerText()).includes([ms(cpu.min), ms(cpu.median), ms(cpu.max), cpu.max_worker, cpu.min_worker].join(" ")));
        return;
      }
      const first = rowsOf(answer.tables[view])[0];
      const row = plain(await page.locator(".main-table tbody tr:not(.spacer)").first().textContent());
      assert.ok(row.includes(thousands(first.calls)), row);
      const most = rowsOf(answer.tables.workers)[0];
      assert.ok((await words(page, `${panel("Across ranks")} tbody tr:not(.spacer)`)).includes(most.worst_worker));
      assert.ok(most.least <= most.median && most.median <= most.worst, JSON.stringify(most));
      const range = await page.locator(`${panel("Across ranks")} .spread-range`).first().getAttribute("aria-label");
      assert.equal(plain(range), [most.least, most.median, most.worst].map(time).join(" – "));
    });
  }
  await visit(s, "steps?run=ddp&worker=*", async (page) => {
    assert.match(await crumb(page), /rank0/);
    assert.ok((await words(page, ".trust-chip")).includes(`${thousands(one)} events`));
    await page.click(".one-rank button");
    await page.click(".one-rank [role^=menuitem]:has-text('rank2')");
    await page.waitForFunction(() => location.hash.includes("worker=rank2"));
    assert.equal(await page.$(".one-rank"), null);
  });
  await visit(s, "distributed?run=ddp", async (page) => {
    assert.match(await crumb(page), /4 ranks/);
    assert.ok((await words(page, ".trust-chip")).includes(`${thousands(events)} events`));
  });
}, ["ddp"]);

test("a chosen step: its collectives alone are counted, of all ranks too", async (s) => {
  const answer = s.json("distributed", "ddp", "--step", "2");
  const sync = rowsOf(answer.tables.synchronization);
  const met = sync.reduce((n, r) => n + r.last, 0);
  assert.equal(met, rowsOf(answer.tables.arrivals).filter((r) => r.late_by === 0).length);
  await visit(s, "distributed?run=ddp&step=2", async (page) => {
    assert.equal(await heading(page), plain(answer.verdict.text.en));
    const rank = answer.verdict.values.rank;
    const last = sync.find((r) => r.rank === rank).last;
    assert.ok((await words(page, ".facts")).includes(`rank ${rank} arrives last in ${last} of ${met} collectives`));
  });
}, ["ddp"]);

test("steps: the overview's lengths and categories; a step trace is for those who write one", async (s) => {
  for (const run of ["ddp", "resnet_w0"]) {
    const worker = run === "ddp" ? "rank0" : "worker0";
    const steps = rowsOf(s.json("overview", run, "--worker", worker).tables.steps);
    await visit(s, `steps?run=${run}`, async (page) => {
      const table = await words(page, `${panel("Steps")} table`);
      const bars = await words(page, panel("All steps"));
      for (const r of steps) {
        assert.ok(table.includes(ms(r.total)), `${ms(r.total)}: ${table}`);
        assert.ok(bars.includes(String(Number((r.total / 1e6).toPrecision(4)))), `${ms(r.total)}: ${bars}`);
      }
      const main = await words(page, "main");
      assert.ok(!/\bTail\b|\bInterval\b|\bFP\b/.test(main), "PyTorch in the words of a step trace");
      assert.match(bars, run === "ddp" ? /Communication/ : /Data loader/);
      await page.click("role=radio[name='Average']");
      await page.waitForFunction(() => location.hash.includes("show=average"));
      assert.match(await words(page, panel("Average step")), run === "ddp" ? /Communication/ : /Data loader/);
    });
  }
}, ["ddp", "resnet_w0"]);

test("with one step chosen nothing speaks of the average or of other steps", async (s) => {
  const step = rowsOf(s.json("overview", "resnet_w0", "--step", "3").tables.steps)[0];
  await visit(s, "overview?run=resnet_w0&step=3", async (page) => {
    assert.ok(await page.$(panel("Step 3")));
    assert.equal(await page.$(panel("Average step")), null);
    assert.ok((await words(page, ".facts")).startsWith("Step 3 takes"));
    assert.ok(!/each step|average step/i.test(await words(page, ".verdict")));
  });
  await visit(s, "steps?run=resnet_w0&step=3", async (page) => {
    assert.equal(await heading(page), plain(s.json("steps", "resnet_w0", "--step", "3").verdict.text.en));
    const facts = await words(page, ".facts");
    assert.ok(facts.includes(`Step 3 takes ${(step.total / 1e6).toPrecision(3)} ms`));
    assert.ok(facts.includes(`largest part: Data loader, ${Math.round((100 * step.data_loader) / step.total)} %`), facts);
  });
  await visit(s, "pipeline?run=resnet_w0&step=3", async (page) => {
    assert.match(await heading(page), /^\d+ % of step 3 the device waits for data$/);
    assert.ok((await words(page, ".facts")).startsWith("Step 3 takes"));
  });
  await visit(s, "why?run=resnet_w0&step=3", async (page) => assert.ok((await words(page, ".facts")).startsWith("Step 3 takes")));
}, ["resnet_w0"]);

test("modules: classes and instances add up to the same forward time", async (s) => {
  const facts = [];
  for (const group of ["name", "type"])
    await visit(s, `modules?run=resnet_w0&group=${group}`, async (page) => facts.push(/forward .*/.exec(await words(page, ".facts"))[0]));
  assert.equal(facts[0], facts[1]);
}, ["resnet_w0"]);

test("traces that are not ranks of one job are not compared", (s) =>
  on(s, "distributed?run=apart&worker=*", async (page) => {
    assert.match(await heading(page), /not ranks of one job/);
    assert.equal(await page.$(panel("Ranks and steps")), null);
    assert.match(await words(page, ".crumbs"), /first/);
    await page.click(".crumbs [data-open=w]");
    await page.waitForSelector(".crumbs [role^=menuitem]:has-text('second')");
    assert.equal(await page.locator(".crumbs [role^=menuitem]:has-text('All ranks')").count(), 0);
  }));

test("a map on which no rank is late shows the steps and has no scale of a nanosecond", (s) =>
  on(s, "distributed?run=cluster/profiler", async (page) => {
    const text = await words(page, panel("Ranks and steps"));
    assert.match(text, /no straggler/);
    assert.ok(!/\b1 ns\b/.test(text), text);
    assert.ok(await page.$(`${panel("Ranks and steps")} [role=radio][aria-checked=true]:has-text('Step')`));
  }), ["mindspore"]);

test("memory: what the allocator takes from the device is told from what operators take", async (s) => {
  const own = await s.also("segments", (folder) => cpSync(join(s.root, "tests/data/paddle"), join(folder, "run"), { recursive: true }));
  await visit({ ...s, url: own.url }, "memory?run=run", async (page) => {
    const rows = rowsOf(JSON.parse(execFileSync(s.tacho, ["memory", join(own.folder, "run"), "-q", "--json", "--limit", "0"]).toString()).tables.events);
    const marked = await page.locator(`${panel("Allocations")} tbody tr`, { hasText: "allocator segment" }).count();
    const device = rows.find((r) => r.kind.startsWith("segment"))?.device;
    assert.equal(marked, rows.filter((r) => r.kind.startsWith("segment") && r.device === device && r.op).length);
    assert.ok(marked > 0);
  });
});

test("memory alone: no zeros for what was not recorded", (s) =>
  on(s, "overview?run=memory", async (page) => {
    assert.match(await heading(page), /Only memory was recorded/);
    assert.equal(await page.$(panel("Average step")), null);
    assert.ok(!/\b0 ns\b/.test(await words(page, "main")));
    await page.click("text=Open Memory");
    await page.waitForFunction(() => location.hash.startsWith("#/memory"));
  }));

test("a recording without steps is called one", (s) =>
  on(s, "overview?run=unstepped", async (page) => {
    assert.ok(await page.$(panel("Recording")));
    assert.equal(await page.$(panel("Steps")), null);
    assert.ok(!/each step|average step|per step/i.test(await words(page, "main")), await words(page, "main"));
  }));

test("steps that were found without marks have their view", (s) =>
  on(s, "steps?run=found", async (page) => {
    assert.match(await heading(page), /^9 steps/);
    assert.equal(await page.locator(`${panel("All steps")} g[role=button]`).count(), 9);
  }), ["unmarked"]);

test("timeline: steps that were found without marks have their lane, and a click chooses one", (s) =>
  on(s, "timeline?run=found", async (page) => {
    const lane = page.locator(".tl-row:has-text('Steps found')");
    assert.equal(await lane.count(), 1);
    const box = await page.locator(".tl canvas").first().boundingBox();
    const row = await lane.boundingBox();
    await page.mouse.click(box.x + box.width * 0.5, row.y + row.height / 2);
    await page.waitForFunction(() => /sel=step:\d/.test(decodeURIComponent(location.hash)));
  }), ["unmarked"]);

test("what to record is said for the framework of the run", async (s) => {
  await visit(s, "pipeline?run=gpt_eager", async (page) => {
    assert.equal(await words(page, ".missing [role=radio][aria-checked=true]"), "PyTorch");
    assert.match(await words(page, ".missing pre"), /DataLoader/);
    assert.ok(!/mindspore/i.test(await words(page, ".missing pre")));
  });
}, ["gpt_eager"]);

test("what a framework cannot record is not explained by another's code", (s) =>
  on(s, "pipeline?run=meg/one", async (page) => {
    assert.match(await words(page, ".missing .facts"), /MegEngine's profiler does not record this/);
    assert.equal(await page.$(".missing pre"), null);
  }), ["megengine"]);

test("what ails every panel is said once; none waits for ever, and no number of another run is left", async (s) => {
  const { page, context } = await openPage(s, "overview?run=resnet_w0"); // the console tells of every answer that failed
  try {
    await settled(page);
    const gone = JSON.stringify({ error: { code: "io", msg: "the disk is gone", id: "", values: {}, offset: null } });
    const fail = (r) => r.fulfill({ status: 500, contentType: "application/json", body: gone });
    await page.route(/api\/v1\/(overview|advise|steps|kernels|memory)/, fail);
    for (const view of ["overview", "steps", "kernels", "memory"]) {
      await page.goto(`${s.url}/#/${view}?run=gpt_eager`);
      await page.waitForSelector(".failure");
      await page.waitForFunction(() => !document.querySelector("[aria-busy=true], .waiting"));
      const said = (await page.textContent("main")).match(/the disk is gone/g);
      assert.equal(said?.length, 1, view);
      assert.ok(!/89\.9|93\.0/.test(await page.textContent("main")), view); // of the run before
    }
  } finally {
    await context.close();
  }
}, ["resnet_w0", "gpt_eager"]);

test("without an answer no numbers are made up", (s) =>
  visit(s, "overview?run=sample", async (page) => {
    await page.route("**/api/v1/kernels*", () => {}); // never answered
    await page.click("role=link[name='Kernels']");
    await page.waitForSelector("main h1 >> text=Kernels");
    assert.equal(await words(page, ".facts"), "");
  }));
