// Every view at every width, in both languages: nothing is cut without dots and a hover, nothing overlaps, no control
// leaves the window, no small box scrolls, no number has a silly unit (eye.mjs). One page is resized instead of loaded
// again. 720 × 450 is what a window of 1440 × 900 shows at a zoom of 200 %.
import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { twoRuns } from "./compare.mjs";
import { look } from "./eye.mjs";
import { fill } from "./frameworks.mjs";
import { openHistory } from "./history.mjs";
import { fillServers } from "./serving.mjs";
import { resized, settled } from "./stand.mjs";
import { test, visit } from "./tools.mjs";

const SIZES = [[900, 700], [1100, 800], [1440, 900], [1920, 1080], [2560, 1440], [720, 450]];

/** Goes to a view in a language, without loading the page again. */
async function turnTo(page, hash, lang) {
  const to = `#/${hash}${hash.includes("?") ? "&" : "?"}lang=${lang}`;
  await page.evaluate((h) => {
    location.hash = h;
  }, to);
  await page.waitForFunction((l) => document.documentElement.lang.startsWith(l), lang);
}

async function lookAtAll(page, views) {
  const faults = [];
  for (const view of views)
    for (const lang of ["en", "zh"]) {
      await turnTo(page, view, lang);
      await settled(page);
      for (const [width, height] of SIZES) {
        await page.setViewportSize({ width, height });
        await resized(page);
        for (const fault of await page.evaluate(look)) faults.push(`${view} ${lang} ${width}: ${fault}`);
      }
    }
  assert.deepEqual(faults, []);
}

test("layout: nothing cut or covered at any width, PyTorch on a GPU", (s) =>
  visit(s, "runs", (page) =>
    lookAtAll(page, ["runs", "overview?run=resnet_w0", "why?run=resnet_w0&scale=op:aten::convolution_backward%3D0.5&without=no_sync", "why?run=sample&by=slack", "operators?run=gpt_eager", "kernels?run=gpt_eager", "roofline?run=gpt_eager", "modules?run=resnet_w0"]),
  ), ["resnet_w0", "gpt_eager"]);

test("layout: nothing cut or covered at any width, memory, steps and ranks", (s) =>
  visit(s, "runs", (page) =>
    lookAtAll(page, ["memory?run=resnet_w0", "steps?run=ddp", "distributed?run=ddp", "timeline?run=resnet_w0", "overview?run=resnet_w0&average=donut"]),
  ), ["resnet_w0", "ddp"]);

test("layout: nothing cut or covered at any width, MindSpore, Paddle and our own recording", async (s) => {
  const own = await s.also("frameworks", (folder) => fill(s, folder));
  cpSync(join(s.root, "tests/data/paddle"), join(own.folder, "paddle"), { recursive: true });
  await visit({ ...s, url: own.url }, "runs", (page) =>
    lookAtAll(page, ["overview?run=made", "pipeline?run=made", "steps?run=made", "overview?run=own", "memory?run=flow", "overview?run=paddle", "operators?run=paddle"]),
  );
});

test("layout: nothing cut or covered at any width, two runs compared", async (s) => {
  const { url } = await twoRuns(s);
  const parts = ["operators", "kernels&only=b", "timelines", "memory", "modules"];
  await visit({ ...s, url }, "runs", (page) =>
    lookAtAll(page, ["compare?run=before", ...parts.map((part) => `compare?run=before&other=after&part=${part}`)]),
  );
});

test("layout: nothing cut or covered at any width, a server", async (s) => {
  const own = await s.also("serving", (folder) => fillServers(s, folder));
  const forms = ["chunked", "chunked&iterations=tokens", "prefill_first&iterations=batch&latency=latency", "bare"];
  await visit({ ...s, url: own.url }, "runs", (page) => lookAtAll(page, forms.map((form) => `serving?run=${form}`)));
});

test("layout: nothing cut or covered at any width, a history of runs", async (s) => {
  const { own } = await openHistory(s);
  await visit(own, "runs", (page) => lookAtAll(page, ["history?run=commits", "history?run=plain"]));
});

test("layout: nothing cut or covered at any width, questions in SQL", (s) => {
  const sql = encodeURIComponent("SELECT slice, short_name(name) AS kernel, track, start, dur, grid_x FROM kernel ORDER BY dur DESC LIMIT 12");
  const views = ["query?run=sample", `query?run=sample&sql=${sql}`, `query?run=sample&sql=${sql}&form=bars&y=4`, `query?run=sample&sql=${sql}&form=line&y=4`];
  return visit(s, "runs", (page) => lookAtAll(page, views));
});

test("layout: a name of any length in the verdict breaks and leaves the controls in view", (s) =>
  visit(s, "overview?run=sample", async (page) => {
    await page.evaluate(() => {
      document.querySelector("main h1").textContent = `loading in ${"_SingleProcessDataLoaderIter.__next__".repeat(6)}`;
    });
    const right = await page.$$eval(".verdict > :last-child, main h1", (list) => list.map((e) => e.getBoundingClientRect().right));
    assert.ok(Math.max(...right) <= 720, String(right));
  }, { width: 720, height: 500 }));

test("layout: on a phone no view is wider than the screen, and the top bar lies in one row", (s) =>
  visit(s, "overview?run=sample", async (page) => {
    for (const view of ["overview", "operators", "kernels", "timeline", "memory", "steps", "why", "query", "runs", "code", "roofline", "modules", "pipeline", "compare", "history"])
      for (const lang of ["en", "zh"]) {
        await turnTo(page, `${view}?run=sample`, lang);
        await settled(page);
        const { wide, over, right, left } = await page.evaluate(() => ({
          over: document.querySelector("main").scrollWidth - document.querySelector("main").clientWidth,
          wide: document.scrollingElement.scrollWidth,
          right: document.querySelector(".crumbs").getBoundingClientRect().right,
          left: document.querySelector(".palette-field").getBoundingClientRect().left,
        }));
        assert.ok(wide <= 400, `${view} ${lang} is ${wide} px wide`);
        if (view !== "timeline") assert.ok(over <= 0, `${view} ${lang} scrolls sideways by ${over} px`);
        assert.ok(right <= left, `${view} ${lang}: the run's name lies under the search field`);
      }
  }, { width: 400, height: 800 }));
