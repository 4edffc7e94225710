// A report: one file, opened from the disk with the network off. Every view has its answers, in both languages; what is
// not inside is mentioned; names of a trace are only names; a comparison opens on what changed. The page never breaks its own
// policy, and the policy lets nothing else run, load or send.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { settled } from "./stand.mjs";
import { test } from "./tools.mjs";

const VIEWS = "overview why code timeline operators kernels roofline modules memory steps pipeline distributed".split(" ");

async function withReport(s, args, run, { theme = "light", lang = "en", offline = true } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "tacho-report-test-"));
  const file = join(folder, "report.html");
  execFileSync(s.tacho, ["report", ...args(folder), "-q", "-o", file]);
  const context = await s.browser.newContext({ offline, viewport: { width: 1440, height: 900 } });
  await context.addInitScript(([t, l]) => (localStorage.setItem("tacho.theme", t), localStorage.setItem("tacho.language", l)), [theme, lang]);
  await context.addInitScript(() => {
    globalThis.violations = [];
    addEventListener("securitypolicyviolation", (e) => globalThis.violations.push(`${e.effectiveDirective} ${e.blockedURI}`));
  });
  const page = await context.newPage();
  const faults = [];
  page.on("console", (m) => m.type() === "error" && faults.push(m.text()));
  page.on("pageerror", (e) => faults.push(e.message));
  page.on("request", (r) => !/^(data:|blob:)/.test(r.url()) && r.url().split("#")[0] !== `file://${file}` && faults.push(`request to ${r.url()}`));
  try {
    await run(page, { file, url: `file://${file}`, folder, faults });
    assert.deepEqual(faults, []);
    assert.deepEqual(await page.evaluate(() => globalThis.violations), []);
  } finally {
    await context.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const sample = (s) => join(s.root, "tests/data/sample.pt.trace.json.gz");
const refusals = (page) => page.locator(".not-inside, .failure").allTextContents();

for (const lang of ["en", "zh"])
  test(`report: every view of a file without a server has its answers (${lang})`, (s) =>
    withReport(
      s,
      () => [sample(s)],
      async (page, { url, file }) => {
        assert.ok(statSync(file).size < 2_000_000, `${statSync(file).size} bytes`);
        for (const view of VIEWS) {
          await page.goto(`${url}#/${view}`);
          await settled(page);
          assert.deepEqual(await refusals(page), [], view);
        }
        assert.match(await page.locator(".inside").innerText(), /tacho serve/);
        await page.screenshot({ path: join(s.root, `build/screenshots/report-${lang}.png`) });
      },
      { lang },
    ));

/** What a hole in the page could try, each with the directive that stops it. */
const ATTEMPTS = {
  "connect-src fetch": (to) => fetch(`${to}/x`).catch(() => {}),
  "connect-src socket": (to) => new WebSocket(to.replace("http", "ws")),
  "connect-src beacon": (to) => navigator.sendBeacon(to, "names"),
  "img-src": (to) => (new Image().src = `${to}/x.png`),
  "script-src-elem inline": () => document.body.append(Object.assign(document.createElement("script"), { textContent: "globalThis.ran = true" })),
  "script-src-elem foreign": (to) => document.body.append(Object.assign(document.createElement("script"), { src: `${to}/x.js` })),
  "script-src-attr": () => document.body.insertAdjacentHTML("beforeend", '<p onclick="globalThis.ran = true">x</p>'),
  "style-src-elem": () => document.head.append(Object.assign(document.createElement("style"), { textContent: "body { display: none }" })),
  "font-src": (to) => new FontFace("x", `url(${to}/x.woff2)`).load().catch(() => {}),
  "frame-src": (to) => document.body.append(Object.assign(document.createElement("iframe"), { src: to })),
  "object-src": (to) => document.body.append(Object.assign(document.createElement("object"), { data: `${to}/x.swf` })),
  "media-src": (to) => document.body.append(Object.assign(document.createElement("video"), { src: `${to}/x.mp4` })),
  "form-action": (to) => document.body.appendChild(Object.assign(document.createElement("form"), { action: to })).submit(),
  "base-uri": (to) => document.head.append(Object.assign(document.createElement("base"), { href: to })),
};

/** In a separate task: what the debugger evaluates itself is exempt. */
const evaluateText = () =>
  new Promise((resolve) =>
    setTimeout(() => {
      try {
        resolve(globalThis.Function("return 'it ran'")());
      } catch (e) {
        resolve(e.name);
      }
    }),
  );

test("report: its policy lets nothing else run, load or send", async (s) => {
  let n = 0;
  const server = createServer((_, answer) => answer.end(String(++n)));
  server.on("connection", () => n++);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const tryAll = async (page, { url, faults }) => {
    await page.goto(url);
    await settled(page);
    assert.deepEqual(await page.evaluate(() => globalThis.violations), []);
    for (const [what, attempt] of Object.entries(ATTEMPTS)) {
      await page.evaluate(attempt, `http://127.0.0.1:${server.address().port}`);
      await page.waitForFunction((directive) => globalThis.violations.some((v) => v.startsWith(directive)), what.split(" ")[0], { timeout: 5000 });
      await page.evaluate(() => (globalThis.violations = []));
    }
    assert.equal(await page.evaluate(evaluateText), "EvalError");
    await page.evaluate(() => (globalThis.violations = []));
    assert.equal(await page.evaluate(() => globalThis.ran), undefined);
    assert.equal(n, 0, "something arrived at the server");
    faults.length = 0; // the console names each attempt
  };
  try {
    await withReport(s, () => [sample(s)], tryAll, { offline: false });
  } finally {
    server.close();
  }
});

test("report: iterations and requests of a server are inside", (s) =>
  withReport(s, () => [join(s.root, "tests/data/serving/prefill_first")], async (page, { url }) => {
    for (const form of ["", "?iterations=tokens", "?iterations=batch&request=req-30&sort=own:desc"]) {
      await page.goto(`${url}#/serving${form}`);
      await settled(page);
      assert.deepEqual(await refusals(page), [], form);
    }
    assert.match(await page.locator("section[aria-label='Autopsy']").innerText(), /req-30/);
    assert.match(await page.locator("section[aria-label='Slowest requests'] tbody").innerText(), /req-/);
  }));

test("report: what is not inside is said, and nothing waits for it", (s) =>
  withReport(s, () => [sample(s)], async (page, { url }) => {
    await page.goto(`${url}#/operators?step=1..2&q=x`);
    await settled(page);
    assert.match((await refusals(page)).join(), /does not contain this/);
    await page.goto(`${url}#/query`);
    await settled(page);
    assert.match((await refusals(page)).join(), /tacho serve/);
  }));

test("report: a slice of a step that is inside as a whole is selected; its name is not markup", (s) => {
  const evil = '</script><img src=x onerror="document.title=1">';
  const trace = (folder) => {
    const events = Array.from({ length: 40 }, (_, i) => ({ ph: "X", cat: "cpu_op", name: i === 20 ? evil : `op${i}`, pid: 1, tid: 1, ts: 1000 + i * 10, dur: 9, args: { k: evil } }));
    const steps = [0, 1].map((n) => ({ ph: "X", cat: "user_annotation", name: `ProfilerStep#${n}`, pid: 1, tid: 1, ts: 1000 + n * 200, dur: 199 }));
    writeFileSync(join(folder, `${"run"}.json`), JSON.stringify({ traceEvents: [...steps, ...events] }));
    return [join(folder, "run.json"), "--detail", "0..1"];
  };
  return withReport(s, trace, async (page, { url }) => {
    await page.goto(`${url}#/timeline`);
    await settled(page);
    const title = await page.title();
    const answer = await page.evaluate(async (name) => {
      const { index, unpack } = globalThis.tachoReport;
      for (const { part } of index.slices) {
        const list = JSON.parse(new TextDecoder().decode(await unpack(String(part))));
        const found = list.find((d) => d.slice.name === name);
        if (found) return found;
      }
    }, evil);
    assert.equal(answer.arguments.k, evil);
    await page.goto(`${url}#/timeline?sel=slice:${answer.slice.id}`);
    await settled(page);
    await page.waitForSelector(".tl-what");
    assert.equal(await page.locator(".tl-what code").innerText(), evil);
    assert.equal(await page.title(), title);
    assert.equal(await page.locator("img").count(), 0);
  });
});

test("report: a comparison opens on what changed", (s) =>
  withReport(s, (folder) => ["--diff", sample(s), join(s.root, "tests/data/sample.pt.trace.json.gz")], async (page, { url }) => {
    await page.goto(url);
    await settled(page);
    assert.match(page.url(), /#\/compare\?run=sample&other=sample-2/);
    assert.deepEqual(await refusals(page), []);
  }));

test("report: past the finest picture inside the timeline says so, and how to get more; in whole steps it does not", (s) =>
  withReport(s, () => [sample(s), "--detail", "3"], async (page, { url }) => {
    const note = page.locator(".tl-frame > .not-inside");
    for (const [view, said] of [
      ["0-91000000", 0],
      ["5000000-5020000", 1], // of step 2
      ["40000000-40020000", 0], // of step 3, which is inside
    ]) {
      await page.goto(`${url}#/timeline?view=${view}`);
      await settled(page);
      await page.waitForTimeout(300);
      assert.equal(await note.count(), said, view);
    }
    await page.goto(`${url}#/timeline?view=5000000-5020000`); // its picture is there already
    await settled(page);
    assert.match(await note.innerText(), /tacho report --detail/);
  }));

test("report: a summary of many ranks says of views that need events where they are, in one sentence", (s) =>
  withReport(
    s,
    (folder) => {
      const file = join(folder, "job.tacho");
      execFileSync(s.tacho, ["reduce", join(s.root, "tests/data/two_ranks"), "-q", "-o", file]);
      return [file];
    },
    async (page, { url }) => {
      for (const view of ["overview", "operators", "kernels", "distributed"]) {
        await page.goto(`${url}#/${view}`);
        await settled(page);
        assert.deepEqual(await refusals(page), [], view);
      }
      for (const view of ["steps", "timeline", "modules", "memory", "pipeline", "roofline", "query"]) {
        await page.goto(`${url}#/${view}`);
        await settled(page);
        assert.deepEqual(await refusals(page), ["A summary of 2 workers has no events. Open one of the original traces to use this view."], view);
      }
    },
  ));
