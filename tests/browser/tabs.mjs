// Many tabs of one browser, which has six connections to a server for all of them together: none is held while nothing
// happens, none while a trace loads, and slow questions leave some to the others.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { serve, settled } from "./stand.mjs";
import { heading, plain, test, visit } from "./tools.mjs";

const TABS = 10;

export function addSample(s, folder, run) {
  mkdirSync(join(folder, run));
  cpSync(join(s.root, "tests/data/sample.pt.trace.json.gz"), join(folder, run, "sample.pt.trace.json.gz"));
}

/** A separate browser context and server for a test, and the end of both. */
async function alone(s, fill, check, { browser = s.browser, env } = {}) {
  const own = await s.another(fill, env);
  const context = await browser.newContext();
  try {
    await check(own, context);
  } finally {
    await context.close();
    await own.end();
  }
}

async function openTab(context, url) {
  const page = await context.newPage();
  await page.goto(url);
  return page;
}

test("ten tabs are all ready, whichever is closed the others go on hearing of runs", (s) =>
  alone(s, (folder) => addSample(s, folder, "sample"), async (own, context) => {
    const tabs = [];
    for (let i = 0; i < TABS; i++) {
      const page = await openTab(context, `${own.url}/#/overview?run=sample`);
      await settled(page);
      assert.match(await heading(page), /^The GPU is idle/);
      tabs.push(page);
    }
    // The first one, and the last one: none of them holds the events for the others.
    await tabs.shift().close();
    await tabs.pop().close();
    addSample(s, own.folder, "second");
    await Promise.all(tabs.map((page) => page.waitForSelector(".new-runs >> text=second")));
  }));

// Chromium without its windows has no back/forward cache; with CHROMIUM=/usr/bin/chromium the pages are in it.
test("ten visits there and back leave the page alive, in the back/forward cache or not", async (s) => {
  const browser = await s.launch({ ignoreDefaultArgs: ["--disable-back-forward-cache"] });
  const visits = async (own, context) => {
    const page = await context.newPage();
    if (process.env.TACHO_BROWSER_TIMES) page.on("console", (m) => /^persisted/.test(m.text()) && console.log(m.text()));
    await page.addInitScript(() => addEventListener("pageshow", (e) => console.log("persisted", e.persisted)));
    for (let i = 0; i < TABS; i++) {
      await page.goto(`${own.url}/?visit=${i}#/overview?run=sample`);
      await settled(page);
    }
    for (let i = TABS - 2; i >= 0; i--) {
      await page.evaluate(() => void setTimeout(() => history.back())).catch(() => {});
      await page.waitForURL((to) => to.search === `?visit=${i}`, { waitUntil: "commit" });
      await settled(page);
      assert.match(await heading(page), /^The GPU is idle/);
    }
    addSample(s, own.folder, "second");
    await page.waitForSelector(".new-runs >> text=second");
  };
  await alone(s, (folder) => addSample(s, folder, "sample"), visits, { browser }).finally(() => browser.close());
});

/** Events that the page dispatches to itself, as a browser does that leaves it or hides it. */
const leave = () => dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true }));
const comeBack = () => dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }));
const show = (state) => {
  Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
};

test("a page that is left or hidden asks nothing, and asks at once when it is back", (s) =>
  alone(s, (folder) => addSample(s, folder, "sample"), async (own, context) => {
    const page = await context.newPage();
    await page.clock.install();
    let polls = 0;
    page.on("request", (r) => {
      if (r.url().includes("/events?since=")) polls++;
    });
    const polled = () => page.waitForResponse((r) => r.url().includes("/events?since="));
    await page.goto(`${own.url}/#/overview?run=sample`);
    await page.clock.runFor(1000);
    await settled(page);
    for (const [go, back] of [[() => page.evaluate(leave), () => page.evaluate(comeBack)], [() => page.evaluate(show, "hidden"), () => page.evaluate(show, "visible")]]) {
      await Promise.all([polled(), page.clock.runFor(2000)]);
      await go();
      await page.clock.runFor(1000); // the one on its way comes to its end
      polls = 0;
      await page.clock.runFor(60_000);
      assert.equal(polls, 0);
      await Promise.all([polled(), back()]);
    }
  }));

test("a request that is broken off by leaving the page is made again when it is back", (s) =>
  alone(s, (folder) => addSample(s, folder, "sample"), async (own, context) => {
    const page = await context.newPage();
    let held = 0;
    await page.route("**/api/v1/advise*", (route) => (held++ === 0 ? undefined : route.continue())); // the first one never ends
    await page.goto(`${own.url}/#/overview?run=sample`);
    await page.waitForFunction(() => document.querySelector("h1")?.textContent.includes("idle"));
    assert.equal(held, 1);
    await page.evaluate(leave);
    await page.evaluate(comeBack);
    await settled(page);
    assert.ok((await page.$$(".advice")).length > 0);
  }));

/** A run whose file a separate process appends to all the time: this one may be busy for longer than a file counts as still being written. */
async function beingWritten(s, patience, check) {
  const event = '{"ph":"X","cat":"cpu_op","name":"op","pid":1,"tid":1,"ts":10,"dur":5},';
  let writer;
  const fill = (folder) => {
    addSample(s, folder, "sample");
    mkdirSync(join(folder, "growing"));
    const file = join(folder, "growing/worker0.pt.trace.json");
    return () => {
      writeFileSync(file, '{"traceEvents":[\n');
      writer = spawn("sh", ["-c", `while sleep 0.1; do echo '${event}' >>"$0"; done`, file]);
    };
  };
  try {
    await alone(s, fill, (own, context) => check(own, context, writer), { env: { TACHO_PATIENCE: String(patience) } });
  } finally {
    writer?.kill();
  }
}

test("a run that cannot be read yet holds no connection: other tabs are ready meanwhile", (s) =>
  beingWritten(s, 600, async (own, context) => {
    const first = await openTab(context, `${own.url}/#/overview?run=growing`);
    await first.waitForSelector("h1 >> text=growing");
    assert.match(plain(await first.textContent("main")), /Still being written.*first numbers/);
    assert.equal(await first.textContent(".live-badge"), "being written");
    const second = await openTab(context, `${own.url}/#/overview?run=sample`);
    await settled(second);
    assert.match(await heading(second), /^The GPU is idle/);
    assert.equal(await heading(first), "growing");
  }));

test("a run that is always being written is read as far as it is, and says so", (s) =>
  beingWritten(s, 0, async (own, context, writer) => {
    const page = await openTab(context, `${own.url}/#/overview?run=growing`);
    await page.waitForSelector(".live-line >> text=/Still being written/");
    await page.waitForFunction(() => !["growing", undefined].includes(document.querySelector("h1")?.textContent));
    writer.kill();
    await page.waitForSelector(".live-badge", { state: "detached" });
  }));

test("slow queries in six tabs leave the seventh its connections, and the server its threads", (s) =>
  alone(s, (folder) => addSample(s, folder, "sample"), async (own, context) => {
    const slow = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    let answered = 0;
    for (let i = 0; i < 6; i++) {
      const page = await context.newPage();
      page.on("response", (r) => {
        if (r.url().includes("RECURSIVE")) answered++;
      });
      await page.goto(`${own.url}/#/query?run=sample&sql=${encodeURIComponent(`${slow} -- ${i}`)}`);
      await page.waitForSelector("h1");
    }
    const seventh = await openTab(context, `${own.url}/#/overview?run=sample`);
    await settled(seventh);
    assert.match(await heading(seventh), /^The GPU is idle/);
    // Each is ended by the server after ten seconds, and at most one runs at a time on two processors.
    assert.ok(answered < 6, `${answered} of six queries were over by then`);
  }));

test("a server that goes is said in words; when it is back everything fills by itself", (s) =>
  alone(s, (folder) => addSample(s, folder, "sample"), async (own, context) => {
    const page = await openTab(context, `${own.url}/#/overview?run=sample`);
    await settled(page);
    const before = await heading(page);
    await own.stop();
    await page.waitForSelector(".connection >> text=Connection lost");
    assert.equal(await heading(page), before); // what was there stays
    // Views that were not asked before: one whose script is there, and one whose script is not.
    for (const view of ["operators", "memory"]) {
      await page.evaluate((v) => (location.hash = `#/${v}?run=sample`), view);
      await page.waitForSelector("main >> text=The server does not answer");
      assert.doesNotMatch(await page.textContent("body"), /TypeError|Failed to fetch|NetworkError/);
    }
    await own.start();
    await page.waitForSelector(".connection", { state: "detached" });
    await settled(page);
    assert.equal(await page.$(".failure"), null);
    assert.match(await heading(page), /Memory is not|GiB|MiB/);
    await page.evaluate(() => (location.hash = "#/overview?run=sample"));
    await settled(page);
    assert.equal(await heading(page), before);
  }));

test("the timeline asks once for what it cannot get, and draws it when the server is back", (s) =>
  alone(s, (folder) => addSample(s, folder, "sample"), async (own, context) => {
    const page = await openTab(context, `${own.url}/#/timeline?run=sample`);
    await settled(page);
    await own.stop();
    await page.waitForSelector(".connection >> text=Connection lost");
    let asked = 0;
    page.on("request", (r) => {
      if (r.url().includes("/viewport")) asked++;
    });
    for (let i = 0; i < 8; i++) await page.keyboard.press("w");
    await page.waitForFunction(() => location.hash.includes("view="));
    const frames = (n) => page.evaluate((many) => new Promise((done) => {
      const next = (left) => (left ? requestAnimationFrame(() => next(left - 1)) : done());
      next(many);
    }), n);
    await frames(60);
    assert.ok(asked > 0 && asked < 20, `${asked} requests for a view that cannot be had`);
    await own.start();
    await Promise.all([page.waitForResponse((r) => r.url().includes("/viewport") && r.ok()), page.waitForSelector(".connection", { state: "detached" })]);
    await settled(page);
  }));

test("a server that is started again with another token says where its address is", async (s) => {
  const own = await s.another((folder) => addSample(s, folder, "sample"));
  await own.stop();
  const context = await s.browser.newContext();
  const port = new URL(own.url).port;
  let server = await serve(s.tacho, own.folder, port, {}, "--token");
  try {
    const page = await openTab(context, server.login);
    await settled(page);
    await server.stop();
    await page.waitForSelector(".connection >> text=Connection lost");
    server = await serve(s.tacho, own.folder, port, {}, "--token");
    await page.waitForSelector(".connection >> text=The server asks for its token");
    await page.goto(server.login);
    await settled(page);
    assert.equal(await page.$(".connection"), null);
  } finally {
    await context.close();
    await server.stop();
    rmSync(own.folder, { recursive: true, force: true });
  }
});

test("a view that does not exist becomes one that does, also in the address", (s) =>
  visit(s, "bogus?run=sample", async (page) => {
    assert.match(page.url(), /#\/overview\?run=sample$/);
    assert.match(await heading(page), /^The GPU is idle/);
    await page.evaluate(() => (location.hash = "#/nothing?run=sample&step=3"));
    await page.waitForFunction(() => location.hash === "#/overview?run=sample&step=3");
  }));
