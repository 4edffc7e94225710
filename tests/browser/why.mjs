// The Why view: verdict, path, sums and replays are those of the command line; a slider changes the address and the
// answer; a jump lands on the slice.
import assert from "node:assert/strict";
import { pictures } from "./pictures.mjs";
import { openPage, settled } from "./stand.mjs";
import { addressHas, addressLacks, heading, plain, rowsOf, test, visit } from "./tools.mjs";

const OP = "aten::convolution_backward";
const scenario = (...changes) => `scale=${encodeURIComponent(changes.join("\n"))}`;
const panel = (name) => `section[aria-label='${name}']`;
const after = (page) => page.locator(".why-answer").getAttribute("data-after").then(Number);
const last = (answer) => rowsOf(answer.tables.whatif).at(-1).step_after;

/** The step whose length is the median, the lower one of two. */
function typicalOf(answer) {
  const steps = rowsOf(answer.tables.steps).sort((a, b) => a.recorded - b.recorded);
  return steps[Math.floor((steps.length - 1) / 2)];
}

test("why: verdict, kinds and names are those of the command line", async (s) => {
  const answer = s.json("critical", "sample");
  await visit(s, "why?run=sample", async (page) => {
    assert.equal(await heading(page), plain(answer.verdict.text.en));
    const kinds = rowsOf(answer.tables.by_kind);
    const shown = await page.$$eval(`${panel("The step by kind")} tbody tr:not(.spacer)`, (l) => l.map((e) => e.innerText.replace(/\s+/g, " ")));
    assert.equal(shown.filter((r) => !r.startsWith("Total")).length, kinds.length);
    for (const k of kinds.filter((r) => r.time > 1e5)) {
      const row = shown.find((r) => plain(r).includes(`${(k.share * 100).toFixed(1)} %`));
      assert.ok(row?.includes((k.time / 1e6).toFixed(2)), `${k.kind}: ${row}`);
    }
    const names = rowsOf(answer.tables.by_name);
    const first = plain(await page.locator(`${panel("On the critical path")} tbody tr:not(.spacer)`).first().textContent());
    assert.ok(first.includes(names[0].name) && first.includes((names[0].time / 1e6).toFixed(3)), first);
    const off = rowsOf(answer.tables.slack).reduce((sum, r) => sum + (r.off_path ?? 0), 0);
    assert.ok(plain(await page.textContent(".facts")).includes(`${(off / 1e6).toFixed(2)} ms of device work`));
  });
});

/** The path of the typical step: it lasts to the start of the next one, where that was recorded. */
function pathOf(s, run) {
  const steps = s.json("whatif", run);
  const step = typicalOf(steps);
  const more = rowsOf(steps.tables.steps).some((r) => r.step === step.step + 1);
  const asked = s.json("critical", run, "--step", more ? `${step.step}..${step.step + 1}` : String(step.step), "--table", "path");
  const pieces = rowsOf(asked.tables.path).filter((p) => p.step === step.step);
  assert.equal(pieces.reduce((sum, p) => sum + p.duration, 0), step.recorded, "the pieces add up to the step");
  return { step, pieces };
}

test("why: the path of a step in the middle adds up to it, too", async (s) => {
  const { step, pieces } = pathOf(s, "resnet_w0");
  await visit(s, "why?run=resnet_w0", async (page) => {
    const strip = page.locator(`${panel("Critical path")} [role=slider]`);
    assert.equal(Number(await strip.getAttribute("aria-valuemax")), pieces.length);
    const words = plain(await page.textContent(`${panel("Critical path")} .panel-words`));
    assert.ok(words.startsWith(`step ${step.step}, ${(step.recorded / 1e6).toFixed(1)} ms`), words);
  });
}, ["resnet_w0"]);

test("why: causes of idle time are a bar that adds up, where the answer has them", (s) =>
  visit(s, "runs", async (page) => {
    const causes = [["host_late", 6e6], ["blocked", 3e6], ["host_late", 1e6]];
    await page.route("**/api/v1/overview?*", async (route) => {
      const answer = await (await route.fetch()).json();
      const columns = ["device", "cause", "time"].map((name) => ({ name, type: name === "cause" ? "string" : "int" }));
      answer.tables.idle = { columns, rows: causes.map(([cause, time]) => [0, cause, time]), total_rows: causes.length };
      await route.fulfill({ json: answer });
    });
    await page.goto(`${s.url}/#/why?run=sample`);
    await settled(page);
    const idle = page.locator(panel("Why the device is idle"));
    assert.match(plain(await idle.textContent()), /The CPU launches work too late 7\.00 ms.*Blocked by a synchronization 3\.00 ms.*10\.0 ms/);
    const widths = await idle.locator(".strip rect").evaluateAll((l) => l.map((r) => Number(r.getAttribute("width"))));
    assert.ok(Math.abs(widths[0] / widths[1] - 7 / 3) < 0.05, widths.join());
  }));

test("why: the strip is the path of the typical step, and a piece leads to its slice in the timeline", async (s) => {
  const { step, pieces } = pathOf(s, "sample");
  await visit(s, "why?run=sample", async (page) => {
    const strip = page.locator(`${panel("Critical path")} [role=slider]`);
    assert.equal(Number(await strip.getAttribute("aria-valuemax")), pieces.length);
    await strip.focus();
    await page.keyboard.press("End");
    assert.equal(Number(await strip.getAttribute("aria-valuenow")), pieces.length);
    const copy = pieces.findIndex((p) => p.kind === "copy" && p.duration > 1e6);
    await page.keyboard.press("Home");
    const box = await strip.boundingBox();
    const middle = pieces[copy].start + pieces[copy].duration / 2 - pieces[0].start;
    await page.mouse.move(box.x + (middle / step.recorded) * box.width, box.y + 10);
    await page.waitForFunction((n) => document.querySelector("[role=slider]").getAttribute("aria-valuenow") === n, String(copy + 1));
    assert.match(plain(await page.textContent(".path-now")), /^Copy · Memcpy HtoD/);
    await page.mouse.click(box.x + (middle / step.recorded) * box.width, box.y + 10);
    await addressHas(page, `sel=slice:${pieces[copy].slice}`);
    await settled(page);
    await page.waitForSelector(".tl-details >> text=Memcpy HtoD");
  });
});

test("why: a row leads to the longest piece of its name", async (s) => {
  const names = rowsOf(s.json("critical", "sample").tables.by_name);
  await visit(s, "why?run=sample", async (page) => {
    const row = page.locator(`${panel("On the critical path")} tbody tr:not(.spacer)`).first();
    await row.hover();
    await row.getByRole("button", { name: "Show the longest piece" }).click();
    await addressHas(page, `sel=slice:${names[0].slice}`);
  });
});

test("why: a kernel on the path leads to its operator in the roofline", async (s) => {
  const kernels = new Map(rowsOf(s.json("kernels", "sample", "--limit", "0").tables.kernels).map((k) => [k.name, k.op]));
  const rows = rowsOf(s.json("critical", "sample").tables.by_name);
  const at = rows.findIndex((r) => r.kind === "device" && kernels.get(r.name));
  const op = kernels.get(rows[at].name);
  await visit(s, "why?run=sample", async (page) => {
    const scroller = page.locator(`${panel("On the critical path")} .tscroll`);
    await scroller.evaluate((e, part) => e.scrollTo(0, e.scrollHeight * part), (at - 3) / rows.length);
    await scroller.locator(`tbody button[title="${op}"]`).first().click();
    await addressHas(page, "/roofline");
    await settled(page);
    const names = await page.$$eval(".main-table tbody td.first", (l) => l.map((e) => e.title));
    assert.ok(names.length > 0 && names.every((n) => n.includes(op)), names.join());
  });
});

test("why: modules, lines and slack are those of the command line", async (s) => {
  const tables = s.json("critical", "sample").tables;
  for (const [by, table, column] of [["module", "by_module", "module"], ["line", "by_line", "line"]]) {
    const named = rowsOf(tables[table]).find((r) => r[column] !== null);
    await visit(s, `why?run=sample&by=${by}`, async (page) => {
      const row = plain(await page.locator(`${panel("On the critical path")} tr:has-text("${named[column]}")`).first().innerText());
      assert.ok(row.includes(`${(named.share * 100).toFixed(1)} %`), row);
    });
  }
  const off = rowsOf(tables.slack).filter((r) => r.slack !== 0 || r.off_path > 0);
  await visit(s, "why?run=sample&by=slack", async (page) => {
    assert.match(plain(await page.textContent(`${panel("Off the critical path")} .panel-words`)), new RegExp(`${off.length} rows`));
    const first = plain(await page.locator(`${panel("Off the critical path")} tbody tr:not(.spacer)`).first().innerText());
    assert.ok(first.includes((off[0].slack / 1e6).toFixed(2)), first);
  });
});

test("what if: the scenario of the address is replayed as on the command line", async (s) => {
  const changes = [`op:${OP}=0.5`, "op:aten::cudnn_batch_norm=0"];
  const answer = s.json("whatif", "sample", "--scale", changes[0], "--scale", changes[1], "--no-sync");
  await visit(s, `why?run=sample&${scenario(...changes)}&without=no_sync`, async (page) => {
    assert.equal(await after(page), last(answer));
    const alone = await page.$$eval(".why-scale .why-effect", (l) => l.map((e) => Number(e.dataset.after)));
    const rows = rowsOf(answer.tables.whatif);
    assert.deepEqual([...alone].sort(), changes.map((c) => rows.find((r) => r.change === c).step_after).sort());
    assert.equal(await page.getAttribute("[aria-pressed=true] .why-effect", "data-after").then(Number), rows.find((r) => r.change === "no_sync").step_after);
    assert.match(await page.textContent(".why-notes"), /without a change, the replay matches every recorded step within/);
  });
});

test("what if: a slider and a switch change the address and the answer; reset and back undo it", async (s) => {
  await visit(s, "why?run=sample", async (page) => {
    const slider = page.getByRole("slider", { name: `Time of ${OP}` });
    await slider.focus();
    for (let i = 0; i < 10; i++) await page.keyboard.press("ArrowLeft");
    await addressHas(page, `op:${OP}=0.5`);
    await settled(page);
    assert.equal(await after(page), last(s.json("whatif", "sample", "--scale", `op:${OP}=0.5`)));
    await page.getByRole("button", { name: "As a CUDA graph" }).click();
    await addressHas(page, "without=cuda_graph");
    await settled(page);
    assert.equal(await after(page), last(s.json("whatif", "sample", "--scale", `op:${OP}=0.5`, "--cuda-graph")));
    await page.getByRole("button", { name: "Reset" }).click();
    await addressLacks(page, "scale=");
    await settled(page);
    assert.match(await page.textContent(".why-answer"), /Move a slider/);
    await page.goBack();
    await addressHas(page, "without=cuda_graph");
  });
});

test("what if: the cost of recording is a switch whose answer has a range, and says what it rests on", async (s) => {
  const answer = s.json("whatif", "sample", "--unprofiled", "--batch", "2");
  const all = rowsOf(answer.tables.whatif).at(-1);
  assert.ok(all.least < all.step_after && all.step_after < all.most);
  await visit(s, "why?run=sample&batch=2", async (page) => {
    await page.getByRole("button", { name: "Cost of recording" }).click();
    await addressHas(page, "without=unprofiled");
    await addressHas(page, "batch=2");
    await settled(page);
    assert.equal(await after(page), all.step_after);
    const range = page.locator(".why-answer [data-least]");
    assert.equal(Number(await range.getAttribute("data-least")), all.least);
    assert.equal(Number(await range.getAttribute("data-most")), all.most);
    const ms = (ns) => `${(ns / 1e6).toFixed(1)} ms`;
    assert.match(plain(await range.textContent()), new RegExp(`between ${ms(all.least)} and ${ms(all.most)}`));
    assert.match(await page.getAttribute(".why-result", "aria-label"), /between/);
    const line = page.locator(".why-result svg g line").first();
    const [x1, x2] = [await line.getAttribute("x1"), await line.getAttribute("x2")].map((p) => Number.parseFloat(p));
    assert.ok(Math.abs(x2 / x1 - all.most / all.least) < 0.001, `${x1} ${x2}`);
    const notes = await page.textContent(".why-notes");
    assert.match(notes, /recording is assumed to cost .* per host event/);
    assert.match(notes, /the recorded batch has \d+ samples/);
    assert.equal(await page.getAttribute(`${panel("What if")} .why-scaled .why-effect`, "data-after").then(Number), rowsOf(answer.tables.whatif).find((r) => r.change === "batch 2").step_after);
  });
  await visit(s, "why?run=sample&batch=2&without=unprofiled&lang=zh", async (page) => {
    assert.match(plain(await page.textContent(".why-answer")), /介于 .* 与 .* 之间/);
    assert.match(await page.textContent(".why-notes"), /假设记录每个主机事件耗时/);
  });
});

test("what if: the size of the batch is a slider in powers of two, kept in the address", async (s) => {
  await visit(s, "why?run=sample", async (page) => {
    const slider = page.getByRole("slider", { name: "Batch size" });
    await slider.focus();
    await page.keyboard.press("ArrowRight");
    await addressHas(page, "batch=2");
    await settled(page);
    assert.equal(await slider.getAttribute("aria-valuetext"), "2 ×");
    assert.equal(await after(page), last(s.json("whatif", "sample", "--batch", "2")));
    await page.getByRole("button", { name: "Reset" }).click();
    await addressLacks(page, "batch=");
    await settled(page);
    assert.match(await page.textContent(".why-answer"), /Move a slider/);
  });
});

test("what if: a scenario that fits nothing says so and can be reset", async (s) => {
  const { page, context, faults } = await openPage(s, `why?run=sample&${scenario("op:aten::nothing=0.5")}`);
  await page.waitForSelector(".why-error >> text=nothing in the trace matches");
  await page.getByRole("button", { name: "Reset" }).click();
  await page.waitForSelector(".why-answer >> text=Move a slider");
  assert.ok(faults.length > 0 && faults.every((f) => /status of 400/.test(f)), faults.join());
  await context.close();
});

test("why: pictures in both themes and languages, without a serious fault of accessibility", async (s) => {
  const answer = s.json("critical", "sample");
  await visit(s, `why?run=sample&${scenario(`op:${OP}=0.5`)}&without=no_sync`, async (page) => {
    await pictures(s, page, "why");
    assert.equal(await heading(page), plain(answer.verdict.text.zh));
  });
});

test("timeline: the critical path is a switch, off at first and in the address", (s) =>
  visit(s, "timeline?run=sample", async (page) => {
    const button = page.getByRole("button", { name: "Critical path", exact: true });
    assert.equal(await button.getAttribute("aria-pressed"), "false");
    const before = await page.locator(".tl-stage canvas, .tl canvas").first().screenshot();
    await button.click();
    await addressHas(page, "path=1");
    await settled(page);
    assert.equal(await button.getAttribute("aria-pressed"), "true");
    const after = await page.locator(".tl-stage canvas, .tl canvas").first().screenshot();
    assert.notDeepEqual(before, after, "the rest is dimmed");
    await button.click();
    await addressLacks(page, "path=1");
  }));

test("timeline: the path is followed from piece to piece with buttons and keys", async (s) => {
  const pieces = rowsOf(s.json("critical", "sample", "--step", "3", "--table", "path").tables.path);
  const at = pieces.findIndex((p) => p.kind === "copy" && p.duration > 1e6);
  const [from, to] = [pieces[at].start, pieces[at].start + pieces[at].duration];
  await visit(s, `timeline?run=sample&path=1&view=${from}-${to}`, async (page) => {
    await page.getByRole("button", { name: "Next piece of the path" }).click();
    await addressHas(page, `sel=slice:${pieces[at].slice}`);
    await addressHas(page, `piece=${pieces[at].start}`);
    await settled(page);
    await page.keyboard.press("}");
    await addressHas(page, `piece=${pieces[at + 1].start}`);
    await addressHas(page, `sel=slice:${pieces[at + 1].slice}`);
    await settled(page);
    assert.match(plain(await page.locator("[role=status]", { hasText: "/" }).innerText()), new RegExp(`^${at + 2} / `));
    await page.keyboard.press("{");
    await addressHas(page, `piece=${pieces[at].start}`);
    await page.waitForSelector(".tl-details >> text=Memcpy HtoD");
  });
});
