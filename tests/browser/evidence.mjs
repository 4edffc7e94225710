// From a sentence to its evidence: rows, shapes, parts of a step and advice lead to the most expensive instance
// in the timeline, a strip there says why one came, and there is a way back.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { addressHas, addressLacks, plain, rowsOf, test, visit } from "./tools.mjs";
import { settled } from "./stand.mjs";

const PADDLE = "tests/data/paddle/host_apid_4001_time_2024_01_02_03_04_05_000006.paddle_trace.json";
const paddle = (s) =>
  s.also("evidence paddle", (folder) => {
    mkdirSync(join(folder, "run"));
    cpSync(join(s.root, PADDLE), join(folder, "run", PADDLE.split("/").pop()));
  });

const chosen = async (page) => plain(await page.textContent(".tl-what code"));
const strip = async (page) => plain(await page.textContent(".tl-strip"));
const selected = (page, slice) => addressHas(page, `sel=slice:${slice}`);

/** Clicks the sign at the end of a row's name. */
async function jump(page, row) {
  await row.hover();
  await row.locator(".to-timeline").click();
  await page.waitForSelector(".tl-strip");
  await settled(page);
}

test("an operator leads to its longest device work, and back", async (s) => {
  const rows = rowsOf(s.json("operators", "sample", "--evidence").tables.operators);
  const conv = rows.find((r) => r.name === "aten::convolution_backward");
  await visit(s, "operators?run=sample&sort=device_self:desc", async (page) => {
    await jump(page, page.locator("tr", { hasText: "aten::convolution_backward" }).first());
    await selected(page, conv.slice);
    await page.waitForSelector(".tl-facts dt:has-text('Kernel')");
    assert.match(await strip(page), /most expensive call of aten::convolution_backward/);
    assert.match(plain(await page.textContent(".tl-why")), /aten::convolution_backward/);
    await page.waitForFunction(() => /view=/.test(location.hash)); // it is zoomed to
    const [from, to] = /view=(\d+)-(\d+)/.exec(page.url()).slice(1).map(Number);
    assert.ok(conv.at >= from && conv.at < to && to - from < 20e6, `${from}-${to}`);
    await page.locator(".tl-stage").focus();
    await page.keyboard.press("b");
    await addressHas(page, "#/operators");
    assert.match(decodeURIComponent(page.url()), /sort=device_self:desc/);
    assert.doesNotMatch(page.url(), /claim|back=/);
  });
});

test("shapes lead to their own instance, kernels and modules too", async (s) => {
  const shapes = rowsOf(s.json("operators", "sample", "--evidence", "--group-by", "name+shape").tables.operators);
  const of = shapes.filter((r) => r.name === "aten::cudnn_convolution").sort((a, b) => b.device_self - a.device_self);
  assert.notEqual(of[0].slice, of[1].slice);
  await visit(s, "operators?run=sample&q=name:%22aten::cudnn_convolution%22", async (page) => {
    await page.locator("tr", { hasText: "aten::cudnn_convolution" }).first().locator(".chevron").click();
    await page.waitForSelector("tr.faded");
    await jump(page, page.locator("tr.faded").nth(1));
    await selected(page, of[1].slice);
    await page.goto(`${s.url}/#/kernels?run=sample`);
    await settled(page);
    const first = rowsOf(s.json("kernels", "sample", "--evidence").tables.kernels)[0];
    await jump(page, page.locator(".main-table tbody tr:not(.spacer)").first());
    await selected(page, first.slice);
  });
});

test("a part of the average step leads to the event that takes most of it", async (s) => {
  const parts = rowsOf(s.json("overview", "sample", "--evidence").tables.breakdown);
  const part = (c) => parts.find((p) => p.category === c);
  await visit(s, "overview?run=sample&by=category", async (page) => {
    await jump(page, page.locator("tr", { hasText: "Data loader" }).first());
    await selected(page, part("data_loader").slice);
    await page.click(".tl-back");
    await addressHas(page, "#/overview");
    await settled(page);
    await jump(page, page.locator("tr", { hasText: "Other" }).first()); // no event fills it: the stretch is shown
    const [from, to] = /view=(\d+)-(\d+)/.exec(page.url()).slice(1).map(Number);
    assert.ok(from <= part("other").from && to >= part("other").to);
    assert.doesNotMatch(page.url(), /sel=/);
  });
});

test("stages, steps and memory by operator lead to where they are longest or largest", async (s) => {
  const { stages, steps } = s.json("overview", "sample", "--evidence").tables;
  const forward = rowsOf(stages).find((r) => r.stage === "forward");
  const most = rowsOf(s.json("memory", "sample", "--evidence").tables.statistics).sort(
    (a, b) => b.self_allocation_bytes - a.self_allocation_bytes,
  )[0];
  const shown = async (page) => {
    await addressHas(page, "view=");
    return /view=(\d+)-(\d+)/.exec(page.url()).slice(1).map(Number);
  };
  await visit(s, "overview?run=sample", async (page) => {
    await page.click("role=button[name=/^Stages, user ranges/]");
    await jump(page, page.locator("tr", { hasText: "Forward" }).first());
    let [from, to] = await shown(page);
    assert.ok(from <= forward.from && to >= forward.to && to - from < 2 * (forward.to - forward.from), `${from}-${to}`);
    await page.goto(`${s.url}/#/overview?run=sample`);
    await settled(page);
    const first = rowsOf(steps)[0];
    await page.locator(`[data-chart] g[aria-label="${first.step}"]`).first().dblclick();
    await page.waitForSelector(".tl-strip");
    [from, to] = await shown(page);
    assert.ok(to - from >= first.total && to - from < 2 * first.total, `${from}-${to}`);
    await page.goto(`${s.url}/#/memory?run=sample`);
    await settled(page);
    await jump(page, page.locator('[aria-label="By operator"] tbody tr:not(.spacer)').first());
    await selected(page, most.slice);
  });
});

test("advice stays as a strip: its events, the next advice, the way back", async (s) => {
  const answer = s.json("advise", "sample", "--evidence");
  const advice = rowsOf(answer.tables.advice).filter((r) => r.from !== null);
  const events = rowsOf(answer.tables.events).filter((e) => e.advice === "pageable_copies");
  await visit(s, "overview?run=sample", async (page) => {
    const row = page.locator(".advice", { hasText: /unpinned/ });
    const title = row.locator(".advice-title");
    assert.equal(await title.getAttribute("aria-expanded"), "false");
    assert.equal(await title.locator("svg").count(), 1); // the chevron
    await title.click();
    assert.equal(await row.locator(".advice-events li").count(), events.length);
    const { code } = advice.find((r) => r.id === "pageable_copies");
    assert.equal(await row.locator(".advice-code code").textContent(), code);
    await row.locator(".advice-events button").nth(1).click();
    await page.waitForSelector(".tl-strip");
    await selected(page, events[1].slice);
    await settled(page);
    assert.match(await strip(page), new RegExp(`Advice \\d of ${advice.length}.*unpinned.*Event 2 of ${events.length}`));
    assert.match(await chosen(page), /Memcpy HtoD/);
    await page.locator(".tl-stage").focus();
    await page.keyboard.press("k");
    await selected(page, events[0].slice);
    await page.keyboard.press("Shift+J");
    await addressLacks(page, "pageable_copies");
    await addressHas(page, "advice=");
    await page.click(".tl-back");
    await addressHas(page, "#/overview");
    await settled(page);
    await page.click(".verdict .link"); // the verdict leads to what costs most
    await addressHas(page, `advice=${advice[0].id}`);
    await selected(page, advice[0].slice);
    await page.click(".tl-strip .tl-bare[aria-label='Close this strip']");
    await page.waitForFunction(() => !document.querySelector(".tl-strip"));
    await selected(page, advice[0].slice); // what was chosen stays
  });
});

test("the guilty kernel of gpt_eager's mm: the one with 50,257", async (s) => {
  await visit(s, "operators?run=gpt_eager", async (page) => {
    await jump(page, page.locator("tr", { hasText: "aten::mm" }).first());
    assert.match(plain(await page.textContent(".tl-facts")), /3\.36\d ms/);
    const why = plain(await page.textContent(".tl-why"));
    assert.doesNotMatch(why, /built-in/);
    assert.match(why, /linear\.py:\d+/); // the line that asked for it
    assert.match(await page.locator(".tl-stack a").first().getAttribute("href"), /^vscode:\/\/file\/.*linear\.py:\d+$/);
  });
}, ["gpt_eager"]);

test("backward work shows the forward's call stack, with the folder of the source code", async (s) => {
  await visit(s, "operators?run=sample", async (page) => {
    await page.evaluate(() => localStorage.setItem("tacho.source-root", "/home/me/project/"));
    await page.reload();
    await settled(page);
    await jump(page, page.locator("tr", { hasText: "aten::convolution_backward" }).first());
    await page.waitForSelector(".tl-stack a.frame");
    const why = plain(await page.textContent(".tl-why"));
    assert.match(why, /Call stack of the forward operator/);
    assert.doesNotMatch(why, /built-in/);
    const links = await page.$$eval(".tl-stack a.frame", (list) => list.map((a) => a.getAttribute("href")));
    assert.ok(links.every((l) => l.startsWith("vscode://file//")), links.join(" "));
    assert.ok(links.some((l) => l.startsWith("vscode://file//home/me/project/")), links.join(" "));
  });
});

test("Paddle's run has code of Paddle, the phases of its operators, and the filters of profile_analyze", async (s) => {
  const other = await paddle(s);
  const json = (...words) => JSON.parse(execFileSync(s.tacho, [...words, "-q", "--json", "--limit", "0", join(s.root, PADDLE)]).toString());
  const phases = rowsOf(json("operators", "--table", "phases").tables.phases);
  await visit({ ...s, url: other.url }, "overview", async (page) => {
    for (const title of await page.$$(".advice-title")) await title.click();
    const said = plain(await page.textContent(".advice-panel"));
    assert.doesNotMatch(said, /torch/);
    assert.match(said, /paddle\./);
    await page.goto(`${other.url}/#/operators`);
    await settled(page);
    const panel = page.locator("section[aria-label='Phases of operators']");
    assert.equal(await panel.locator("tbody tr.faded").count(), phases.length); // the first three are open
    assert.match(plain(await panel.textContent()), new RegExp(`infer shapes ${phases.find((p) => p.phase === "infer_shape").name}`));
    await page.click("text=List single calls");
    const calls = page.locator("section[aria-label='Single calls']");
    await calls.waitFor();
    await settled(page);
    const names = async () => (await calls.locator("tbody td.first").allTextContents()).map(plain);
    const all = await names();
    await calls.locator("input[type=search]").fill("conv");
    await addressHas(page, "call-name=conv");
    await settled(page);
    const some = await names();
    assert.ok(some.length > 0 && some.length < all.length && some.every((n) => n.startsWith("conv")), some.join());
    const wanted = rowsOf(json("top", "--top", "30", "--opr-name", "conv").tables.device);
    assert.deepEqual(some, wanted.map((r) => r.name));
    await calls.locator("input[aria-label='at least, e.g. 1ms']").fill("1s");
    await page.keyboard.press("Enter");
    await addressHas(page, "call-min=1s");
    await settled(page);
    assert.equal(await calls.locator("tbody td.first").count(), 0);
  });
});

test("advice about all ranks is shown in the rank that loses most, with its event", async (s) => {
  await visit(s, "overview?run=ddp&worker=*", async (page) => {
    await page.locator(".advice .link", { hasText: "Show in timeline" }).first().click();
    await addressHas(page, "worker=rank");
    await addressHas(page, "sel=slice:");
    await settled(page);
    assert.match(await strip(page), /Advice \d of \d.*Event 1 of/);
    await page.waitForSelector(".tl-what");
    await page.click(".tl-back");
    await addressHas(page, "worker=*");
    await page.goto(`${s.url}/#/distributed?run=ddp`);
    await settled(page);
    await page.locator("section[aria-label='Which rank is late'] .heat-cell").nth(6).click();
    await addressHas(page, "sel=slice:");
    await settled(page);
    assert.match(await chosen(page), /all_reduce|broadcast/);
  });
}, ["ddp"]);
