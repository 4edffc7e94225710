// Files that are dropped on the page, and the page without a run.
import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openPage, settled } from "./stand.mjs";
import { addressHas, plain, test, visit } from "./tools.mjs";

/** Drops files on the page, as a file manager does. */
const drop = (page, files) =>
  page.evaluate((list) => {
    const data = new DataTransfer();
    for (const [name, text] of list) data.items.add(new File([text], name));
    for (const type of ["dragover", "drop"])
      document.body.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
  }, files);

/** Drops a folder: what a browser gives of one, made of a tree of texts. */
const dropFolder = (page, name, tree) =>
  page.evaluate(
    ([top, whole]) => {
      const entry = (path, node) => ({
        name: path.split("/").pop(),
        fullPath: path,
        isFile: typeof node === "string",
        isDirectory: typeof node !== "string",
        file: (done) => done(new File([node], path.split("/").pop())),
        createReader() {
          const parts = [Object.entries(node).map(([n, below]) => entry(`${path}/${n}`, below)), []];
          return { readEntries: (done) => done(parts.shift() ?? []) };
        },
      });
      const data = new DataTransfer();
      data.items.add(new File([""], top));
      const real = DataTransferItem.prototype.webkitGetAsEntry;
      DataTransferItem.prototype.webkitGetAsEntry = () => entry(`/${top}`, whole);
      document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
      DataTransferItem.prototype.webkitGetAsEntry = real;
    },
    [name, tree],
  );

test("dropped files open as one run; what is not a trace says so; an empty folder tells each framework's way", async (s) => {
  const own = await s.another(() => {});
  const here = { ...s, url: own.url };
  const trace = readFileSync(join(s.root, "tests/data/minimal.pt.trace.json"), "utf8");
  const { page, context, faults } = await openPage(here, "");
  try {
    await page.waitForSelector("text=No traces in");
    for (const [tab, word] of [["Paddle", "export_chrome_tracing"], ["MindSpore", "mindspore.Profiler"], ["MegEngine", "Profiler("], ["JAX", "jax.profiler.start_trace"], ["TensorFlow", "tf.profiler.experimental.start"], ["Ascend", "torch_npu"], ["Nsight", "nsys export --type sqlite"], ["ROCm", "rocprofv3 "], ["Perfetto", "track_event"], ["tacho record", "tacho record -o"], ["PyTorch", "tensorboard_trace_handler"]]) {
      await page.click(`role=radio[name='${tab}']`);
      assert.ok((await page.textContent(".missing pre")).includes(word), tab);
    }
    await page.click(".copy-code");
    assert.ok((await page.evaluate(() => navigator.clipboard.readText())).includes(own.folder), "the folder that is watched");
    await drop(page, [["notes.txt", "no trace"]]);
    await page.waitForSelector(".drop-file [role=alert] >> text=notes.txt is not a trace");
    await page.keyboard.press("Escape");
    await drop(page, [["rank0.pt.trace.json", trace], ["rank1.pt.trace.json", trace]]);
    await addressHas(page, "run=rank0");
    await settled(page);
    assert.equal(await page.locator(".drop-files").count(), 0);
    const runs = await page.evaluate(async () => (await fetch("/api/v1/runs")).json());
    assert.equal(runs.runs[0].workers.length, 2);
    assert.ok(runs.upload.used === 2 * trace.length, String(runs.upload.used));
    // A folder keeps its folders: files of one name are two ranks of one run; what is not a trace comes along quietly.
    await dropFolder(page, "job", { ".hidden": "x", "notes.txt": "no trace", rank0: { "trace.json": trace }, rank1: { "trace.json": trace } });
    await page.waitForFunction(() => /[?&]run=job(&|$)/.test(location.hash));
    await settled(page);
    assert.equal(await page.locator(".drop-files").count(), 0);
    const after = await page.evaluate(async () => (await fetch("/api/v1/runs")).json());
    assert.deepEqual(after.runs.find((r) => r.name === "job").workers.map((w) => w.name), ["rank0/trace", "rank1/trace"]);
    await dropFolder(page, "papers", { "a.txt": "no trace", "b.txt": "none" });
    await page.waitForSelector("[role=alert] >> text=No trace found in papers: none of its 2 files can be opened");
    await page.keyboard.press("Escape");
    // By a click, too.
    await page.evaluate(() => {
      location.hash = "#/runs?run=rank0";
    });
    await page.setInputFiles(".open-files input", join(s.root, "tests/data/sample.pt.trace.json.gz"));
    await addressHas(page, "run=sample");
    await settled(page);
    assert.deepEqual(faults.filter((f) => !/ 422 /.test(f)), []); // the browser tells of the refused file
  } finally {
    await context.close();
    await own.end();
  }
});

test("a drop that the server does not take: where to put the files instead; an unknown run is named", async (s) => {
  const { page, context } = await openPage(s, "overview?run=sample");
  const answerWith = (upload) =>
    page.route("**/api/v1/runs", async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ response: answer, json: { ...(await answer.json()), upload } });
    });
  try {
    await settled(page);
    for (const [upload, words] of [[null, "folder it watches"], [{ used: 90, limit: 100 }, "only 10"]]) {
      await answerWith(upload);
      await page.reload();
      await settled(page);
      await drop(page, [["my trace.json", "x".repeat(20)]]);
      await page.waitForSelector(".drop-command >> text=cp 'my trace.json'");
      assert.ok(plain(await page.textContent(".drop-words")).includes(words));
      await page.keyboard.press("Escape");
      await page.waitForSelector(".drop-command", { state: "detached" });
      await page.unrouteAll({ behavior: "wait" }); // one may be under way: the list is asked for as runs become known
    }
    await page.evaluate(() => {
      location.hash = "#/overview?run=nowhere";
    });
    await page.waitForSelector("role=alert >> text=Run nowhere does not exist");
  } finally {
    await context.close();
  }
});

test("the palette finds kernels and modules however late they are known", (s) =>
  visit(s, "overview?run=gpt_eager", async (page) => {
    await page.route("**/api/v1/kernels?*", (route) => setTimeout(() => route.continue(), 1500));
    await page.keyboard.press("Control+k");
    await page.fill(".palette input", "cutlass");
    await page.waitForSelector(".palette-entry:has-text('cutlass_75_tensorop')");
    await page.fill(".palette input", "GPT2LMHead");
    await page.waitForSelector(".palette-entry:has-text('GPT2LMHeadModel_0')");
  }), ["gpt_eager"]);

test("the palette without words leads to no other run", (s) =>
  visit(s, "overview?run=sample", async (page) => {
    await page.keyboard.press("Control+k");
    await page.waitForSelector(".palette-entry[aria-selected=true]");
    assert.equal(plain(await page.textContent(".palette-group >> nth=0")), "Views");
    await page.keyboard.press("Escape");
  }));

test("a second run that appears leaves the reader where he is", async (s) => {
  const own = await s.another((folder) => put(s, folder, "first"));
  try {
    await visit({ ...s, url: own.url }, "overview", async (page) => {
      put(s, own.folder, "second");
      await addressHas(page, "run=first");
      await settled(page);
      assert.equal(await page.locator(".refusal, .failure").count(), 0);
      assert.match(await page.textContent(".crumb"), /first/);
    });
  } finally {
    await own.end();
  }
});

test("a run that cannot be read says so once, in every view, and leads back to the others", async (s) => {
  const own = await s.another((folder) => {
    put(s, folder, "fine");
    mkdirSync(join(folder, "broken"));
    writeFileSync(join(folder, "broken/w0.pt.trace.json"), '{"schemaVersion":1,"traceEvents":"none"}');
  });
  const { page, context } = await openPage({ ...s, url: own.url }, "overview?run=broken");
  try {
    for (const view of ["overview", "steps", "timeline"]) {
      await page.evaluate((v) => {
        location.hash = `#/${v}?run=broken`;
      }, view);
      await page.waitForSelector("h1 >> text=broken / w0 cannot be read");
      assert.equal(await page.locator("[role=alert]").count(), 1, view);
    }
    await page.click("main >> role=button[name='All runs']");
    await page.waitForSelector("h1 >> text=2 runs");
  } finally {
    await context.close();
    await own.end();
  }
});

function put(s, folder, run) {
  mkdirSync(join(folder, run));
  cpSync(join(s.root, "tests/data/minimal.pt.trace.json"), join(folder, run, "w0.pt.trace.json"));
}
