// The tests. Each gets the stand and throws when something is not as it should be.
import assert from "node:assert/strict";
import { join } from "node:path";
import { openPage, settled, stand } from "./stand.mjs";

const tests = [];
const test = (name, run, needs = []) => tests.push({ name, run, needs });

const rowsOf = (table) => table.rows.map((r) => Object.fromEntries(table.columns.map((c, i) => [c.name, r[i]])));
const plain = (text) => text.replace(/[\s\u2009\u202f]+/g, " ").trim();
const heading = async (page) => plain(await page.textContent("h1"));
const cells = (page, selector) => page.$$eval(selector, (list) => list.map((e) => e.textContent.replace(/\s+/g, " ").trim()));

/** Opens a view, lets it settle, runs the check, and demands that nothing went wrong on the way. */
async function visit(s, hash, check, options) {
  const { page, context, faults } = await openPage(s, hash, options);
  try {
    await settled(page);
    await check(page);
    assert.deepEqual(faults, []);
  } finally {
    await context.close();
  }
}

test("the start page lists the runs, a click opens one", (s) =>
  visit(s, "", async (page) => {
    assert.match(await heading(page), new RegExp(`^${s.real.length + 1} runs`));
    await page.click("td >> text=sample");
    await page.waitForFunction(() => location.hash.startsWith("#/overview?run=sample"));
    await settled(page);
    assert.notEqual(await heading(page), "");
    await page.goBack();
    await page.waitForFunction(() => !location.hash.includes("run=sample"));
  }));

test("overview shows the numbers of the command line", async (s) => {
  const answer = s.json("overview", "resnet_w0");
  await visit(s, "overview?run=resnet_w0", async (page) => {
    assert.equal(await heading(page), plain(answer.verdict.text.en));
    const loader = rowsOf(answer.tables.breakdown).find((r) => r.category === "data_loader");
    const row = await page.textContent("section[aria-label='Average step'] tr:has-text('Data loader')");
    assert.ok(plain(row).includes(`${(loader.time / 1e6).toFixed(1)} ms`), row);
    assert.ok(plain(row).includes(`${(loader.share * 100).toFixed(1)} %`), row);
    const device = rowsOf(answer.tables.devices)[0];
    assert.ok(plain(await page.textContent(".meters")).includes(`${(device.utilization * 100).toFixed(1)} %`));
    const advice = s.json("advise", "resnet_w0").tables.advice;
    assert.equal((await page.$$(".advice")).length, advice.rows.length);
  });
}, ["resnet_w0"]);

test("operators, kernels: first row, count and sum as on the command line", async (s) => {
  for (const [view, sort, column] of [["operators", "device_self", "device_self"], ["kernels", "total", "total"]]) {
    const table = s.json(view, "gpt_eager", "--sort", `${sort}:desc`).tables[view];
    const first = rowsOf(table)[0];
    await visit(s, `${view}?run=gpt_eager`, async (page) => {
      const row = page.locator(".main-table tbody tr:not(.spacer)").first();
      assert.equal(await row.locator("td").first().getAttribute("title"), first.name);
      assert.ok(plain(await row.textContent()).includes((first[column] / 1e6).toFixed(2)));
      assert.match(plain(await page.textContent(".main-table .panel-words")), new RegExp(`^${table.rows.length} rows`));
    });
  }
}, ["gpt_eager"]);

test("a row of the operators opens to shapes, then stacks, then frames that open the editor", (s) =>
  visit(s, "operators?run=gpt_eager", async (page) => {
    const chevron = (n) => page.locator(".main-table tbody tr:not(.spacer)").nth(n).locator("button.chevron").click();
    await chevron(0);
    await page.waitForSelector("tr.faded code >> text=50257");
    await chevron(1);
    await page.waitForFunction(() => document.querySelectorAll("tr.faded").length > 11);
    await chevron(2);
    const frame = page.locator("a.frame").first();
    assert.match(await frame.getAttribute("href"), /^vscode:\/\/file\/.+:\d+$/);
  }), ["gpt_eager"]);

test("filter, sorting and grouping of a table are in the address", (s) =>
  visit(s, "operators?run=gpt_eager", async (page) => {
    await page.keyboard.press("/");
    await page.keyboard.type("softmax");
    await page.waitForFunction(() => location.hash.includes("q=softmax"));
    await settled(page);
    const names = await page.$$eval(".main-table tbody td.first", (l) => l.map((e) => e.title));
    assert.ok(names.length > 0 && names.every((n) => /softmax/i.test(n)), names.join());
    await page.keyboard.press("Escape");
    await page.click("th button >> text=Calls");
    await page.waitForFunction(() => location.hash.includes("sort=calls:desc"));
    await page.click("role=radio[name='Name + shape']");
    await page.waitForFunction(() => location.hash.includes("group=name"));
    await page.goBack();
    await page.waitForFunction(() => !location.hash.includes("group="));
  }), ["gpt_eager"]);

test("modules, steps and memory show the numbers of the command line", async (s) => {
  const modules = rowsOf(s.json("modules", "resnet_w0").tables.modules);
  await visit(s, "modules?run=resnet_w0", async (page) => {
    const row = plain(await page.textContent("tr:has-text('ResNet_0')"));
    assert.ok(row.includes((modules.find((m) => m.module === "ResNet_0").host_total / 1e6).toFixed(2)), row);
  });
  const steps = rowsOf(s.json("steps", "resnet_w0").tables.steps);
  await visit(s, "steps?run=resnet_w0", async (page) => {
    const table = plain(await page.textContent("section[aria-label='Steps'] table"));
    for (const r of steps) assert.ok(table.includes((r.duration / 1e6).toFixed(2)), table);
  });
  const memory = s.json("memory", "resnet_w0");
  await visit(s, "memory?run=resnet_w0", async (page) => {
    assert.equal(await heading(page), plain(memory.verdict.text.en));
    const peak = rowsOf(memory.tables.peaks)[0].allocated / 2 ** 20;
    assert.ok(plain(await page.textContent(".facts")).includes(peak.toFixed(0)));
  });
}, ["resnet_w0"]);

test("way: find the slow data loader", (s) =>
  visit(s, "overview?run=resnet_w0", async (page) => {
    assert.match(await heading(page), /data loader/);
    assert.match(await page.textContent(".advice >> nth=0"), /num_workers/);
    await page.click(".advice >> nth=0 >> text=Show in timeline");
    await page.waitForFunction(() => location.hash.startsWith("#/timeline") && location.hash.includes("view="));
  }), ["resnet_w0"]);

test("way: zoom a memory range and reset it", (s) =>
  visit(s, "memory?run=resnet_w0", async (page) => {
    const words = () => page.textContent("section[aria-label='Allocations'] .panel-words");
    const before = await words();
    const box = await page.locator(".u-over").boundingBox();
    await page.mouse.move(box.x + 20, box.y + 80);
    await page.mouse.down();
    await page.mouse.move(box.x + 160, box.y + 80, { steps: 6 });
    await page.mouse.up();
    await page.waitForFunction(() => location.hash.includes("range="));
    await settled(page);
    assert.notEqual(await words(), before);
    const again = await page.locator(".u-over").boundingBox();
    await page.mouse.click(again.x + 100, again.y + 60, { button: "right" });
    await page.waitForFunction(() => !location.hash.includes("range="));
    await settled(page);
    assert.equal(await words(), before);
  }), ["resnet_w0"]);

test("way: find the straggler", async (s) => {
  const answer = s.json("distributed", "ddp", "--all-workers");
  await visit(s, "distributed?run=ddp", async (page) => {
    assert.equal(await heading(page), plain(answer.verdict.text.en));
    const rank = answer.verdict.values.rank;
    assert.ok((await cells(page, ".heat .strong")).some((t) => t.startsWith(`rank ${rank}`)));
    assert.equal((await page.$$("section[aria-label='Collectives'] tbody tr:not(.spacer)")).length, answer.tables.collectives.rows.length);
  });
}, ["ddp"]);

test("way: share a link and open it", async (s) => {
  let link = "";
  await visit(s, "overview?run=resnet_w0", async (page) => {
    await page.click("role=button[name='3'] >> nth=0").catch(() => page.keyboard.press("2"));
    await page.waitForFunction(() => location.hash.includes("step=3"));
    await page.keyboard.press("g");
    await page.keyboard.press("k");
    await page.waitForFunction(() => location.hash.startsWith("#/kernels"));
    await settled(page);
    await page.locator(".main-table tbody tr:not(.spacer)").nth(2).click();
    await page.waitForFunction(() => location.hash.includes("sel="));
    link = new URL(page.url()).hash.slice(2);
  });
  await visit(s, link, async (page) => {
    assert.match(plain(await page.textContent(".tape-length")), /^1 step/);
    assert.equal((await page.$$("tr.marked")).length, 1);
    assert.ok(await page.$(".chip"));
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => !location.hash.includes("sel="));
  });
}, ["resnet_w0"]);

test("way: switch to Chinese and dark, both stay", (s) =>
  visit(s, "overview?run=sample", async (page) => {
    await page.click("role=button[name='中文']");
    await page.waitForFunction(() => document.documentElement.lang === "zh-CN");
    await settled(page);
    assert.equal(plain(await page.textContent(".rail-link[aria-current]")).replace(/ ?\d+$/, ""), "概览");
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "light");
    await page.keyboard.press("Shift+D");
    await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
    assert.match(await heading(page), /[\u4e00-\u9fff]/);
  }));

test("palette, trust drawer and key sheet open by key and give the focus back", (s) =>
  visit(s, "overview?run=sample", async (page) => {
    await page.keyboard.press("Control+k");
    await page.fill(".palette input", "kern");
    await page.waitForSelector(".palette-entry >> text=Kernels");
    await page.click(".palette-entry >> text=Kernels");
    await page.waitForFunction(() => location.hash.startsWith("#/kernels"));
    await page.keyboard.press("Shift+T");
    assert.match(await page.textContent(".drawer"), /Events read/);
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    await page.waitForSelector(".sheet");
    await page.keyboard.press("Escape");
    assert.equal(await page.$("[role=dialog]"), null);
  }));

test("a view without data says why and how to record it", (s) =>
  visit(s, "memory?run=ddp", async (page) => {
    assert.match(await heading(page), /not recorded/);
    assert.match(await page.textContent("pre em"), /profile_memory=True/);
    assert.ok(await page.$(".rail-link.without"));
  }), ["ddp"]);

test("the window narrows every view, Alt and arrows move it", (s) =>
  visit(s, "overview?run=resnet_w0&step=3", async (page) => {
    assert.match(plain(await page.textContent(".tape-length")), /^1 step/);
    await page.keyboard.press("Alt+ArrowRight");
    await page.waitForFunction(() => location.hash.includes("step=4"));
    await page.keyboard.press("0");
    await page.waitForFunction(() => !location.hash.includes("step="));
  }), ["resnet_w0"]);

// ---- accessibility and pictures of every view ----

const PICTURES = [
  ["overview", "resnet_w0"], ["operators", "gpt_eager"], ["kernels", "gpt_eager"], ["modules", "resnet_w0"], ["memory", "resnet_w0"],
  ["steps", "ddp"], ["distributed", "ddp"], ["timeline", "resnet_w0"], ["pipeline", "resnet_w0"], ["runs", ""],
];

for (const [view, run] of PICTURES)
  for (const [theme, lang] of [["light", "en"], ["dark", "en"], ["light", "zh"]])
    test(`picture and accessibility: ${view}, ${theme}, ${lang}`, async (s) => {
      const shown = run && !s.real.includes(run) ? "sample" : run;
      await visit(s, `${view}${shown ? `?run=${shown}` : ""}`, async (page) => {
        if (view === "timeline") await page.waitForTimeout(800);
        await page.screenshot({ path: join(s.root, `build/screenshots/${view}-${theme}-${lang}.png`) });
        await page.evaluate(s.axe);
        const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
        const bad = found.violations.filter((v) => v.impact === "serious" || v.impact === "critical");
        assert.deepEqual(bad.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(" | ")}`), []);
      }, { theme, lang });
    });

test("narrow windows: rail of icons, nothing cut off", (s) =>
  visit(s, "overview?run=sample", async (page) => {
    await page.screenshot({ path: join(s.root, "build/screenshots/overview-1024.png") });
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
  }, { width: 1024, height: 768 }));

export async function main(root, words) {
  let s;
  try {
    s = { root, ...(await stand(root)) };
  } catch (e) {
    console.log(String(e.message ?? e));
    return /there is no command serve/.test(String(e)) ? 77 : 1;
  }
  const count = { passed: 0, failed: 0, skipped: 0 };
  for (const { name, run, needs } of tests) {
    if (words.length && !words.some((w) => name.includes(w))) continue;
    if (!needs.every((n) => s.real.includes(n))) {
      count.skipped++;
      continue;
    }
    try {
      await run(s);
      count.passed++;
    } catch (e) {
      count.failed++;
      console.log(`FAIL ${name}\n  ${String(e.message ?? e).split("\n").slice(0, 24).join("\n  ")}`);
    }
  }
  await s.close();
  console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
  return count.failed ? 1 : 0;
}
