// Every view shows the numbers of the command line.
import assert from "node:assert/strict";
import { settled } from "./stand.mjs";
import { heading, plain, rowsOf, test, visit } from "./tools.mjs";

test("overview shows the numbers of the command line", async (s) => {
  const answer = s.json("overview", "resnet_w0");
  await visit(s, "overview?run=resnet_w0&by=category&advices=all", async (page) => {
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
    await page.waitForSelector("main input[data-filter]:focus");
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
    for (const r of steps) assert.ok(table.includes((r.total / 1e6).toFixed(2)), table);
  });
  const memory = s.json("memory", "resnet_w0");
  await visit(s, "memory?run=resnet_w0", async (page) => {
    assert.equal(await heading(page), plain(memory.verdict.text.en));
    const peak = rowsOf(memory.tables.peaks)[0].allocated / 2 ** 20;
    assert.ok(plain(await page.textContent(".facts")).includes(peak.toFixed(0)));
  });
}, ["resnet_w0"]);
