// The timeline: drawing, moving, finding, selecting, areas, tracks, notes, saving.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { settled } from "./stand.mjs";
import { addressHas, addressLacks, plain, rowsOf, test, time, visit } from "./tools.mjs";

const RUN = "timeline?run=resnet_w0";
const GUTTER = 196;
const needs = ["resnet_w0"];

/** What is seen, as the address tells once things rest. */
const viewOf = async (page) => {
  await page.waitForFunction(() => /[?&]view=\d+-\d+/.test(location.hash));
  return page.evaluate(() => location.hash.match(/view=(\d+)-(\d+)/).slice(1).map(Number));
};
/** Does something and returns the view it leads to: the address changes, and then rests. */
async function viewAfter(page, act) {
  const before = await page.evaluate(() => location.hash.match(/view=[\d-]+/)?.[0] ?? "");
  await act();
  await page.waitForFunction(
    (b) => {
      const now = location.hash.match(/view=[\d-]+/)?.[0] ?? "";
      const [last, since] = globalThis.lastView ?? ["", 0];
      if (now !== last) globalThis.lastView = [now, performance.now()];
      return now !== b && now === last && performance.now() - since > 600;
    },
    before,
    { polling: 60 },
  );
  return viewOf(page);
}
const stageBox = (page) => page.locator(".tl-stage").boundingBox();
const api = (page, path) => page.evaluate(async (p) => (await fetch(`/api/v1/${p}`)).json(), path);
const picture = (page) => page.$eval(".tl-stage canvas", (c) => c.toDataURL());
/** Where a lane's row begins on the screen. */
const laneAt = async (page, name) => (await page.locator(".tl-row", { hasText: name }).first().boundingBox()).y;
const close = (a, b, tolerance) => assert.ok(Math.abs(a - b) <= tolerance, `${a} is not ${b} ± ${tolerance}`);

/** Clicks the longest box of a name on a lane of operators in view, and returns it. */
async function clickBox(page, q, lane) {
  const [from, to] = await viewOf(page);
  const { hits } = await api(page, `search?run=resnet_w0&q=${q}&from=${from}&to=${to}&limit=200`);
  const inside = hits.filter((h) => h.start > from && h.start + h.duration < to && h.row < 4);
  const hit = inside.sort((x, y) => y.duration - x.duration)[0];
  const box = await stageBox(page);
  const x = box.x + GUTTER + ((hit.start + hit.duration / 2 - from) / (to - from)) * (box.width - GUTTER);
  await page.mouse.click(x, (await laneAt(page, lane)) + 9 + hit.row * 18);
  await addressHas(page, `sel=slice:${hit.id}`);
  await settled(page);
  return hit;
}

test("timeline: search over the whole trace, hits are marked, Enter goes from one to the next", (s) =>
  visit(s, RUN, async (page) => {
    // Enter right after the last letter, twice: what was typed is searched for at once, and both count.
    await page.keyboard.press("/");
    await page.keyboard.type("wgrad");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    const next = async (after) => (await api(page, `search?run=resnet_w0&q=wgrad&limit=1&after=${after}`)).hits[0];
    const { duration_ns } = (await api(page, "tracks?run=resnet_w0")).trace;
    const [first, total] = [await next(Math.floor(duration_ns / 2) + 1), (await api(page, "search?run=resnet_w0&q=wgrad")).total];
    const second = await next(first.start + 1);
    await addressHas(page, `sel=slice:${second.id}`);
    await addressHas(page, "find=wgrad");
    await settled(page);
    assert.match(plain(await page.textContent(".tl-hits")), new RegExp(`of ${total} hits in view`));
    assert.ok((await page.$$(".tape-strip .hit")).length > 3);
    assert.match(await page.textContent(".tl-what"), /wgrad/);
    await page.keyboard.press("Shift+Enter");
    await addressHas(page, `sel=slice:${first.id}`);
    await page.click("role=tab[name=/Search/]");
    await settled(page);
    assert.ok((await page.$$(".tl-two tbody tr")).length > 4);
  }), needs);

test("timeline: keys are heard in the first second of the page", (s) =>
  visit(s, `${RUN}&find=wgrad_indexed`, async (page) => {
    // A clock that hardly moves: the page stays young.
    await page.addInitScript(() => {
      const now = performance.now.bind(performance);
      performance.now = () => now() / 1000;
    });
    await page.reload();
    await settled(page);
    assert.ok((await page.evaluate(() => performance.now())) < 1000);
    await page.keyboard.press("n");
    await addressHas(page, "sel=slice:");
  }), needs);

test("timeline: W and S zoom around the pointer, A and D pan, buttons and F do the same", (s) =>
  visit(s, `${RUN}&view=50000000-150000000`, async (page) => {
    const box = await stageBox(page);
    const share = 0.25;
    await page.mouse.move(box.x + GUTTER + (box.width - GUTTER) * share, box.y + 300);
    const [a, b] = await viewOf(page);
    const under = a + (b - a) * share;
    const [c, d] = await viewAfter(page, () => page.keyboard.press("w"));
    assert.ok(d - c < b - a);
    close(c + (d - c) * share, under, (b - a) * 0.01);
    const [e, f] = await viewAfter(page, () => page.keyboard.press("d"));
    assert.ok(e > c);
    close(f - e, d - c, (d - c) * 0.01);
    const [g] = await viewAfter(page, () => page.keyboard.press("a"));
    assert.ok(g < e);
    const [h, i] = await viewAfter(page, () => page.keyboard.press("s"));
    assert.ok(i - h > d - c);
    const [j, k] = await viewAfter(page, () => page.click("role=button[name='Zoom in (W)']"));
    close(k - j, (i - h) / 2, (i - h) * 0.01);
    const [l] = await viewAfter(page, () => page.click("role=button[name='Pan right (D)']"));
    assert.ok(l > j);
    const [m] = await viewAfter(page, () => page.click("role=button[name='Pan left (A)']"));
    assert.ok(m < l);
    const [n, o] = await viewAfter(page, () => page.click("role=button[name='Zoom out (S)']"));
    assert.ok(o - n > k - j);
    await page.click("role=button[name='Fit (F)']");
    await addressLacks(page, "view=");
  }), needs);

test("timeline: wheel with Ctrl zooms, with Shift pans, a drag on a box pans, on the tape's box too", (s) =>
  visit(s, `${RUN}&view=96000000-110000000`, async (page) => {
    const box = await stageBox(page);
    const y = (await laneAt(page, "thread 391")) + 10;
    await page.mouse.move(box.x + GUTTER + (box.width - GUTTER) / 2, y);
    const [a, b] = await viewOf(page);
    await page.keyboard.down("Control");
    const [c, d] = await viewAfter(page, () => page.mouse.wheel(0, -120));
    await page.keyboard.up("Control");
    assert.ok(d - c < b - a);
    close((c + d) / 2, (a + b) / 2, (b - a) * 0.01);
    await page.keyboard.down("Shift");
    const [e] = await viewAfter(page, () => page.mouse.wheel(0, 120));
    await page.keyboard.up("Shift");
    assert.ok(e > c);
    const [f] = await viewAfter(page, async () => {
      await page.mouse.down();
      await page.mouse.move(box.x + GUTTER + (box.width - GUTTER) / 2 + 200, y, { steps: 4 });
      await page.mouse.up();
    });
    assert.ok(f < e);
    const mini = await page.locator(".viewport-box").boundingBox();
    const [g] = await viewAfter(page, async () => {
      await page.mouse.move(mini.x + mini.width / 2, mini.y + 20);
      await page.mouse.down();
      await page.mouse.move(mini.x + mini.width / 2 + 300, mini.y + 20, { steps: 4 });
      await page.mouse.up();
    });
    assert.ok(g > f + 50_000_000);
  }), needs);

test("timeline: a kernel shows all it is, why it ran and how it compares; links and keys jump", (s) =>
  visit(s, `${RUN}&find=wgrad_indexed`, async (page) => {
    await page.keyboard.press("n");
    await addressHas(page, "sel=slice:");
    await settled(page);
    const id = await page.evaluate(() => location.hash.match(/sel=slice:(\d+)/)[1]);
    const slice = await api(page, `slice?run=resnet_w0&id=${id}`);
    const facts = plain(await page.textContent(".tl-facts"));
    assert.ok(facts.includes(`grid ${slice.kernel.grid.join(" × ")} · block ${slice.kernel.block.join(" × ")}`), facts);
    assert.ok(facts.includes(`${slice.kernel.registers} registers`));
    assert.match(facts, /stream 7/);
    for (const name of Object.keys(slice.arguments).filter((k) => /queued|graph|blocks per SM/.test(k))) assert.ok(facts.includes(name), name);
    const why = plain(await page.textContent(".tl-why"));
    for (const w of slice.why.slice(0, 4)) assert.ok(why.includes(plain(w.name)), w.name);
    assert.match(why, /launch-bound|waited/);
    assert.match(plain(await page.textContent(".tl-compare")), new RegExp(`^${slice.same_name.count} like this`));
    assert.ok(await page.$(".tl-histogram .tl-own"));
    await page.click(".tl-why li >> nth=0 >> button");
    await addressLacks(page, `sel=slice:${id}`);
    await settled(page);
    assert.match(await page.textContent(".tl-what"), /^cuda\w*Launch/);
    await page.keyboard.press("]");
    await addressHas(page, `sel=slice:${id}`);
    await settled(page);
    await page.keyboard.press("[");
    await addressLacks(page, `sel=slice:${id}`);
    await page.keyboard.press("Escape");
    await addressLacks(page, "sel=");
  }), needs);

test("timeline: arrows go from box to box, the box is spoken, F fits it", (s) =>
  visit(s, `${RUN}&view=96000000-110000000`, async (page) => {
    await page.locator(".tl-stage").focus();
    const { id } = await clickBox(page, "aten::convolution_backward", "thread 435");
    const name = () => page.textContent(".tl-what");
    const first = await name();
    assert.match(await page.textContent("#tl-spoken"), /thread 435/);
    const slice = await api(page, `slice?run=resnet_w0&id=${id}`);
    await page.keyboard.press(".");
    await addressHas(page, `sel=slice:${slice.next.id}`);
    await settled(page);
    await page.keyboard.press(",");
    await addressHas(page, `sel=slice:${id}`);
    await settled(page);
    assert.equal(await name(), first);
    await page.keyboard.press("ArrowDown");
    await addressHas(page, `sel=slice:${slice.children[0].id}`);
    await settled(page);
    await page.keyboard.press("ArrowUp");
    await addressHas(page, `sel=slice:${id}`);
    await settled(page);
    const [a, b] = await viewAfter(page, () => page.keyboard.press("f"));
    assert.ok(a <= slice.slice.start && b >= slice.slice.start + slice.slice.duration);
    assert.ok(b - a < slice.slice.duration * 2);
  }), needs);

test("timeline: an area adds up by name as the server does, has tracks, counters, a flame graph, and becomes the window", (s) =>
  visit(s, `${RUN}&view=96000000-110000000`, async (page) => {
    const box = await stageBox(page);
    const x = (share) => box.x + GUTTER + (box.width - GUTTER) * share;
    const top = (await laneAt(page, "GPU utilization")) + 4;
    await page.keyboard.down("Shift");
    await page.mouse.move(x(0.2), top);
    await page.mouse.down();
    await page.mouse.move(x(0.6), (await laneAt(page, "thread 391")) + 30, { steps: 6 });
    await page.mouse.up();
    await page.keyboard.up("Shift");
    await addressHas(page, "area=");
    await settled(page);
    const [, from, to, lanes] = await page.evaluate(() => decodeURIComponent(location.hash).match(/area=(\d+)-(\d+):([\d,-]+)/));
    const names = async (filter) =>
      (await api(page, `area?run=resnet_w0&from=${from}&to=${to}&lanes=${lanes}&sort=self:desc&limit=500&filter=${encodeURIComponent(filter)}`))
        .tables.area;
    // The events around the work (Python frames, steps, ranges) would lead the list: they are only shown on
    // request.
    const table = await names('-kind="python" -kind="module" -kind="span" -kind="step" -kind="device_annotation"');
    const at = (name) => table.columns.findIndex((c) => c.name === name);
    const heads = plain(await page.textContent(".tl-area thead"));
    for (const head of ["Name", "Count", "Total", "Self", "Mean", "Min", "Max", "Share"]) assert.ok(heads.includes(head), heads);
    const rows = await page.$$eval(".tl-area tbody tr", (l) => l.map((r) => [...r.children].map((c) => c.textContent.trim())));
    assert.equal(rows.length, Math.min(500, table.rows.length));
    assert.equal(rows[0][0], table.rows[0][at("name")]);
    assert.equal(rows[0][1], String(table.rows[0][at("count")]));
    const count = async () => page.locator(".tl-area tbody tr").count();
    await page.click(".tl-area >> role=radio[name='Kernels']");
    await settled(page);
    assert.equal(await count(), (await names('kind="kernel"')).rows.length);
    await page.click(".tl-area >> role=radio[name='By name']");
    await page.click(".tl-area .menu-button");
    await page.click("role=menuitemradio[name=Everything]");
    await settled(page);
    assert.equal(await count(), (await names("")).rows.length);
    await page.click(".tl-area >> role=radio[name='By track']");
    await settled(page);
    assert.match(plain(await page.textContent(".tl-area")), /stream 7/);
    await page.click(".tl-area >> role=radio[name='Idle by cause']");
    const idle = (await api(page, `area?run=resnet_w0&from=${from}&to=${to}&table=idle`)).tables.idle;
    await page.waitForFunction((n) => document.querySelectorAll(".tl-area tbody tr").length === n, idle.rows.length);
    await page.click(".tl-area >> role=radio[name='Counters']");
    await settled(page);
    assert.match(plain(await page.textContent(".tl-area")), /GPU memory ?\d+ MiB/);
    await page.click(".tl-area >> role=radio[name='Flame graph']");
    await page.waitForSelector(".tl-flame canvas");
    await page.locator(".tl-stage").focus();
    await page.keyboard.press("Enter");
    await addressHas(page, `from=${from}&to=${to}`);
    await page.keyboard.press("Escape");
    await addressLacks(page, "area=");
  }), needs);

test("timeline: tracks are pinned, hidden, filtered, opened; frames and details can be put away", (s) =>
  visit(s, RUN, async (page) => {
    const shown = () => page.$$eval(".tl-row .tl-name", (l) => l.map((e) => e.textContent.trim()));
    for (const counter of ["GPU utilization", "SM efficiency", "GPU memory"]) assert.ok((await shown()).includes(counter), counter);
    await page.locator(".tl-row", { hasText: "stream 7" }).hover();
    await page.click("role=button[name='Pin stream 7']");
    await addressHas(page, "pin=");
    await page.waitForSelector(".tl-pinned >> text=stream 7");
    await page.click("role=button[name='Python frames']");
    await addressHas(page, "frames=0");
    await page.waitForFunction(() => ![...document.querySelectorAll(".tl-name")].some((e) => /Python frames/.test(e.textContent)));
    await page.fill(".tl-filter", "autograd");
    await page.waitForFunction(() => document.querySelectorAll(".tl-scroll .tl-row").length < 6);
    assert.ok((await shown()).some((n) => /thread 435/.test(n)));
    await page.press(".tl-filter", "Escape");
    await page.click("role=button[name=/^Tracks/]");
    await page.click("role=menuitemradio[name=/GPU memory/] >> nth=0");
    await addressHas(page, "hide=");
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => ![...document.querySelectorAll(".tl-name")].some((e) => e.textContent === "GPU memory"));
    const tall = await page.locator(".tl-row", { hasText: "thread 391" }).boundingBox();
    await page.locator(".tl-row", { hasText: "thread 391" }).locator("button[aria-expanded]").click();
    await addressHas(page, "open=");
    await page.waitForFunction(
      (h) => [...document.querySelectorAll(".tl-row")].some((r) => /thread 391/.test(r.textContent) && r.clientHeight < h),
      tall.height - 20,
    );
    await page.locator(".tl-stage").focus();
    await page.keyboard.press("q");
    await page.waitForSelector(".tl-details", { state: "detached" });
    await page.keyboard.press("q");
    await page.waitForSelector(".tl-details");
  }), needs);

test("timeline: colours by name, module, stage, track and slowness all differ; the same name is outlined", (s) =>
  visit(s, `${RUN}&view=96000000-110000000`, async (page) => {
    const seen = new Set([await picture(page)]);
    for (const by of ["Name", "Module", "Stage", "Track", "Slower than its median"]) {
      await page.click("role=button[name=/^Color/]");
      await page.click(`role=menuitemradio[name='${by}']`);
      await addressHas(page, "color=");
      await settled(page);
      seen.add(await picture(page));
    }
    assert.equal(seen.size, 6);
  }), needs);

test("timeline: a note is written, stands in the link, and goes", (s) =>
  visit(s, `${RUN}&view=96000000-110000000`, async (page) => {
    await clickBox(page, "aten::convolution_backward", "thread 435");
    await page.keyboard.press("m");
    await page.waitForSelector(".tl-note:focus");
    await page.keyboard.type("slow here 看");
    await page.keyboard.press("Tab");
    await addressHas(page, "slow here 看");
    await page.reload();
    await settled(page);
    await page.click("role=tab[name='Notes 1']");
    assert.equal(await page.inputValue(".tl-note"), "slow here 看");
    await page.click("role=button[name='Remove the note']");
    await addressLacks(page, "notes=");
  }), needs);

async function saved(page, item) {
  await page.click("role=button[name=/^Save/]");
  const [download] = await Promise.all([page.waitForEvent("download"), page.click(`text=${item}`)]);
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
}

test("timeline: colours are explained, details are never empty, Enter keeps a note, a digit is the number of a step", (s) =>
  visit(s, RUN, async (page) => {
    assert.match(plain(await page.textContent(".tl-legend")), /Kernel.*Memcpy.*Operators.*Runtime.*Data loader.*Python frames.*Idle/);
    // With nothing chosen: what takes longest in view and why the device idles, in the server's numbers.
    const idle = (await api(page, "area?run=resnet_w0&table=idle")).tables.idle;
    const most = [...idle.rows].sort((a, b) => b[1] - a[1])[0];
    const share = `${(most[2] * 100).toFixed(0)} %`;
    assert.ok(plain(await page.textContent(".tl-in-view table >> nth=1")).includes(share), share);
    await page.click("role=tab[name=/Area/]");
    await settled(page);
    assert.ok((await page.locator(".tl-area tbody tr").count()) > 20, "without an area: what is in view");
    assert.match(plain(await page.textContent(".tl-area-head")), /Current view/);
    const width = () => page.$eval(".tape-strip", (e) => e.clientWidth);
    const before = await width();
    // Columns of words begin where their heads begin.
    await page.click("role=tab[name=/Search/]");
    await page.fill("#tl-find", "conv2d");
    await page.waitForSelector(".tl-panel table >> nth=1");
    const [head, cell] = await page.$$eval(".tl-panel .tl-two table:nth-child(2) tr > :nth-child(2)", (list) =>
      list.slice(0, 2).map((e) => {
        const range = document.createRange();
        range.selectNodeContents(e);
        return range.getBoundingClientRect().left;
      }),
    );
    assert.ok(Math.abs(head - cell) < 2, `head at ${head}, cell at ${cell}`);
    const tall = await page.$$eval(".tl-panel tbody tr", (list) => Math.max(...list.map((e) => e.clientHeight)));
    assert.ok(tall < 32, `a row of ${tall} px`);
    await page.locator(".tl-panel .tl-two table:nth-child(2) .tl-link").first().click();
    await addressHas(page, "sel=slice");
    await settled(page);
    assert.equal(await width(), before, "a selection leaves the tape as wide as it was");
    await page.locator(".tl-stage").focus();
    await page.keyboard.press("m");
    await page.waitForSelector(".tl-note:focus"); // as a person does, who sees where the words will go
    await page.keyboard.type("look 2");
    await page.keyboard.press("Enter");
    await addressHas(page, "look 2");
    assert.ok(await page.evaluate(() => document.activeElement.classList.contains("tl-stage")), "Enter leaves the field");
    await addressLacks(page, "from=");
    await addressLacks(page, "step=");
    await page.keyboard.press("1"); // no step has this number
    await page.keyboard.press("3");
    await addressHas(page, "step=3");
  }), needs);

test("timeline: view and window are saved as Chrome JSON, the picture as PNG and SVG", (s) =>
  visit(s, `${RUN}&view=96000000-110000000&step=3`, async (page) => {
    const view = JSON.parse((await saved(page, "Chrome JSON of this view")).bytes);
    const window = JSON.parse((await saved(page, "Chrome JSON of the window")).bytes);
    const slices = (t) => t.traceEvents.filter((e) => e.ph === "X").length;
    assert.ok(slices(view) > 1000 && slices(window) > 3 * slices(view), `${slices(view)} ${slices(window)}`);
    const png = await saved(page, "Picture (PNG)");
    assert.equal(png.bytes.subarray(1, 4).toString(), "PNG");
    const svg = await saved(page, "Picture (SVG)");
    assert.match(svg.bytes.toString(), /^<svg [^]*thread 435[^]*<\/svg>\s*$/);
  }), needs);

test("timeline: nothing goes to Perfetto before it is chosen; then it gets the view", (s) =>
  visit(s, `${RUN}&view=96000000-110000000`, async (page, context) => {
    const stub = `<script>onmessage = (e) => { if (e.data === "PING") e.source.postMessage("PONG", e.origin);
      else if (e.data.perfetto) document.title = "got " + e.data.perfetto.buffer.byteLength; }</script>`;
    let asked = 0;
    await context.route("https://ui.perfetto.dev/**", (route) => {
      asked++;
      return route.fulfill({ contentType: "text/html", body: stub });
    });
    await page.click("role=button[name=/^Save/]");
    assert.equal(asked, 0);
    const [other] = await Promise.all([page.waitForEvent("popup"), page.click("text=Open this view in Perfetto")]);
    await other.waitForFunction(() => /^got \d{4,}/.test(document.title));
  }), needs);

test("timeline: a link shows what its sender saw", async (s) => {
  let link = "";
  let before = {};
  const look = async (page) => ({
    what: await page.textContent(".tl-what").catch(() => ""),
    pinned: await page.textContent(".tl-pinned"),
    tab: await page.textContent("[role=tab][aria-selected=true]"),
    filter: await page.inputValue("#tl-find"),
  });
  await visit(s, `${RUN}&view=96000000-110000000&find=conv`, async (page) => {
    await clickBox(page, "aten::convolution_backward", "thread 435");
    await page.keyboard.press("p");
    await addressHas(page, "pin=");
    await settled(page);
    before = await look(page);
    link = new URL(page.url()).hash.slice(2);
  });
  await visit(s, link, async (page) => {
    await page.waitForSelector(".tl-what");
    assert.deepEqual(await look(page), before);
    assert.match(before.pinned, /thread 435/);
  });
}, needs);

test("timeline: a track is found in the palette and scrolled to", (s) =>
  visit(s, "overview?run=resnet_w0", async (page) => {
    await page.keyboard.press("Control+k");
    await page.keyboard.type("@435");
    await page.waitForSelector(".palette-entry >> text=thread 435");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => location.hash.startsWith("#/timeline"));
    await settled(page);
    const box = await stageBox(page);
    await page.waitForFunction((y) => [...document.querySelectorAll(".tl-row")].some((r) => /thread 435/.test(r.textContent) && r.getBoundingClientRect().y < y), box.y + box.height - 20);
    await addressHas(page, "top=");
  }, { width: 1280, height: 560 }), needs);

test("timeline: another run is not asked about the lanes of the one before", (s) =>
  visit(s, "timeline?run=ddp", async (page) => {
    await page.evaluate(() => {
      location.hash = "#/timeline?run=cpu";
    });
    await addressHas(page, "run=cpu");
    await settled(page);
    await page.waitForSelector(".tl-in-view, .tl-panel");
  }), ["ddp", "cpu"]);

test("modules: the classes add up to what all modules do themselves, in the colors of the picture", (s) =>
  visit(s, "modules?run=resnet_w0", async (page) => {
    const rows = rowsOf(s.json("modules", "resnet_w0", "--worker", "worker0", "--group-by", "type").tables.modules);
    const most = rows.sort((a, b) => b.device_self - a.device_self)[0];
    const first = plain(await page.locator("section[aria-label='Classes'] li").first().textContent());
    assert.ok(first.startsWith(most.module) && first.includes(time(most.device_self)), first);
    await page.locator("section[aria-label='Classes'] li button").first().click();
    await page.waitForSelector(".tl-strip");
    assert.ok(plain(await page.textContent(".tl-strip")).includes(most.module));
    assert.ok((await page.textContent(".tl-what code")).includes(`${most.module}_`));
  }), ["resnet_w0"]);
