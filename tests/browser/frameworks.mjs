// Runs of MindSpore and MegEngine, and what our own recordings say about their data: the ways their users take. One run
// is made here from a list of launches (tests/oracle/made_mindspore.py) and the queues of tests/data/mindspore_input;
// others come from the real data, where it is there. Numbers are held against the command line.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { pictures } from "./pictures.mjs";
import { settled } from "./stand.mjs";
import { addressHas, addressLacks, plain, rowsOf, test, time, visit } from "./tools.mjs";

const INSIGHT = "mindspore/mindinsight/tests/utils/resource";
const REAL = {
  ascend: `${INSIGHT}/run_1/normal_run/profiler`,
  aicpu: `${INSIGHT}/run_2/normal_run/profiler`,
  cluster: `${INSIGHT}/cluster_propose`,
  split: `${INSIGHT}/parallel_strategy`,
  meg: "megengine/real/memory_flow",
};

export async function fill(s, folder) {
  const made = join(folder, "made");
  mkdirSync(made);
  const write = "import sys; sys.path.insert(0, sys.argv[1]); import made_mindspore; made_mindspore.write(sys.argv[2])";
  execFileSync("python3", ["-c", write, join(s.root, "tests/oracle"), made]);
  cpSync(join(s.root, "tests/data/mindspore_input"), made, { recursive: true });
  mkdirSync(join(folder, "own"));
  writeFileSync(join(folder, "own/recording.tacho"), gunzipSync(readFileSync(join(s.root, "tests/data/recording_v1.tacho.gz"))));
  mkdirSync(join(folder, "flow"));
  const svg = join(folder, "flow/1.memory_flow.svg");
  execFileSync(s.tacho, ["export", join(folder, "own"), "-q", "--to", "memory_flow.svg", "-o", svg]);
  cpSync(join(s.root, "tests/data/jax"), join(folder, "jax"), { recursive: true });
  cpSync(join(s.root, "tests/data/flight_recorder"), join(folder, "dumps"), { recursive: true });
  for (const [name, path] of Object.entries(REAL))
    if (existsSync(join(s.data, path))) cpSync(join(s.data, path), join(folder, name), { recursive: true });
}

/** Opens a view of one of these runs; `ask` is the command line about it. */
async function on(s, hash, check, options) {
  const own = await s.also("frameworks", (folder) => fill(s, folder));
  const run = /run=(\w+)/.exec(hash)[1];
  const ask = (analysis, ...more) =>
    JSON.parse(execFileSync(s.tacho, [analysis, join(own.folder, run), "-q", "--json", "--limit", "0", ...more], { maxBuffer: 1 << 28 }).toString());
  const table = (analysis, name, ...more) => rowsOf(ask(analysis, ...more).tables[name]);
  await visit({ ...s, url: own.url }, hash, (page) => check(page, table), options);
}

const panel = (name) => `section[aria-label='${name}']`;
const words = async (page, name) => plain(await page.textContent(panel(name)));

const JAX_RUN = "jax/2026_11_17_02_39_20";

test("JAX: name scopes are modules, forward and backward; what cannot be recorded is not told in PyTorch's words", async (s) => {
  await on(s, `modules?run=${JAX_RUN}`, async (page, table) => {
    const hidden = table("modules", "modules").find((r) => r.module === "hidden");
    assert.ok(hidden.backward_host > 0 && hidden.parent === "mlp");
    assert.ok((await page.textContent("main")).includes("hidden"));
  });
  await on(s, `memory?run=${JAX_RUN}`, async (page) => {
    assert.ok(!/torch/.test(await page.textContent("main")));
  });
});

test("JAX: threads whose ids are hashes go by their names", (s) =>
  on(s, `timeline?run=${JAX_RUN}`, async (page) => {
    await page.waitForSelector("text=tf_XLAPjRtCpuClient");
    assert.ok(!/thread -?\d{12}/.test(await page.textContent("main")));
  }));

test("hang: which rank never reached a collective, where each rank is, the lines of the program; only dumps have the view", async (s) => {
  await on(s, "hang?run=dumps", async (page, table) => {
    assert.match(plain(await page.textContent("h1")), /^Rank 2 never reached all_reduce number 6 of group 0/);
    const members = table("hang", "members");
    const ranks = await page.$$eval(`${panel("Where each rank is")} tbody tr:not(.spacer)`, (l) => l.map((e) => e.textContent.replace(/\s+/g, " ")));
    for (const m of members.filter((r) => r.state === "missing")) assert.ok(ranks.some((r) => r.includes(String(m.rank)) && r.includes("Never reached it")), ranks.join("|"));
    assert.equal(ranks.filter((r) => /Never reached it/.test(r)).length, members.filter((r) => r.state === "missing").length);
    const open = await words(page, "Collectives that did not complete");
    for (const h of table("hang", "hangs")) assert.ok(open.includes(h.name) && open.includes(h.culprits), open);
    const lines = await words(page, "Lines of code");
    assert.match(lines, /^Lines of code.*Rank 2 never reached it/);
    assert.match(await page.getAttribute(`${panel("Lines of code")} a.frame`, "href"), /^vscode:/);
    assert.equal(await page.locator(".rail-link[href='#/hang']").count(), 1);
    await page.keyboard.press("L");
    await page.waitForSelector(panel("各 rank 的位置"));
    assert.match(plain(await page.textContent("h1")), /没有到达/);
  });
  await on(s, "hang?run=dumps", async (page) => {
    const heads = await words(page, "Collectives that did not complete"); // where there is no room for all columns
    assert.ok(heads.includes("Ranks to blame") && heads.includes("Waiting ranks"), heads);
  }, { width: 720, height: 450 });
  await on(s, `overview?run=${JAX_RUN}`, async (page) => assert.equal(await page.locator(".rail-link[href='#/hang']").count(), 0));
  await on(s, "hang?run=own", async (page) => assert.match(await page.textContent("main pre"), /TORCH_NCCL_DUMP_ON_TIMEOUT/));
});

test("MindSpore overview: step trace, data preparation, types by the time of one execution, counts; each leads on", (s) =>
  on(s, "overview?run=made", async (page, table) => {
    const step = await words(page, "Step trace");
    for (const r of table("overview", "step_trace")) if (r.stage !== "total") assert.ok(step.includes(time(r.duration)), `${r.stage}: ${step}`);
    const flow = await words(page, "Data preparation");
    const [processing, queue] = table("overview", "data_flow");
    assert.ok(flow.includes(`Data processing${processing.steps} steps may wait here`), flow);
    assert.ok(flow.includes(`empty for ${queue.empty} of ${queue.batches}`), flow);
    assert.equal(await page.locator(`${panel("Data preparation")} .flow-late`).count(), 1);
    const types = table("overview", "operator_types");
    const shown = await page.$$eval(`${panel("Operator types")} li`, (l) => l.map((e) => e.textContent.replace(/\s/g, " ")));
    assert.equal(shown.length, types.length);
    types.forEach((r, i) => assert.ok(shown[i].includes(r.type) && shown[i].includes(time(r.mean)), `${shown[i]} ${time(r.mean)}`));
    assert.equal(await page.locator(`${panel("Operator types")} .donut path`).count(), types.length);
    const work = Object.fromEntries(table("overview", "work").map((r) => [r.key, r.value]));
    const counts = await words(page, "Timeline");
    assert.ok(counts.includes(`Streams${work.streams}Operators${work.operators}Executions${work.executions}`), counts);
    assert.ok(counts.includes(time(Number(work.total_time_ns))), counts);
    const href = await page.getAttribute(`${panel("Timeline")} a[download]`, "href");
    const file = await page.evaluate(async (h) => (await fetch(h)).json(), href);
    assert.ok(file.traceEvents.filter((e) => e.ph === "X").length >= Number(work.executions));
    for (const [name, view] of [["Step trace", "steps"], ["Data preparation", "pipeline"], ["Operator types", "operators"], ["Timeline", "timeline"]]) {
      await page.locator(`${panel(name)} .leads`).first().click();
      await page.waitForFunction((v) => location.hash.startsWith(`#/${v}`), view);
      await page.goBack();
      await page.waitForFunction(() => location.hash.startsWith("#/overview"));
      await settled(page);
    }
  }));

test("MindSpore pipeline: the verdict leads to the longest wait for data", (s) =>
  on(s, "pipeline?run=made", async (page, table) => {
    const wait = table("pipeline", "loading").sort((a, b) => b.time - a.time)[0];
    const step = table("steps", "steps").find((r) => r.step === wait.step);
    await page.click(".verdict .link:has-text('Show in timeline')");
    await page.waitForSelector(".tl-strip");
    await settled(page);
    assert.match(plain(await page.textContent(".tl-strip")), new RegExp(`Step ${wait.step}, waiting for data`));
    const [from, to] = /view=(\d+)-(\d+)/.exec(page.url()).slice(1).map(Number);
    assert.ok(from <= step.start && step.start + wait.time <= to && to - from < 2 * wait.time, `${from}-${to}: ${step.start}, ${wait.time}`);
  }));

test("MindSpore overview of an Ascend: types by the time of all executions, AI Core and AI CPU", (s) =>
  on(s, "overview?run=aicpu", async (page, table) => {
    const types = table("overview", "operator_types");
    const shown = await page.$$eval(`${panel("Operator types")} li`, (l) => l.map((e) => e.textContent.replace(/\s/g, " ")));
    types.forEach((r, i) => assert.ok(shown[i].includes(time(r.total)) && shown[i].includes(r.side ?? ""), `${shown[i]} ${time(r.total)}`));
    assert.match(shown.join(" "), /AI Core[^]*AI CPU/);
    const flow = table("overview", "data_flow");
    assert.equal(await page.locator(`${panel("Data preparation")} li`).count(), flow.length);
  }), ["mindspore"]);

test("way: choose a step and see its all-reduce; the curves name and choose steps", (s) =>
  on(s, "steps?run=ascend", async (page, table) => {
    await page.locator(`${panel("All steps")} g[role=button]`).nth(99).click();
    await addressHas(page, "step=100");
    await settled(page);
    const own = table("steps", "segments", "--step", "100");
    const comm = own.filter((r) => r.stage === "communication");
    assert.equal(comm.length, 11);
    const text = await words(page, "Step 100");
    for (const r of comm) assert.ok(text.includes(time(r.duration)), `${r.name} ${time(r.duration)}: ${text}`);
    const fills = await page.$$eval(`${panel("Step 100")} .chart rect`, (l) => l.map((e) => e.getAttribute("fill")));
    assert.equal(fills.filter((f) => f === "url(#overlap)").length, own.filter((r) => r.stage === "hidden").length);
    assert.ok(comm.filter((r) => r.exposed === 0).length >= 9 && comm.at(-1).exposed > 40e6);
    await page.click("role=radio[name='Average']");
    await addressHas(page, "show=average");
    await settled(page);
    const average = await words(page, "Average step");
    for (const r of table("steps", "average").filter((r) => r.stage !== "total" && r.duration > 1e6)) assert.ok(average.includes(time(r.duration)), average);
    const curve = page.locator(`${panel("Tail")} .chart svg`);
    const { width } = await curve.boundingBox();
    await curve.hover({ position: { x: width - 3, y: 30 } });
    assert.match(await words(page, "Tail"), /Step 3[12]\d · [\d.]+ ms/);
    await curve.click({ position: { x: 3, y: 30 } });
    await addressLacks(page, "step=100");
    await addressLacks(page, "show=average"); // a step that is chosen is shown
  }), ["mindspore"]);

test("forward and backward points are chips: another operator, and gap, passes and tail are computed anew", (s) =>
  on(s, "steps?run=made&step=2", async (page, table) => {
    const row = () => words(page, "Steps");
    const expected = (...more) => table("steps", "steps", ...more)[1];
    const agrees = async (r) => {
      const text = await row();
      for (const c of ["forward_backward", "tail"]) assert.ok(text.includes((r[c] / 1e3).toFixed(1)) || text.includes(String(Math.round(r[c] / 1e3))), `${c} ${r[c]}: ${text}`);
    };
    await agrees(expected());
    assert.match(await page.textContent("role=button[name=/^Forward starts at/]"), /Conv2D-op2/);
    await page.click("role=button[name=/^Forward starts at/]");
    await page.keyboard.type("GetNext");
    await page.keyboard.press("Enter");
    await addressHas(page, "fp=Default/InitNet/GetNext-op1");
    await settled(page);
    const moved = expected("--fp-point", "Default/InitNet/GetNext-op1");
    assert.ok(moved.forward_backward > expected().forward_backward);
    await agrees(moved);
    await page.click("role=button[name=/^Backward ends at/]");
    await page.click("role=menuitemradio[name=/ReluGrad-op4/]");
    await addressHas(page, "bp=Gradients");
    await settled(page);
    await agrees(expected("--fp-point", "GetNext-op1", "--bp-point", "ReluGrad-op4"));
    await page.click("role=button[name=/^Forward starts at/]");
    await page.click("role=menuitemradio[name='As recorded']");
    await addressLacks(page, "fp=");
  }));

test("points that cannot be are refused with the reason, and the steps stay", (s) =>
  on(s, "steps?run=made&fp=Nothing-op9", async (page) => {
    assert.match(await page.textContent(".refusal"), /Nothing-op9/);
    assert.ok((await page.locator(`${panel("All steps")} g[role=button]`).count()) === 4);
    await page.click(".refusal >> text=As recorded");
    await addressLacks(page, "fp=");
    await settled(page);
    assert.equal(await page.$(".refusal"), null);
  }).catch((e) => {
    // The refusal is an answer of the server that a browser writes to its console, too.
    if (!/400 \(Bad Request\)/.test(String(e.message))) throw e;
  }));

test("way: from the pie of types down to the operators of one, then search", (s) =>
  on(s, "operators?run=ascend", async (page, table) => {
    const top = table("operators", "top");
    assert.equal(top.length, 21); // twenty types and the rest
    const shown = await page.$$eval(`${panel("Operator types")} li`, (l) => l.map((e) => e.textContent.replace(/\s/g, " ")));
    top.forEach((r, i) => assert.ok(shown[i].includes(time(r.mean)), `${shown[i]} ${r.name} ${time(r.mean)}`));
    await page.click(`${panel("Operator types")} li >> text=/^Conv2D$/`);
    await addressHas(page, 'q=type="Conv2D"');
    await settled(page);
    const names = () => page.$$eval(".main-table tbody td.first", (l) => l.map((e) => e.textContent.trim().replace(/^▸\s*/, "")));
    const own = table("operators", "operators").filter((r) => r.type === "Conv2D");
    assert.deepEqual((await names()).sort(), own.map((r) => r.name).sort());
    await page.fill(".main-table input[type=search]", 'type="Conv2D" op13');
    await addressHas(page, "op13");
    await settled(page);
    assert.deepEqual(await names(), ["Conv2D-op13"]);
    await page.click("role=button[name='Full names']");
    await addressHas(page, "names=full");
    await page.waitForFunction(() => /^▸?\s*Default\/.*Conv2D-op13$/.test(document.querySelector(".main-table td.first").textContent.trim()));
    await page.click("text=All types");
    await addressLacks(page, "type=");
    await page.click(`${panel("Operator types")} >> role=radio[name='Total']`);
    await page.click(`${panel("Operator types")} >> role=radio[name='Bars']`);
    await addressHas(page, "form=bars");
    await settled(page);
    const most = table("operators", "operators", "--group-by", "type").sort((a, b) => b.device_total - a.device_total)[0];
    assert.match(await words(page, "Operator types"), new RegExp(`${most.type} ?${time(most.device_total)}`));
  }), ["mindspore"]);

test("operators of one side: AI Core or AI CPU", (s) =>
  on(s, "operators?run=aicpu", async (page, table) => {
    const count = (side) => table("operators", "operators").filter((r) => r.side === side).length;
    for (const side of ["AI CPU", "AI Core"]) {
      await page.click(`role=radio[name='${side}']`);
      await addressHas(page, `on=${side}`);
      await settled(page);
      assert.match(plain(await page.textContent(".main-table .panel-words")), new RegExp(`^${count(side)} rows`));
    }
  }), ["mindspore"]);

test("kernel activity: the longest means, as bars and as a pie; the table has operator, count, total, mean", (s) =>
  on(s, "kernels?run=made&measure=mean", async (page, table) => {
    const top = table("kernels", "top");
    const chart = () => words(page, "Share of kernel time");
    for (const r of top) assert.ok((await chart()).includes(time(r.mean)), `${r.name} ${time(r.mean)}`);
    await page.click("role=radio[name='Pies']");
    await addressHas(page, "form=pies");
    assert.equal(await page.locator(`${panel("Share of kernel time")} .donut path`).count(), top.length);
    const first = table("kernels", "kernels").sort((a, b) => b.total - a.total)[0];
    const row = plain(await page.locator(".main-table tbody tr:not(.spacer)").first().textContent());
    for (const part of [String(first.calls), (first.total / 1e3).toFixed(2), first.op.slice(0, 12)]) assert.ok(row.includes(part), `${part}: ${row}`);
  }));

test("way: the bottleneck of an input pipeline, and the history of a queue", (s) =>
  on(s, "pipeline?run=made", async (page, table) => {
    assert.match(await page.textContent("h1"), /Map_1/);
    const graph = await words(page, "Input pipeline");
    assert.match(graph, /bottleneckMap_1/);
    const ops = table("pipeline", "operators");
    for (const r of ops) assert.ok(graph.includes(`${(r.usage * 100).toFixed(1)} %`), `${r.operator} ${r.usage}: ${graph}`);
    assert.match(await words(page, "Queue history"), /^Queues around Map_1.*capacity 16, every 5\.00 ms/);
    await page.click("role=button[name='Shuffle_2 87.5 %']");
    await addressHas(page, "queue=Shuffle_2");
    await settled(page);
    const history = page.locator(panel("Queue history"));
    assert.match(plain(await history.textContent()), /^Queues around Shuffle_2/);
    assert.equal(await history.locator("svg[role=img] path[stroke]").count(), 3); // its own queue and those of its two sources
    const sizes = table("pipeline", "queue_samples").filter((r) => r.operator === "Shuffle_2").map((r) => r.size);
    const chart = history.locator("svg[role=img]");
    const { width } = await chart.boundingBox();
    await chart.hover({ position: { x: width * 0.2 + 20, y: 80 } });
    assert.match(plain(await history.textContent()), new RegExp(`5\\.00 ms · Shuffle_2 ${sizes[1]} · MindDataset_3 16`));
    const rows = plain(await page.textContent(`${panel("Operators")} tbody`));
    assert.match(rows, /Map_1Batch_021 of 16.*bottleneck · input full/);
    assert.match(await words(page, "What to change"), /num_parallel_workers/);
    const empty = table("pipeline", "queues").filter((r) => r.queue === "host queue" && r.size === 0);
    assert.equal(await page.locator(`${panel("Host queue")} .empty-mark`).count(), empty.length);
    assert.match(await words(page, "Host queue"), new RegExp(`empty for ${empty.length} of 4`));
    const cpu = table("pipeline", "cpu").filter((r) => r.scope === "machine" && /user|sys|idle/.test(r.kind));
    for (const r of cpu) assert.ok((await words(page, "CPU use")).includes(`${r.kind} ${Number(r.mean.toPrecision(3))}`), r.kind);
    await page.click("role=radio[name='Process']");
    await addressHas(page, "cpu=process");
    await settled(page);
    assert.match(await words(page, "CPU use"), /user 220/);
    assert.match(await words(page, "Data preparation"), /Data processing2 steps may wait here/);
  }));

test("the input pipeline of our own recording: its steps, its loader, the queue it counted", (s) =>
  on(s, "pipeline?run=own", async (page, table) => {
    const samples = table("pipeline", "queue_samples");
    const queues = page.locator(panel("Queues"));
    await queues.locator("svg[role=img]").hover({ position: { x: 60, y: 60 } });
    assert.match(plain(await queues.textContent()), /· \d/);
    const steps = table("overview", "steps");
    assert.equal(await page.locator(`${panel("Steps")} g[role=button]`).count(), steps.length);
    assert.ok(samples.length > 3);
  }));

test("devices of a cluster: steps side by side, links, collectives as measured, operations", (s) =>
  on(s, "distributed?run=cluster", async (page, table) => {
    const steps = table("distributed", "cluster_steps", "--all-workers").filter((r) => r.step === null);
    const bars = await words(page, "Steps across devices");
    for (const r of steps) assert.ok(bars.includes(`${Math.round((r.computation + r.receive_alone + r.collective_alone) / 1e6)}`), bars);
    const links = table("distributed", "links", "--all-workers").filter((r) => r.step === null);
    assert.equal(await page.locator(`${panel("Link bandwidth")} tbody tr:not(.spacer)`).count(), links.length);
    assert.ok((await words(page, "Link bandwidth")).includes((links[0].bandwidth / 2 ** 30).toFixed(2)));
    const most = table("distributed", "communication_ops", "--all-workers").sort((a, b) => b.waiting - a.waiting)[0];
    assert.ok(plain(await page.locator(`${panel("Measured collectives")} tbody tr:not(.spacer)`).first().textContent()).startsWith(most.name));
    for (const r of table("distributed", "resources", "--all-workers"))
      assert.ok((await words(page, "Device compute and memory")).includes(`${(r.flops_share * 100).toFixed(1)} %`));
    await page.click(`${panel("Steps across devices")} >> role=button[name=/^Step/]`);
    await page.click("role=menuitemradio[name='Step 2']");
    await addressHas(page, "cstep=2");
    const second = table("distributed", "cluster_steps", "--all-workers").find((r) => r.step === 2);
    assert.ok((await words(page, "Steps across devices")).includes(`${Math.round((second.computation + second.receive_alone + second.collective_alone) / 1e6)}`));
  }), ["mindspore"]);

test("the split of a network: its stages, and how each operator is cut", (s) =>
  on(s, "distributed?run=split", async (page, table) => {
    const text = await words(page, "Parallel strategy");
    for (const r of table("distributed", "parallel_stages", "--all-workers")) assert.ok(text.includes(`stage ${r.stage}: ${r.mode}`), text);
    for (const r of table("distributed", "parallel_operators", "--all-workers")) assert.ok(text.includes(r.name) && text.includes(r.sharding ?? ""), r.name);
  }), ["mindspore"]);

for (const [run, needs] of [["flow", []], ["meg", ["megengine"]]])
  test(`the memory flow picture of ${run === "meg" ? "MegEngine" : "a saved one"}: hover, legend, zoom and back`, (s) =>
    on(s, `memory?run=${run}&picture=map`, async (page, table) => {
      const blocks = table("memory", "events").filter((r) => r.kind === "allocation" && r.address !== null);
      assert.ok(blocks.length > 10);
      await page.waitForSelector(".map-legend li");
      const canvas = page.locator(".map canvas");
      const box = await canvas.boundingBox();
      await hoverABlock(page, box);
      const card = plain(await page.textContent(".map-card"));
      const address = BigInt(/0x[0-9a-f]+/.exec(await page.textContent(".map-card p"))[0]);
      const own = blocks.filter((b) => BigInt(b.address) === address);
      assert.ok(own.some((b) => card.includes(time(b.allocated_at))), card);
      const before = await page.$eval(".map canvas", (c) => c.toDataURL());
      await page.mouse.move(box.x + box.width * 0.1, box.y + box.height * 0.3);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width * 0.6, box.y + box.height * 0.95, { steps: 5 });
      await page.mouse.up();
      await addressHas(page, "addresses=");
      await addressHas(page, "range=");
      await settled(page);
      assert.notEqual(await page.$eval(".map canvas", (c) => c.toDataURL()), before);
      await canvas.click({ button: "right", position: { x: 40, y: 40 } });
      await addressLacks(page, "addresses=");
      await settled(page);
      await page.locator(".map-legend button").first().click();
      await page.waitForSelector(".map-legend [aria-pressed=true]");
    }), needs);

for (const [name, hash, size] of [
  ["mindspore-overview", "overview?run=made", 900],
  ["mindspore-steps", "steps?run=made&step=2", 900],
  ["mindspore-operators", "operators?run=made", 900],
  ["mindspore-kernels", "kernels?run=made&measure=mean&form=pies", 900],
  ["mindspore-pipeline", "pipeline?run=made", 1500],
  ["memory-flow", "memory?run=flow&picture=map", 900],
])
  test(`picture and accessibility: ${name}`, (s) => on(s, hash, (page) => pictures(s, page, name), { width: 1440, height: size }));

/** Moves over the map until a block is under the pointer. */
async function hoverABlock(page, box) {
  for (let y = 0.98; y > 0; y -= 0.04)
    for (let x = 0.05; x < 1; x += 0.15) {
      await page.mouse.move(box.x + box.width * x, box.y + box.height * y);
      if (await page.$(".map-card")) return;
    }
  assert.fail("no block under the pointer");
}

test("why of a device alone: says how much nobody recorded, and the kinds add up to the step", (s) =>
  on(s, "why?run=made", async (page, table) => {
    assert.match(plain(await page.textContent("h1")), /^The bottleneck is unknown: during 9\d\.\d % of the/);
    const kinds = table("critical", "by_kind");
    assert.ok(kinds.some((r) => r.kind === "unknown" && r.share > 0.9), JSON.stringify(kinds));
    assert.ok(Math.abs(kinds.reduce((sum, r) => sum + r.share, 0) - 1) < 1e-6);
    assert.equal(await page.locator("section[aria-label='Critical path']").count(), 1);
  }));
