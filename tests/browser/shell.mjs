// The frame around the views: runs, palette, trust, keys, window, what was not recorded.
import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { settled } from "./stand.mjs";
import { addressHas, addressLacks, heading, plain, test, visit } from "./tools.mjs";

function addSample(s, folder, run) {
  mkdirSync(join(folder, run));
  cpSync(join(s.root, "tests/data/sample.pt.trace.json.gz"), join(folder, run, "sample.pt.trace.json.gz"));
}

test("the start page lists the runs, a click opens one", async (s) => {
  const own = await s.another((folder) => ["sample", "second"].forEach((run) => addSample(s, folder, run)));
  try {
    await visit({ ...s, url: own.url }, "", async (page) => {
      assert.match(await heading(page), /^2 runs/);
      await page.click("td >> text=sample");
      await page.waitForFunction(() => location.hash.startsWith("#/overview?run=sample"));
      await settled(page);
      assert.notEqual(await heading(page), "");
      await page.goBack();
      await page.waitForFunction(() => !location.hash.includes("run=sample"));
    });
  } finally {
    await own.end();
  }
});

test("a folder with one run opens it", async (s) => {
  const own = await s.another((folder) => addSample(s, folder, "sample"));
  try {
    await visit({ ...s, url: own.url }, "", async (page) => assert.match(await heading(page), /^The GPU is idle/));
  } finally {
    await own.end();
  }
});

test("the rail without its words gives its width to the view, and stays so", (s) =>
  visit(s, "timeline?run=sample", async (page) => {
    const left = () => page.evaluate(() => document.getElementById("content").getBoundingClientRect().left);
    assert.equal(await left(), 176);
    await page.keyboard.press("\\");
    await page.waitForSelector(".shell.narrow");
    assert.equal(await left(), 48);
    await page.reload();
    await settled(page);
    assert.equal(await left(), 48);
    await page.click(".rail-fold");
    await page.waitForSelector(".shell:not(.narrow)");
    assert.equal(await left(), 176);
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
    assert.equal(await page.$("dialog"), null);
    // The focus cannot leave a dialog, and goes back to where it was; a press outside closes it too.
    await page.focus(".trust-chip");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".drawer");
    for (let i = 0; i < 5; i++) {
      const at = await page.evaluate(() => document.activeElement.closest(".drawer, body").tagName + document.activeElement.tagName);
      assert.match(at, /^DIALOG|^BODYBODY$/);
      await page.keyboard.press("Tab");
    }
    await page.keyboard.press("Escape");
    await page.waitForSelector("dialog", { state: "detached" });
    assert.ok(await page.evaluate(() => document.activeElement.matches(".trust-chip")), "the focus is not back");
    await page.click(".trust-chip");
    await page.waitForSelector(".drawer");
    await page.mouse.click(300, 500);
    await page.waitForSelector("dialog", { state: "detached" });
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

test("the window is chosen by its borders, by a drag on the tape, by the menu; back goes back", (s) =>
  visit(s, "overview?run=resnet_w0", async (page) => {
    await page.click("role=button[name=/^Window/]");
    await page.click("text=Custom…");
    await page.fill("label:has-text('From') input", "3");
    await page.fill("label:has-text('To') input", "9999999999x");
    await page.click("role=button[name='Set the window']");
    await page.waitForSelector("[role=alert] >> text=no such window");
    await page.fill("label:has-text('To') input", "4");
    await page.keyboard.press("Enter");
    await addressHas(page, "step=3..4");
    await page.waitForFunction(() => /^2 steps/.test(document.querySelector(".tape-length")?.textContent ?? ""));
    const strip = await page.locator(".tape-strip").boundingBox();
    await page.mouse.move(strip.x + strip.width * 0.2, strip.y + 24);
    await page.mouse.down();
    await page.mouse.move(strip.x + strip.width * 0.5, strip.y + 24, { steps: 5 });
    await page.mouse.up();
    await addressHas(page, "from=");
    await page.goBack();
    await addressHas(page, "step=3..4");
    await page.goForward();
    await addressHas(page, "from=");
    await page.mouse.dblclick(strip.x + strip.width * 0.6, strip.y + 24);
    await addressLacks(page, "from=");
    await page.click("role=button[name=/^Window/]");
    await page.click("role=menuitem[name='Slowest step']");
    await addressHas(page, "step=2");
  }), ["resnet_w0"]);

test("the tape is cut to the steps: one stray event does not stretch it", async (s) => {
  const other = await s.also("stray event", (folder) => {
    const trace = JSON.parse(gunzipSync(readFileSync(join(s.root, "tests/data/sample.pt.trace.json.gz"))).toString());
    const last = trace.traceEvents.findLast((e) => e.ph === "X" && e.cat === "cpu_op");
    trace.traceEvents.push({ ...last, name: "stray", ts: Number(last.ts) + 453e6, dur: 5 });
    writeFileSync(join(folder, "stray.pt.trace.json"), JSON.stringify(trace));
  });
  await visit({ ...s, url: other.url }, "overview", async (page) => {
    assert.match(plain(await page.textContent(".tape-length")), /3 steps · .* · of 453 s/);
    const steps = await page.$$eval(".tape-step", (list) => list.map((e) => e.getBoundingClientRect().left));
    const strip = await page.locator(".tape-strip").boundingBox();
    assert.ok(steps.length >= 2 && steps.at(-1) - steps[0] > strip.width / 3, `steps at ${steps}`);
    assert.ok(steps.every((x, i) => i === 0 || x - steps[i - 1] >= 30), "numbers do not lie over each other");
  });
});

test("another run keeps the view and the steps, not what only the first one had", (s) =>
  visit(s, "operators?run=resnet_w0&step=3&sel=slice:552", async (page) => {
    await page.keyboard.press("r");
    await page.click("role=menuitemradio[name=/gpt_eager/]");
    await addressHas(page, "run=gpt_eager");
    assert.match(page.url(), /#\/operators\?.*step=3/);
    await addressLacks(page, "sel=");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("cpu");
    await page.click(".palette-entry >> text=/^cpu$/");
    await addressHas(page, "run=cpu");
    await settled(page);
    assert.notEqual(await heading(page), "");
  }), ["resnet_w0", "gpt_eager", "cpu"]);

test("the palette: commands by >, steps by #, Shift Enter shows in the timeline", (s) =>
  visit(s, "overview?run=resnet_w0", async (page) => {
    const type = async (text) => {
      await page.keyboard.press("Control+k");
      await page.fill(".palette input", text);
    };
    await type(">theme");
    await page.waitForSelector(".palette-entry >> text=Next theme");
    assert.equal((await page.$$(".palette-group")).length, 1);
    await page.keyboard.press("Escape");
    await type("#3");
    await page.waitForSelector(".palette-entry >> text=Step 3");
    await page.keyboard.press("Enter");
    await addressHas(page, "step=3");
    await type("convolution_backward");
    await page.waitForSelector(".palette-entry.mono em");
    await page.keyboard.press("Shift+Enter");
    await page.waitForFunction(() => location.hash.startsWith("#/timeline"));
    await addressHas(page, "find=aten::convolution_backward");
    await settled(page);
    assert.match(await page.textContent(".tl-why"), /convolution_backward/); // its longest kernel
  }), ["resnet_w0"]);

test("the trust drawer says what was read, linked and recorded, and sums agree", async (s) => {
  const info = s.json("info", "resnet_w0");
  await visit(s, "overview?run=resnet_w0", async (page) => {
    await page.click(".trust-chip");
    await settled(page);
    await page.waitForSelector(".drawer >> text=Kernel time, by name and by stream");
    const text = plain(await page.textContent(".drawer"));
    assert.ok(text.includes(info.quality.events_read.toLocaleString("en")), text);
    assert.match(text, /Kineto JSON, gzip/);
    assert.match(text, /Parts of the average step.*✓.*Kernel time, by name and by stream.*✓/);
    assert.match(text, /FLOPs: not recorded/);
    await page.click("text=Copy as text");
    assert.match(await page.evaluate(() => navigator.clipboard.readText()), /Events read: 151,630/);
  });
  await visit(s, "overview?run=resnet_w0&lang=zh", async (page) => {
    await page.click(".trust-chip");
    await settled(page);
    await page.waitForSelector(".drawer >> text=核函数时间：按名称与按流");
    const names = await page.$$eval(".drawer dt, .drawer h2, .drawer h3", (l) => l.map((e) => e.textContent));
    assert.ok(names.length > 5, names.join());
    for (const name of names) assert.match(name, /[\u4e00-\u9fff]/, "a line of the drawer is not translated");
  });
}, ["resnet_w0"]);

test("the report is saved as Markdown, its link copied; paper has a head line", (s) =>
  visit(s, "overview?run=resnet_w0&theme=dark", async (page) => {
    await page.click("role=button[name=/^Report/]");
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("text=Save as Markdown")]);
    assert.equal(download.suggestedFilename(), "resnet_w0-worker0.md");
    const text = readFileSync(await download.path(), "utf8");
    assert.match(text, /^# resnet_w0 · worker0 · whole trace · tacho [\d.]+/);
    assert.match(text, /\| category .*\n[^]*data_loader|data\\_loader/);
    assert.match(text, /- \*\*Data loading blocks the program \(saves up to [\d.]+\s?ms, \d+\s?%\)\.\*\* The program waits for data .*\)?, because the data loader runs in the training process\. Set /);
    await page.click("role=button[name=/^Report/]");
    await page.click("text=Copy the verdict and advice");
    assert.match(await page.evaluate(() => navigator.clipboard.readText()), /\n- Data loading blocks the program \(saves up to [\d.]+\s?ms, \d+\s?%\): The program/);
    await page.click("role=button[name=/^Report/]");
    await page.click("text=Copy a link to this view");
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), page.url());
    await page.emulateMedia({ media: "print" });
    assert.equal(await page.isVisible(".print-head"), true);
    assert.equal(await page.isVisible(".rail"), false);
    assert.equal(await page.getAttribute("html", "data-theme"), "light");
  }), ["resnet_w0"]);

test("language and theme follow the browser until they are chosen", async (s) => {
  const context = await s.browser.newContext({ locale: "zh-CN", colorScheme: "dark" });
  const page = await context.newPage();
  await page.goto(`${s.url}/#/overview?run=sample`);
  await settled(page);
  assert.equal(await page.getAttribute("html", "lang"), "zh-CN");
  assert.equal(await page.getAttribute("html", "data-theme"), "dark");
  assert.doesNotMatch(page.url(), /lang=|theme=/);
  await page.click("role=button[name='EN']");
  await addressHas(page, "lang=en");
  const fetched = [];
  page.on("request", (r) => fetched.push(r.url().split("/").at(-1)));
  await page.reload();
  await settled(page);
  assert.equal(await page.getAttribute("html", "lang"), "en");
  assert.ok(fetched.includes("main.js") && !fetched.includes("zh.js"), fetched.join(" ")); // unused words stay where
                                                                                           // they are
  await page.click("role=button[name='中文']");
  await page.waitForSelector("html[lang=zh-CN]");
  assert.match(await page.textContent(".rail"), /概览/);
  await context.close();
});

test("a definition appears on hover and on focus", (s) =>
  visit(s, "operators?run=sample", async (page) => {
    await page.hover("th button >> text=Device self");
    await page.waitForSelector(".tip code >> text=operators.operators.device_self");
    await page.mouse.move(0, 0);
    await page.waitForSelector(".tip", { state: "detached" });
    await page.focus("th button:has-text('Calls')");
    await page.waitForSelector(".tip");
  }));

test("a server that goes is noticed, one that comes back too; a damaged file is said to be one", async (s) => {
  const own = await s.another((folder) => {
    mkdirSync(join(folder, "broken"));
    writeFileSync(join(folder, "broken/worker0.pt.trace.json"), '{"traceEvents": [{"ph": "X", "na');
    addSample(s, folder, "sample");
  });
  const context = await s.browser.newContext();
  const page = await context.newPage();
  try {
    await page.goto(`${own.url}/#/`);
    await page.waitForSelector("tr:has-text('broken') >> text=/failed|damaged/");
    await page.goto(`${own.url}/#/overview?run=broken`);
    await page.waitForSelector("[role=alert], h1");
    assert.ok(await page.$(".rail"));
    await page.goto(`${own.url}/#/overview?run=sample`);
    await settled(page);
    await own.stop();
    await page.waitForSelector(".connection >> text=Connection lost");
    await own.start();
    // It tries again by itself, too, and may have been faster.
    await page.evaluate(() => document.querySelector(".connection .link")?.click());
    await page.waitForSelector(".connection", { state: "detached" });
  } finally {
    await context.close();
    await own.end();
  }
});
