// Runs that are not finished, and steps that a run does not have: the page says so in words.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { settled } from "./stand.mjs";
import { addSample } from "./tabs.mjs";
import { addressHas, addressLacks, heading, plain, test, visit } from "./tools.mjs";

const number = (text) => Number(text.replace(/,/g, ""));

/** `tacho record` of the small training program, until it is stopped. */
function record(s, folder) {
  const program = join(dirname(s.tacho), "tacho-demo");
  if (!existsSync(program)) throw new Error(`${program} is missing: make`);
  const child = spawn(s.tacho, ["record", "-q", "-o", folder, "--", program, "--steps", "1000000", "--slow-loader", "--quiet"], { stdio: "ignore" });
  const ended = new Promise((done) => child.on("exit", done));
  return {
    stop: () => {
      child.kill("SIGINT");
      return ended;
    },
  };
}

test("a run that is being recorded is told to readers of others, says how far it is, and renews its numbers", async (s) => {
  const own = await s.another((folder) => addSample(s, folder, "sample"));
  const context = await s.browser.newContext({ viewport: { width: 1440, height: 900 } });
  const recorder = { run: undefined };
  try {
    const page = await context.newPage();
    await page.goto(`${own.url}/#/overview?run=sample`);
    await settled(page);
    assert.equal(await page.$(".live-badge"), null);
    recorder.run = record(s, join(own.folder, "now"));
    await page.waitForSelector(".new-runs >> text=now is being recorded");
    await page.click(".new-runs >> text=Open");
    await addressHas(page, "run=now");
    await page.waitForSelector(".live-badge >> text=recording");
    await page.waitForSelector("main >> text=/Still being recorded/");
    assert.equal(await page.$(".new-runs"), null);
    await page.waitForSelector(".live-line >> text=/cover the first [\\d,]+ steps/");
    await settled(page);
    const words = async () => plain(await page.textContent(".live-line"));
    const said = (await words()).match(/Still being recorded: ([\d,]+) steps? so far\. The numbers cover the first ([\d,]+) steps/);
    assert.ok(said && number(said[1]) >= number(said[2]), await words());
    await page.screenshot({ path: join(s.root, "build/screenshots/live-light-en.png") });
    // Newer numbers take the place of the older ones: no gray bars in between.
    await page.evaluate(() => {
      globalThis.gray = 0;
      new MutationObserver(() => (globalThis.gray += document.querySelectorAll("main .waiting").length)).observe(document.body, { childList: true, subtree: true });
    });
    await page.waitForFunction(
      (before) => Number(document.querySelector(".live-line")?.textContent.match(/first ([\d,]+) step/)?.[1].replace(/,/g, "")) > before,
      number(said[2]),
    );
    await settled(page);
    assert.equal(await page.evaluate(() => globalThis.gray), 0);
    await page.goto(`${own.url}/#/runs`);
    await page.waitForSelector("tr:has-text('now') >> text=recording");
    assert.match(plain(await page.textContent(".verdict")), /1 run is being recorded/);
    await page.goto(`${own.url}/#/timeline?run=now&lang=zh`);
    await page.waitForSelector(".live-line >> text=/仍在记录：目前 [\\d,]+ 步/");
    await recorder.run.stop();
    await page.waitForSelector(".live-badge", { state: "detached" });
    await page.waitForSelector(".live-line", { state: "detached" });
    await settled(page);
    const finished = JSON.parse(execFileSync(s.tacho, ["overview", join(own.folder, "now"), "-q", "--json"], { maxBuffer: 1 << 30 }).toString());
    const steps = finished.tables.steps.total_rows;
    await page.waitForFunction((n) => document.querySelector(".tape-length")?.textContent.startsWith(`${n} `), steps);
  } finally {
    await context.close();
    await recorder.run?.stop();
    await own.end();
  }
});

test("a note about a new run goes when it is closed, and does not come for runs that are in view", async (s) => {
  const own = await s.another((folder) => addSample(s, folder, "sample"));
  const context = await s.browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(`${own.url}/#/overview`);
    await settled(page);
    addSample(s, own.folder, "second");
    await page.waitForSelector(".new-runs >> text=New run: second");
    await page.click(".new-runs >> role=button[name='Close this note']");
    await page.waitForSelector(".new-runs", { state: "detached" });
    addSample(s, own.folder, "third");
    addSample(s, own.folder, "fourth");
    await page.waitForSelector(".new-runs >> text=2 new runs");
    await page.click(".new-runs >> text=Show the runs");
    await page.waitForSelector("td >> text=fourth");
    assert.equal(await page.$(".new-runs"), null);
    addSample(s, own.folder, "fifth"); // the list shows it
    await page.waitForSelector("td >> text=fifth");
    await page.click("td >> text=sample");
    await settled(page);
    assert.equal(await page.$(".new-runs"), null);
  } finally {
    await context.close();
    await own.end();
  }
});

test("a link to a step that the run does not have says which ones it has", async (s) => {
  // Not by `visit`: what the frame asks about such steps is refused, and the browser writes that down.
  const context = await s.browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  const says = (text) => page.waitForSelector(`h1 >> text=${text}`);
  try {
    await page.goto(`${s.url}/#/overview?run=sample&step=99`);
    await says("This run has no step 99");
    const text = plain(await page.textContent("main"));
    assert.match(text, /It has steps 2–4\./);
    assert.doesNotMatch(text, /No issues|GPU busy|None recorded/);
    await page.screenshot({ path: join(s.root, "build/screenshots/no-step-light-en.png") });
    await page.click("role=button[name='Show all steps']");
    await addressLacks(page, "step=");
    await settled(page);
    assert.match(await heading(page), /^The GPU is idle/);
    await page.goBack();
    await says("This run has no step 99");
    for (const [step, said] of [["7..9", "7–9"], ["abc", "abc"], ["..1", "–1"]]) {
      await page.evaluate((v) => (location.hash = `#/kernels?run=sample&step=${v}`), step);
      await says(`This run has no step ${said}`);
    }
    await page.evaluate(() => (location.hash = "#/kernels?run=sample&step=4..9")); // one of them is there
    await settled(page);
    assert.match(plain(await page.textContent(".tape-length")), /^1 step/);
    await page.goto(`${s.url}/#/timeline?run=sample&step=99&lang=zh`);
    await says("此运行没有第 99 步");
    assert.match(plain(await page.textContent("main")), /它有第 2–4 步。/);
  } finally {
    await context.close();
  }
});

test("steps that came along from another run go silently when this one has none of them", (s) =>
  visit(s, "overview?run=resnet_w0&step=4", async (page) => {
    const last = s.json("overview", "cpu").tables.steps.total_rows;
    assert.ok(last >= 0);
    await page.keyboard.press("r");
    await page.click("role=menuitemradio[name=/cpu/]");
    await addressHas(page, "run=cpu");
    await settled(page);
    assert.doesNotMatch(await heading(page), /has no step/);
  }), ["resnet_w0", "cpu"]);
