// What a designer found in the page, each with the test that keeps it so.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { openPage, settled } from "./stand.mjs";
import { addSample } from "./tabs.mjs";
import { addressHas, addressLacks, cells, plain, rowsOf, test, time, visit } from "./tools.mjs";

test("a run whose files are deleted keeps its numbers, says so, and goes on when they are back", async (s) => {
  const own = await s.another((folder) => (addSample(s, folder, "first"), addSample(s, folder, "second")));
  const context = await s.browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(`${own.url}/#/overview?run=first`);
    await settled(page);
    const before = plain(await page.textContent("h1"));
    rmSync(join(own.folder, "first"), { recursive: true });
    await page.waitForSelector(".connection >> text=/files of first were deleted/");
    assert.equal(plain(await page.textContent("h1")), before);
    assert.ok((await page.locator("section[aria-label='Steps'] g[role=button]").count()) > 0);
    addSample(s, own.folder, "first");
    await page.waitForSelector(".connection", { state: "detached" });
    await settled(page);
    assert.equal(plain(await page.textContent("h1")), before);
  } finally {
    await context.close();
    await own.end();
  }
});

test("the palette finds a view by the words people use for it, before names that hold the same letters", (s) =>
  visit(s, "overview?run=sample", async (page) => {
    for (const [word, view] of [["idle", "Why"], ["nccl", "Distributed"], ["oom", "Memory"], ["sql", "Query"], ["data loader", "Input pipeline"]]) {
      await page.keyboard.press("Control+k");
      await page.fill(".palette input", word);
      const found = await cells(page, ".palette-entry .palette-name");
      assert.equal(found[0], view, `${word}: ${found}`);
      assert.ok(!found.includes("AccumulateGrad") && !found.includes("aten::index_select"), `${word}: ${found}`);
      await page.keyboard.press("Escape");
    }
    await page.keyboard.press("Control+k");
    await page.fill(".palette input", "idle");
    await page.keyboard.press("Enter");
    await addressHas(page, "#/why");
  }));

test("a new note that Esc leaves is not kept; one that has words stays as it was", (s) =>
  visit(s, "timeline?run=sample", async (page) => {
    await page.focus(".tl-stage");
    await page.keyboard.press("m");
    await page.waitForSelector(".tl-note:focus");
    await page.keyboard.press("Escape");
    await addressLacks(page, "notes=");
    await page.keyboard.press("m");
    await page.waitForSelector(".tl-note:focus");
    await page.keyboard.type("slow here");
    await page.keyboard.press("Enter");
    await addressHas(page, "slow here");
    await page.focus(".tl-note");
    await page.keyboard.type(" and there");
    await page.keyboard.press("Escape");
    assert.equal(await page.inputValue(".tl-note"), "slow here");
  }));

test("blocks of one class are in the order of their numbers, a column of modules sorts", (s) =>
  visit(s, "modules?run=gpt_eager", async (page) => {
    const blocks = async () => (await cells(page, "section[aria-label='Modules'] tbody td:first-child")).filter((n) => /GPT2Block_\d+$/.test(n)).map((n) => Number(n.match(/\d+$/)[0]));
    const first = await blocks();
    assert.ok(first.length > 4);
    assert.deepEqual(first, [...first].sort((a, b) => a - b));
    await page.click("section[aria-label='Modules'] th button >> text=Host total");
    await addressHas(page, "sort=host_total:desc");
    await page.waitForSelector("section[aria-label='Modules'] th[aria-sort=descending]");
    assert.notDeepEqual(await blocks(), first);
  }), ["gpt_eager"]);

test("a part of the steps that hardly changes is drawn as a line that hardly changes", (s) =>
  visit(s, "steps?run=gpt_eager", async (page) => {
    const heights = await page.$$eval("section[aria-label='Kernel'] svg[data-chart] circle", (list) => list.map((c) => Number(c.getAttribute("cy"))));
    assert.ok(heights.length >= 3);
    assert.ok(Math.max(...heights) - Math.min(...heights) < 6, String(heights)); // 29.4 to 29.5 ms
  }), ["gpt_eager"]);

test("no label of the roofline is drawn on a circle", (s) =>
  visit(s, "roofline?run=gpt_eager", async (page) => {
    const bad = await page.evaluate(() => {
      const circles = [...document.querySelectorAll("[data-chart] circle")].map((c) => c.getBoundingClientRect());
      return [...document.querySelectorAll(".roof-label")].filter((label) => {
        const l = label.getBoundingClientRect();
        return circles.some((c) => {
          const [x, y] = [c.left + c.width / 2, c.top + c.height / 2];
          const [dx, dy] = [Math.max(l.left - x, 0, x - l.right), Math.max(l.top + 3 - y, 0, y - l.bottom + 3)];
          return Math.hypot(dx, dy) < c.width / 2 - 1;
        });
      }).map((l) => l.textContent);
    });
    assert.deepEqual(bad, []);
  }), ["gpt_eager"]);

const VIEWS = ["runs", "overview?run=resnet_w0", "why?run=gpt_eager", "timeline?run=gpt_eager", "operators?run=gpt_eager", "kernels?run=gpt_eager", "roofline?run=gpt_eager", "modules?run=gpt_eager", "memory?run=resnet_w0", "steps?run=ddp", "pipeline?run=resnet_w0", "distributed?run=ddp", "compare?run=resnet_w0", "query?run=ddp"];
const RULES = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"];

test("accessibility: no finding of any weight in any view, names hold what is seen", (s) =>
  visit(s, "runs", async (page) => {
    await page.evaluate(s.axe);
    const found = [];
    for (const view of VIEWS) {
      await page.evaluate((h) => (location.hash = `#/${h}`), view);
      await settled(page);
      const options = { resultTypes: ["violations"], runOnly: RULES, rules: { "label-content-name-mismatch": { enabled: true } } };
      const { violations } = await page.evaluate((o) => globalThis.axe.run({ exclude: [["tbody tr:nth-child(n+4)"]] }, o), options);
      for (const v of violations) found.push(`${view} ${v.id}: ${v.nodes.slice(0, 2).map((n) => n.html.slice(0, 140)).join(" | ")}`);
    }
    assert.deepEqual(found, []);
  }), ["resnet_w0", "gpt_eager", "ddp"]);

test("the overview fits a screen of 1440 × 900: sentence, numbers, step and three pieces of advice", async (s) => {
  for (const run of ["gpt_eager", "resnet_w0"])
    await visit(s, `overview?run=${run}`, async (page) => {
      const { wants, has } = await page.$eval("main", (m) => ({ wants: m.scrollHeight, has: m.clientHeight }));
      assert.ok(wants <= has, `${run}: ${wants} px in ${has} px`);
      assert.ok((await page.locator(".advice").count()) >= 2);
      assert.ok((await page.locator(".figure-tile").count()) === 2, "step and peak memory");
      for (const row of await cells(page, ".step-causes li")) assert.doesNotMatch(row, /(^|\D)0\.0\s?%/);
      await page.click("role=button[name=/^Stages, user ranges/]");
      await page.waitForSelector("section[aria-label='Configuration']");
      await addressHas(page, "more=1");
    });
}, ["gpt_eager", "resnet_w0"]);

test("a step by cause: work and idle time add up to it and are those of the command line", async (s) => {
  const answer = s.json("overview", "resnet_w0");
  const data = rowsOf(answer.tables.idle).find((r) => r.cause === "data");
  await visit(s, "overview?run=resnet_w0", async (page) => {
    const rows = await cells(page, ".step-causes li");
    const waiting = plain(rows.find((r) => /^Waiting for data/.test(r)));
    assert.ok(waiting.includes(time(data.time)), waiting);
    const shares = rows.map((r) => Number(plain(r).match(/([\d.]+) %/)[1]));
    assert.ok(Math.abs(shares.reduce((a, b) => a + b, 0) - 100) < 0.6, String(shares));
    await page.click("role=radio[name='By category']");
    const categories = await cells(page, "section[aria-label='Average step'] tbody td:first-child");
    assert.ok(categories.includes("Data loader") && !categories.includes("Communication"), String(categories));
  });
}, ["resnet_w0"]);

test("advice whose saving is not known has no picture of one", (s) =>
  visit(s, "overview?run=gpt_eager", async (page) => {
    const row = page.locator(".advice", { hasText: "saving not estimated" }).first();
    assert.equal(await row.locator("svg.advice-picture").count(), 0);
  }), ["gpt_eager"]);

test("timeline: the toolbar is one row, and the lanes stay where they are whatever is searched for or drawn", (s) =>
  visit(s, "timeline?run=sample", async (page) => {
    const top = () => page.$eval(".tl-stage", (e) => e.getBoundingClientRect().top);
    for (const width of [1440, 1100, 760]) {
      await page.setViewportSize({ width, height: 800 });
      await settled(page);
      const before = await top();
      await page.fill("#tl-find", "mm");
      await addressHas(page, "find=mm");
      await settled(page);
      assert.equal(await top(), before, `${width}`);
      const inside = await page.$$eval(".tl-bar > *", (list) => {
        const bar = document.querySelector(".tl-bar").getBoundingClientRect();
        return list.every((e) => e.getBoundingClientRect().right <= bar.right && e.getBoundingClientRect().bottom <= bar.bottom);
      });
      assert.ok(inside, `${width}: a control leaves the toolbar`);
      await page.fill("#tl-find", "");
      await addressLacks(page, "find=");
    }
    await page.click(".tool-more > button");
    await page.click(".tool-list >> role=button[name=/^Use view as window/]");
    await addressHas(page, "from=");
  }));

test("timeline: fields and regular expressions find what the command line lists, a mistake is said in words", async (s) => {
  const kernels = s.json("query", "sample", "SELECT count(*) AS n FROM slice WHERE kind = 'kernel' AND dur > 20000").tables.result.rows;
  await visit(s, "timeline?run=sample", async (page) => {
    const found = async (text) => {
      await page.fill("#tl-find", text);
      await page.waitForFunction((t) => new URLSearchParams(location.hash.split("?")[1]).get("find") === t, text);
      await settled(page);
      return Number(/of ([\d,]+) hits/.exec(plain(await page.textContent(".tl-find [role=status]")))?.[1].replace(/,/g, "") ?? 0);
    };
    assert.equal(await found("kind=kernel dur>20us"), kernels[0][0]);
    const words = await found("convolution");
    assert.ok(words > 0);
    assert.equal(await found("name~CONVOLUTION"), words);
    assert.ok((await found("name~^aten::convolution$")) < words);
    assert.equal(await found("stream=123456"), 0);
  });
  // The browser itself reports a refused request, so this page is opened without demanding silence.
  const { page, context } = await openPage(s, "timeline?run=sample");
  try {
    await settled(page);
    await page.fill("#tl-find", "name~(");
    await page.waitForSelector(".tl-find.wrong >> text=/not a regular expression/");
  } finally {
    await context.close();
  }
});

test("timeline: what an area holds is saved as a table", (s) =>
  visit(s, "timeline?run=sample&tab=area", async (page) => {
    const link = page.locator(".tl-area-head a", { hasText: "CSV" });
    const csv = await page.evaluate(async (url) => (await fetch(url)).text(), await link.getAttribute("href"));
    const rows = csv.trim().split("\n");
    assert.match(rows[0], /name/);
    assert.ok(rows.length > (await page.locator(".tl-area tbody tr").count()));
  }));

test("runs: what was found is the first column and can be read; the filter takes words and excludes them", async (s) => {
  const own = await s.another((folder) => (addSample(s, folder, "first"), addSample(s, folder, "second")));
  try {
    await visit({ ...s, url: own.url }, "runs", async (page) => {
      await page.waitForSelector(".run-verdict >> text=/GPU is idle/ >> nth=1");
      const head = await cells(page, "section[aria-label='Runs'] thead th");
      assert.match(head[0], /^What was found/);
      assert.ok(!head.includes("State"), "every run is ready");
      const wide = await page.$eval("section[aria-label='Runs'] th", (th) => th.offsetWidth);
      assert.ok(wide >= 380, `${wide}`);
      const shown = () => page.locator("section[aria-label='Runs'] tbody tr:not(.spacer)").count();
      await page.fill("main input[type=search]", "pytorch -second");
      await addressHas(page, "q=pytorch -second");
      await page.waitForFunction(() => document.querySelectorAll("section[aria-label='Runs'] tbody tr:not(.spacer)").length === 1);
      await page.fill("main input[type=search]", "no such words");
      await page.waitForFunction(() => document.querySelectorAll("section[aria-label='Runs'] tbody tr:not(.spacer)").length === 0);
      assert.equal(await shown(), 0);
    });
  } finally {
    await own.end();
  }
});

test("the large table of a view has no bar of its own: the page scrolls, the head stays, keys go along", (s) =>
  visit(s, "operators?run=gpt_eager", async (page) => {
    const bars = await page.evaluate(() => [...document.querySelectorAll("main, main *")].filter((e) => /auto|scroll/.test(getComputedStyle(e).overflowY) && e.scrollHeight > e.clientHeight + 2 && e.clientHeight > 300).map((e) => e.tagName));
    assert.deepEqual(bars, ["MAIN"]);
    await page.$eval("main", (m) => {
      m.scrollTop = m.scrollHeight;
    });
    await settled(page);
    const { head, main, rows } = await page.evaluate(() => ({
      head: document.querySelector(".main-table th").getBoundingClientRect().top,
      main: document.querySelector("main").getBoundingClientRect().top,
      rows: [...document.querySelectorAll(".main-table tbody tr:not(.spacer)")].filter((r) => r.getBoundingClientRect().top < innerHeight).length,
    }));
    assert.ok(Math.abs(head - main) < 2, `the head is at ${head}, the view at ${main}`);
    assert.ok(rows > 10, `${rows} rows are drawn`);
    await page.focus(".main-table .tscroll");
    for (let i = 0; i < 4; i++) await page.keyboard.press("PageDown");
    const active = await page.$eval(".main-table tr.active", (r) => r.getBoundingClientRect().bottom);
    assert.ok(active <= 900, `${active}`);
  }), ["gpt_eager"]);
