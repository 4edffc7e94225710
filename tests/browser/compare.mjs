// The Compare view: two runs ticked, the numbers of the command line, causes that lead into both timelines, both steps on
// one axis, and a link that keeps it all. The second run is the first one with a sleep of 5 ms before every optimizer
// step and one kernel under another name.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { pictures } from "./pictures.mjs";
import { settled } from "./stand.mjs";
import { addressHas, addressLacks, cells, heading, plain, rowsOf, test, visit } from "./tools.mjs";

const SLEEP_US = 5000;
const FILE = "rank0.pt.trace.json";

const ON_DEVICE = ["kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation"];

/** Every moment after the n-th optimizer step begins is later by n sleeps; what the host was in then lasts longer. */
function withSleeps(trace) {
  const isStep = (e) => e.ph === "X" && !ON_DEVICE.includes(e.cat) && /^Optimizer\.step/.test(e.name);
  const starts = trace.traceEvents.filter(isStep).map((e) => e.ts);
  const later = (ts) => ts + SLEEP_US * starts.filter((s) => s <= ts).length;
  for (const e of trace.traceEvents) {
    if (typeof e.ts !== "number") continue;
    const end = later(e.ts + (e.dur ?? 0));
    e.ts = later(e.ts);
    if (e.dur !== undefined && !ON_DEVICE.includes(e.cat)) e.dur = end - e.ts;
    if (e.cat === "kernel") e.name = e.name.replace(/max_pool_forward_nchw/, "max_pool_renamed");
  }
  return trace;
}

async function fill(s, folder) {
  const sample = join(s.root, "tests/data/sample.pt.trace.json.gz");
  const after = JSON.stringify(withSleeps(JSON.parse(gunzipSync(readFileSync(sample)).toString())));
  for (const name of ["before", "after", "both"]) mkdirSync(join(folder, name));
  cpSync(sample, join(folder, "before", `${FILE}.gz`));
  writeFileSync(join(folder, "after", FILE), after);
  cpSync(sample, join(folder, "both", "first.pt.trace.json.gz"));
  writeFileSync(join(folder, "both", "second.pt.trace.json"), after);
  utimesSync(join(folder, "before", `${FILE}.gz`), 1_700_000_000, 1_700_000_000);
  utimesSync(join(folder, "after", FILE), 1_700_100_000, 1_700_100_000);
}

/** The folder with both runs: also for the test of widths. */
export const twoRuns = (s) => s.also("compare", (folder) => fill(s, folder));

/** The same, and what the command line says of them. */
async function both(s) {
  const own = await twoRuns(s);
  const paths = ["before", "after"].map((name) => join(own.folder, name));
  const diff = (...given) =>
    JSON.parse(execFileSync(s.tacho, ["diff", ...given, "-q", "--json", "--limit", "0"], { maxBuffer: 1 << 28 }).toString());
  return { own: { ...s, url: own.url }, folder: own.folder, there: diff(...paths), back: diff(...[...paths].reverse()) };
}

const said = (answer, lang = "en") => plain(answer.verdict.text[lang]);

/** Numbers as the page writes changes. */
const ms = (ns) => `${ns > 0 ? "+" : "−"}${(Math.abs(ns) / 1e6).toPrecision(3)} ms`;

test("compare: two ticked runs are compared, the older one first; verdict, step and causes are those of the command line", async (s) => {
  const { own, there } = await both(s);
  await visit(own, "runs", async (page) => {
    const button = page.locator("button", { hasText: /^Compare$/ });
    assert.equal(await button.isDisabled(), true);
    await page.check("input[aria-label='Check after to compare it']");
    assert.equal(await button.isDisabled(), true, "one run is not enough");
    await page.check("input[aria-label='Check before to compare it']");
    await button.click();
    await addressHas(page, "#/compare?run=before&other=after");
    await settled(page);
    assert.equal(await heading(page), said(there));
    const causes = rowsOf(there.tables.causes);
    assert.equal(causes[0].id, "host_gap");
    assert.ok(Math.abs(causes[0].change - SLEEP_US * 1000) < 100_000, `${causes[0].change} is the sleep`);
    const program = rowsOf(there.tables.program_changes);
    assert.deepEqual(await cells(page, ".cause .advice-title"), [...program, ...causes].map((r) => plain(r.title)));
    assert.match(program[0].title, /max_pool2d_with_indices runs different kernels/, "what changed in the program is first");
    assert.equal((await cells(page, "section[aria-label=Causes] .cause-change b"))[0].replace(/\u2009/g, " "), ms(causes[0].change));
    const sum = causes.reduce((all, r) => all + r.change, 0);
    const [a, b] = rowsOf(there.tables.steps);
    assert.equal(sum, b.mean - a.mean, "the causes are the change of the step");
    const bar = page.getByRole("img", { name: /The change of/ });
    assert.match(plain(await bar.getAttribute("aria-label")), new RegExp(`Wait before a call \\${ms(causes[0].change)}, .*Unexplained`));
    const kernel = rowsOf(there.tables.breakdown).find((r) => r.category === "kernel");
    const shown = await page.locator("section[aria-label='Mean step'] tbody tr", { hasText: "Kernel" }).locator("td").allTextContents();
    assert.equal(plain(shown[1]), `${(kernel.a / 1e6).toPrecision(3)} ms`);
    assert.match(plain(await page.textContent(".parity")), /Both runs did the same work|condition/);
  });
});

test("compare: a cause leads to its event in the timeline of either run, and back", async (s) => {
  const { own, there } = await both(s);
  const cause = rowsOf(there.tables.causes)[0];
  await visit(own, "compare?run=before&other=after", async (page) => {
    await page.locator("section[aria-label=Causes] .cause").first().locator("button", { hasText: "In B" }).click();
    await addressHas(page, `sel=slice:${cause.slice_b}`);
    await addressHas(page, "run=after");
    await page.waitForSelector(".tl-what");
    assert.equal(plain(await page.textContent(".tl-strip-text")), `B: ${plain(cause.title)}`);
    await page.goBack();
    await addressHas(page, "#/compare?run=before&other=after");
    await settled(page);
    await page.locator("section[aria-label=Causes] .cause").first().locator("button", { hasText: "In A" }).click();
    await addressHas(page, `sel=slice:${cause.slice_a}`);
    await addressHas(page, "run=before");
  });
});

test("compare: swap, part, filter, search and order are in the link; operators and kernels have the rows of the command line", async (s) => {
  const { own, there, back } = await both(s);
  const kernels = rowsOf(there.tables.kernels);
  const only = (status) => kernels.filter((r) => r.status === status).length;
  await visit(own, "compare?run=before&other=after&part=kernels", async (page) => {
    const filters = await cells(page, "[role=radiogroup][aria-label='Which rows'] button");
    assert.deepEqual(filters, [`All ${kernels.length}`, `Changed ${only("changed")}`, `Only in A ${only("removed")}`, `Only in B ${only("added")}`]);
    await page.click("role=radio[name=/Only in B/]");
    await addressHas(page, "only=b");
    assert.equal(await page.locator("section[aria-label=Kernels] tbody tr:not(.spacer)").count(), 1);
    assert.match(await page.textContent("section[aria-label=Kernels] tbody"), /max_pool_renamed/);
    await page.click("button[aria-label='Swap A and B']");
    await addressHas(page, "run=after");
    await addressHas(page, "only=a");
    await settled(page);
    assert.equal(await heading(page), said(back));
    assert.match(await page.textContent("section[aria-label=Kernels] tbody"), /max_pool_renamed/);
    await page.click("role=radio[name=Operators]");
    await addressLacks(page, "only=");
    await page.fill("main input[data-filter]", "batch_norm");
    await addressHas(page, "q=batch_norm");
    await page.locator("section[aria-label=Operators] th button", { hasText: "Host A" }).click();
    await addressHas(page, "sort=host_a:desc");
    const read = () => cells(page, "section[aria-label=Operators] tbody tr:not(.spacer) td:first-child");
    const rows = await read();
    assert.ok(rows.length > 1 && rows.every((r) => r.includes("batch_norm")), rows.join());
    const wanted = rowsOf(back.tables.operators).filter((r) => r.name?.includes("batch_norm")).sort((x, y) => y.host_a - x.host_a);
    assert.equal(rows[0], wanted[0].name);
    await page.reload();
    await settled(page);
    assert.deepEqual(await read(), rows);
  });
});

/** The color in the middle of a box of the stage. */
const pixelsOf = (page) =>
  page.$eval(".pair canvas", (c) => {
    const data = c.getContext("2d").getImageData(Math.floor(c.width * 0.3), 0, Math.floor(c.width * 0.6), c.height).data;
    let sum = 0;
    for (let i = 0; i < data.length; i += 4) sum = (Math.imul(sum, 31) + data[i] + data[i + 1] * 3 + data[i + 2] * 7) | 0;
    return sum;
  });

test("compare: both steps on one axis, with one zoom, colors by change, and a way to each event", async (s) => {
  const { own } = await both(s);
  await visit(own, "compare?run=before&other=after&part=timelines&pair=3-3", async (page) => {
    await page.waitForSelector(".pair canvas");
    const label = () => page.getAttribute(".pair", "aria-label");
    assert.match(plain(await label()), /Step 3 of A, .* ms, above step 3 of B, .* ms/);
    const before = await pixelsOf(page);
    await page.click("role=radio[name='By change']");
    await addressHas(page, "tint=change");
    await settled(page);
    assert.notEqual(await pixelsOf(page), before, "colors follow the change");
    await page.click("role=radio[name='By kind']");
    await page.focus(".pair");
    await page.keyboard.press("w");
    await addressHas(page, "zoom=");
    await settled(page);
    assert.notEqual(await pixelsOf(page), before, "zoomed in");
    await page.keyboard.press("0");
    await addressLacks(page, "zoom=");
    await page.locator("role=button[name=/^Step of B/]").click();
    await page.locator(".menu-item", { hasText: "step 4" }).click();
    await addressHas(page, "pair=3-4");
    await settled(page);
    assert.match(plain(await label()), /above step 4 of B/);
    const box = await page.locator(".pair canvas").boundingBox();
    for (let up = 10; !/^B /.test(await page.locator(".pair-card p").allTextContents().then((t) => t.join())) && up < 200; up += 9)
      await page.mouse.move(box.x + 196 + (box.width - 196) * 0.6, box.y + box.height - up);
    await page.mouse.down();
    await page.mouse.up();
    await addressHas(page, "#/timeline?");
    await addressHas(page, "run=after");
    await addressHas(page, "sel=slice:");
  });
});

test("compare: memory curves together and modules by change", async (s) => {
  const { own, folder } = await both(s);
  const peaks = JSON.parse(execFileSync(s.tacho, ["memory", join(folder, "before"), "-q", "--json", "--table", "peaks"]).toString());
  const gpu = rowsOf(peaks.tables.peaks).find((r) => /GPU/.test(r.device));
  await visit(own, "compare?run=before&other=after&part=memory", async (page) => {
    assert.match(plain(await page.textContent("section[aria-label=Memory]")), new RegExp(`peak of A ${Math.round(gpu.allocated / 2 ** 20)} MiB`));
    assert.equal(await page.locator("section[aria-label=Memory] svg[data-chart] path[stroke-width='1.8']").count(), 2);
    await page.click("role=radio[name=Modules]");
    await settled(page);
    const rows = await cells(page, "section[aria-label=Modules] tbody tr:not(.spacer) td:first-child");
    assert.ok(rows.some((r) => /ResNet/.test(r)), rows.join());
    assert.ok((await page.locator("section[aria-label=Modules] .ramp").count()) > 3);
  });
});

test("compare: without a second run one is chosen; traces of one folder are compared too", async (s) => {
  const { own, there } = await both(s);
  await visit(own, "compare?run=before", async (page) => {
    assert.match(await heading(page), /Which run do you want to compare before with/);
    await page.locator(".pick-runs button", { hasText: "after" }).click();
    await addressHas(page, "other=after");
    await settled(page);
    assert.equal(await heading(page), said(there));
  });
  await visit(own, "compare?run=before&other=gone", async (page) => {
    assert.match(await page.textContent("main [role=alert]"), /gone/);
  });
  await visit(own, "compare?run=both&worker=first", async (page) => {
    await page.click("role=button[name=/^Second run/]");
    await page.locator(".menu-item", { hasText: "second" }).click();
    await addressHas(page, "other_worker=second");
    await settled(page);
    assert.equal(await heading(page), said(there));
  });
  await visit(own, "compare?run=both&worker=first&other=both&other_worker=first", async (page) => {
    assert.match(await heading(page), /Which run do you want to compare first with/, "a trace with itself is no comparison");
  });
});

test("compare: all ranks of a job, other steps of the same run, each side with its own", (s) =>
  visit(s, "compare?run=ddp&worker=*&other=ddp&step=3&other_step=4", async (page) => {
    assert.match(plain(await page.textContent("header")), /ARun: ddp\/Worker: 4 ranks→BSecond run \(B\): ddp/);
    const ranks = await cells(page, "section[aria-label=Ranks] tbody tr:not(.spacer) td:first-child");
    assert.deepEqual(ranks.sort(), ["rank 0", "rank 1", "rank 2", "rank 3"]);
    assert.match(plain(await page.textContent(".facts")), /A step 3 .*, 4 steps ?B step 4 /);
    await page.click("button[aria-label='Swap A and B']");
    await addressHas(page, "step=4");
    await addressHas(page, "other_step=3");
    await settled(page);
    await page.locator("role=button[name=/^Steps of B/]").click();
    await page.locator(".menu-item", { hasText: "the same as A" }).click();
    await addressLacks(page, "other_step=");
    assert.match(await heading(page), /Which run do you want to compare ddp with/);
  }), ["ddp"]);

test("compare: pictures in both themes and languages, without a serious fault of accessibility", async (s) => {
  const { own, there } = await both(s);
  for (const part of ["operators", "timelines"])
    await visit(own, `compare?run=before&other=after&part=${part}`, async (page) => {
      await pictures(s, page, `compare-${part}`);
      assert.equal(await heading(page), said(there, "zh"));
    });
});

test("compare: a planted sleep of recorded traces is named first", async (s) => {
  const own = await s.also("compare-real", async (folder) => {
    for (const name of ["base_a", "host_sleep"]) {
      mkdirSync(join(folder, name));
      cpSync(join(s.data, `compare/${name}.pt.trace.json.gz`), join(folder, name, "rank0.pt.trace.json.gz"));
    }
  });
  await visit({ ...s, url: own.url }, "compare?run=base_a&other=host_sleep", async (page) => {
    assert.match(await heading(page), /18\.1 % longer.*the wait before Optimizer\.step/);
    assert.equal((await cells(page, "section[aria-label=Causes] .cause-kind b"))[0], "Wait before a call");
  });
}, ["compare"]);
