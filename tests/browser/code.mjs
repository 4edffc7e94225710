// The Code view: lines and their numbers are those of the command line, next to the source; keys, search, marks, the way to
// the timeline and into the editor; what it says without source and without lines; all widths.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { pictures } from "./pictures.mjs";
import { settled } from "./stand.mjs";
import { addressHas, heading, plain, rowsOf, test, time, visit } from "./tools.mjs";

const TRAIN = `import torch, data
from model import GPT


def train(cfg):
    """Trains, and saves every step.
    It is slow."""
    model = GPT(cfg).cuda()
    for step, batch in enumerate(data.loader(cfg)):
        loss = model(batch.cuda(non_blocking=True)).loss  # forward
        loss.backward()
        save(model, cfg.path)


def save(model, path):
    torch.save(model.state_dict(), path + "checkpoint_of_a_long_name.pt", pickle_protocol=5, _use_new_zipfile_serialization=True)
`;
const MODEL = "class GPT:\n    def forward(self, ids):\n        return self.blocks(ids)\n";
const LONG = Array.from({ length: 10_000 }, (_, i) => (i % 50 === 7 ? `def step_${i}(x):` : `    x = x + ${i}`)).join("\n");
const STEPS = 5;

/** One worker whose time is planted: save is 60 of 100 ms, and the device has nothing to do meanwhile. */
function planted(code) {
  const events = [];
  let id = 0;
  const host = (cat, name, ts, dur, args = {}) => events.push({ ph: "X", cat, name, pid: 1, tid: 1, ts, dur, args });
  const python = (file, line, name, ts, dur) => host("python_function", `${file}(${line}): ${name}`, ts, dur, { "Python id": ++id });
  const work = (ts, dur) => {
    const correlation = events.length + 1;
    host("cpu_op", "aten::mm", ts, 2000, { "External id": correlation });
    host("cuda_runtime", "cudaLaunchKernel", ts + 500, 500, { correlation, "External id": correlation });
    events.push({ ph: "X", cat: "kernel", name: "gemm", pid: 0, tid: 7, ts: ts + 1200, dur, args: { correlation, device: 0, stream: 7 } });
  };
  const all = STEPS * 100_000;
  python(join(code, "train.py"), 5, "train", 0, all + 100);
  for (let s = 0; s < STEPS; s++) {
    const at = 50 + s * 100_000;
    host("user_annotation", `ProfilerStep#${s + 1}`, at, 99_990);
    python(join(code, "model.py"), 2, "forward", at + 1000, 20_000);
    work(at + 2000, 30_000);
    python(join(code, "train.py"), 15, "save", at + 38_000, 60_000);
    python("/opt/site-packages/torch/serialization.py", 965, "save", at + 39_000, 58_000);
    python(join(code, "long.py"), 9008, "step_9007", at + 22_000, 8_000);
  }
  return JSON.stringify({ schemaVersion: 1, baseTimeNanoseconds: 4102444800000000000, traceEvents: events });
}

function fill(folder) {
  const code = join(folder, "project");
  for (const name of ["project", "run", "elsewhere", "none"]) mkdirSync(join(folder, name));
  writeFileSync(join(code, "train.py"), TRAIN);
  writeFileSync(join(code, "model.py"), MODEL);
  writeFileSync(join(code, "long.py"), LONG);
  writeFileSync(join(folder, "run/rank0.pt.trace.json"), planted(code));
  writeFileSync(join(folder, "elsewhere/rank0.pt.trace.json"), planted("/workspace/job"));
  const bare = { ph: "X", cat: "cpu_op", name: "aten::mm", pid: 1, tid: 1, ts: 1, dur: 5 };
  writeFileSync(join(folder, "none/rank0.pt.trace.json"), JSON.stringify({ schemaVersion: 1, traceEvents: [bare] }));
}

const own = (s) => s.also("code", fill);
const panel = (name) => `section[aria-label='${name}']`;
const told = (s, o, run) =>
  JSON.parse(execFileSync(s.tacho, ["lines", join(o.folder, run), "-q", "--json", "--limit", "0"], { maxBuffer: 1 << 28 }).toString());
const open = async (s, hash, check, options) => {
  const o = await own(s);
  await visit({ ...s, url: o.url }, hash, (page) => check(page, o), options);
};
const row = (page, n) => page.locator(`#code-${n}`);

test("code: verdict, files and the columns of a line are those of the command line", (s) =>
  open(s, "code?run=run", async (page, o) => {
    const answer = told(s, o, "run");
    const lines = rowsOf(answer.tables.lines);
    const save = lines.find((l) => l.function === "save" && l.owner === "own");
    assert.ok(save.critical_ns > 0.5 * STEPS * 1e8, "save is the planted culprit");
    assert.equal(await heading(page), plain(answer.verdict.text.en));
    const shown = plain(await row(page, 15).innerText());
    assert.ok(shown.includes((save.cpu_ns / STEPS / 1e6).toFixed(1)), shown);
    assert.ok(shown.includes((save.idle_ns / STEPS / 1e6).toFixed(1)), shown);
    assert.ok(shown.endsWith("def save(model, path):"), shown);
    assert.match(await row(page, 15).getAttribute("class"), /hot/);
    assert.equal(await row(page, 15).getAttribute("aria-selected"), "true", "the hottest line is chosen");
    const facts = plain(await page.textContent(panel("Line 15")));
    assert.ok(facts.includes(`On the critical path${time(save.critical_ns / STEPS)}`), facts);
    assert.ok(facts.includes("60.0 ms"), `the longest call: ${facts}`);
    const files = await page.$$eval(".code-file code", (l) => l.map((e) => e.textContent));
    assert.equal(files[0], "train.py");
    assert.deepEqual([...files].sort(), ["long.py", "model.py", "train.py"]);
  }));

test("code: the source is colored, and loses nothing", (s) =>
  open(s, "code?run=run", async (page) => {
    const text = await page.$$eval(".code-text", (l) => l.map((e) => e.textContent).join("\n"));
    assert.equal(text, TRAIN.trimEnd());
    assert.equal(await page.locator(".ink-definition").first().textContent(), "train");
    assert.equal(await page.locator("#code-7 .ink-string").textContent(), 'It is slow."""'.padStart(18));
  }));

test("code: keys move through the lines, n goes to the next hot one in its own file, Enter to the timeline", (s) =>
  open(s, "code?run=run", async (page, o) => {
    const hot = rowsOf(told(s, o, "run").tables.lines).filter((l) => l.owner === "own" && l.share >= 0.03).sort((a, b) => b.critical_ns - a.critical_ns);
    await row(page, 10).click();
    await addressHas(page, "line=10");
    await page.keyboard.press("ArrowDown");
    await addressHas(page, "line=11");
    await page.keyboard.press("n");
    await addressHas(page, `line=${hot[0].line}`);
    await page.keyboard.press("n");
    await addressHas(page, `line=${hot[1].line}`);
    await addressHas(page, hot[1].file.split("/").pop());
    await page.waitForSelector(`#code-${hot[1].line}`);
    await page.goto(`${o.url}/#/code?run=run&file=train.py&line=15`);
    await settled(page);
    await page.locator(".code-scroll").focus();
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => location.hash.startsWith("#/timeline"));
    await addressHas(page, `sel=slice:${rowsOf(told(s, o, "run").tables.lines).find((l) => l.line === 15).slice}`);
    await addressHas(page, "train.py(15)");
    await settled(page);
  }));

test("code: a file of 10,000 lines has only the rows in view, and a mark leads to the hot one", (s) =>
  open(s, "code?run=run&file=long.py", async (page) => {
    await row(page, 9008).waitFor();
    assert.ok((await page.locator(".code-row").count()) < 120);
    const height = await page.locator(".code-scroll").evaluate((e) => e.scrollHeight);
    assert.ok(height > 9_000 * 20, String(height));
    await page.locator(".code-scroll").evaluate((e) => e.scrollTo(0, 0));
    await row(page, 1).waitFor();
    const mark = await page.locator(".code-marks i.now").boundingBox();
    await page.mouse.click(mark.x + 2, mark.y + 2);
    await row(page, 9008).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("step_57(");
    await page.keyboard.press("Enter");
    await addressHas(page, "line=58");
    assert.match(await row(page, 58).getAttribute("class"), /found/);
    assert.match(plain(await page.textContent(".code-search")), /1 of 1/);
  }));

test("code: callers and callees are those that were planted; a click chooses them", (s) =>
  open(s, "code?run=run&file=train.py&line=15", async (page) => {
    const flame = page.locator(panel("Callers and callees"));
    const words = await flame.locator("svg text").allTextContents();
    assert.ok(words[0].startsWith("train.py:5"), words.join());
    assert.ok(words.some((w) => w.startsWith("serialization.py:965")), words.join());
    await flame.getByRole("button", { name: "train.py:5" }).click();
    await addressHas(page, "line=5");
  }));

test("code: the time of a line alone is another than with what it calls, and the editor opens at the line", (s) =>
  open(s, "code?run=run&file=train.py&line=5", async (page, o) => {
    const train = rowsOf(told(s, o, "run").tables.lines).find((l) => l.function === "train");
    const both = plain(await row(page, 5).innerText());
    assert.ok(both.startsWith((train.cpu_ns / STEPS / 1e6).toFixed(1)), both);
    await page.getByRole("radio", { name: "Self", exact: true }).click();
    await addressHas(page, "time=self");
    const alone = plain(await row(page, 5).innerText());
    assert.ok(alone.startsWith((train.cpu_self_ns / STEPS / 1e6).toFixed(1)), alone);
    const link = await page.getByRole("link", { name: "Open in editor" }).getAttribute("href");
    assert.equal(link, `vscode://file/${join(o.folder, "project/train.py")}:5`);
  }));

test("code: without the source there is a table of lines and how to get it; without lines, how to record", (s) =>
  open(s, "code?run=elsewhere", async (page, o) => {
    const source = plain(await page.textContent(panel("Source code")));
    assert.match(source, /\/workspace\/job\/train\.py was not found on this machine/);
    assert.match(source, /--source-root DIR/);
    assert.match(source, /save/);
    assert.equal(await page.locator(".code-scroll").count(), 0);
    await page.goto(`${o.url}/#/code?run=none`);
    await settled(page);
    assert.equal(await heading(page), "Lines of code were not recorded in this run");
    assert.match(await page.textContent("pre"), /with_stack=True/);
  }));

test("code: no width scrolls sideways, and axe has nothing to say", (s) =>
  open(s, "code?run=run", async (page) => {
    for (const [width, height] of [[400, 800], [1100, 800], [1440, 900], [2560, 1300]]) {
      await page.setViewportSize({ width, height });
      await settled(page);
      const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(beyond <= 0, `${width}: ${beyond} px too wide`);
      await page.screenshot({ path: join(s.root, `build/screenshots/code-${width}.png`) });
    }
    await page.setViewportSize({ width: 1440, height: 900 });
    await pictures(s, page, "code");
  }));
