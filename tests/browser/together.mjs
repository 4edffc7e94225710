// A timeline of several ranks on one clock: which ranks, where they lie, the collectives that connect them, and how
// long a frame of 64 of them takes.
import assert from "node:assert/strict";
import { join } from "node:path";
import { openPage, settled } from "./stand.mjs";
import { addressHas, cells, plain, rowsOf, test, visit } from "./tools.mjs";

const RANKS = 64;
const heads = (page) => cells(page, ".tl-group:not(.tl-sub) .tl-name");
const details = (page) => cells(page, ".tl-panel tbody tr");

/** A time in ns out of words such as "6.75 ms". */
function nsOf(words) {
  const [, number, unit] = /([\d.,]+)\s*(ns|µs|ms|s)/.exec(words) ?? [];
  return Number(number?.replace(/,/g, "")) * { ns: 1, µs: 1e3, ms: 1e6, s: 1e9 }[unit];
}

const near = (words, ns) => assert.ok(Math.abs(nsOf(words) - ns) <= Math.max(1, ns * 0.006), `${words} is not ${ns} ns`);

test("together: all ranks on one clock, a collective has the arrivals of the command line, and leads to each rank", async (s) => {
  const answer = s.json("distributed", "ddp");
  const arrivals = rowsOf(answer.tables.arrivals);
  const latest = arrivals.filter((r) => r.rank === 2).sort((a, b) => b.late_by - a.late_by)[0];
  const call = arrivals.filter((r) => r.name === latest.name && r.start - r.late_by === latest.start - latest.late_by);
  const clocks = rowsOf(answer.tables.clocks);
  const own = clocks.find((c) => c.rank === 2);
  const found = await (
    await fetch(`${s.url}/api/v1/search?run=ddp&worker=${own.worker}&q=${encodeURIComponent(`"${latest.name}"`)}&after=${latest.start - own.start - 1000}&limit=1`)
  ).json();
  const slice = found.hits[0];
  assert.ok(Math.abs(slice.start + own.start - latest.start) <= 1, "the arrival is where the slice is, on the common clock");
  await visit(s, `timeline?run=ddp&worker=*&sel=slice:${slice.id}@2&tab=flow`, async (page) => {
    assert.match(plain(await page.textContent("header")), /ddp\/Worker: 4 ranks/);
    await page.waitForFunction(() => document.querySelector(".tl-panel table")?.querySelectorAll("tbody tr").length === 4);
    assert.match(await page.textContent(".tl-ranks"), /Ranks 4 of 4.*Clocks aligned at the ends of 15 collectives/);
    const table = page.locator(".tl-panel table").first();
    for (const r of call) {
      const row = await table.locator("tbody tr").nth(r.rank).locator("td").allTextContents();
      assert.equal(row[0], `rank ${r.rank}`);
      near(row[2], r.late_by);
      near(row[4], r.duration);
    }
    // The same collective on another rank, chosen from the table: it begins where its arrival is.
    await table.locator("button", { hasText: "rank 0" }).click();
    await addressHas(page, "@0");
    await settled(page);
    await page.click("role=tab[name=/Selection/]");
    const first = call.find((r) => r.rank === 0);
    const zero = Math.min(...clocks.map((c) => c.start));
    await page.waitForFunction((name) => document.querySelector(".tl-what code")?.textContent === name, first.name);
    near(/at ([\d.,]+\s\S+)/.exec(plain(await page.textContent(".tl-facts dd")))?.[1] ?? "", first.start - zero);
    // Both ranks are open; the heads outside of the window do not exist, so the address is asked for the closed ones.
    await page.waitForFunction(() => new URLSearchParams(location.hash.split("?")[1]).get("fold")?.split(",").sort().join() === "1048576,3145728");
  });
}, ["ddp"]);

test("together: the path of the job goes from rank to rank and is followed there", async (s) => {
  const path = rowsOf(s.json("critical", "ddp", "--table", "path").tables.path);
  const [step] = path.map((p) => p.step);
  const first = path.filter((p) => p.step === step);
  const at = first.findIndex((p, i) => i > 0 && p.rank !== first[i - 1].rank && p.slice !== null);
  const [leaves, comes] = [first[at - 1], first[at]];
  await visit(s, `timeline?run=ddp&worker=*&path=1&piece=${leaves.start}&from=${leaves.start}&to=${comes.start + comes.duration}`, async (page) => {
    await page.waitForSelector(".tl-switch[aria-pressed=true]");
    await page.waitForFunction(() => /\d \/ \d/.test(document.querySelector(".tl-hits[role=status]")?.textContent ?? ""));
    await settled(page);
    await page.click("[aria-label='Next piece of the path']");
    await addressHas(page, `piece=${comes.start}`);
    await addressHas(page, `slice:${comes.slice}@${comes.rank}`);
    await settled(page);
    // The piece is inside its event, on the clock of the stage.
    await page.waitForFunction((name) => document.querySelector(".tl-what code")?.textContent === name, comes.name);
    const begins = nsOf(/at ([\d.,]+\s\S+)/.exec(plain(await page.textContent(".tl-facts dd")))?.[1] ?? "");
    assert.ok(begins <= comes.start * 1.006, `${begins} is after ${comes.start}`);
    const open = await cells(page, ".tl-group:not(.tl-sub):has(button[aria-expanded=true]) .tl-name");
    assert.ok(open.some((name) => name.includes(`rank ${comes.rank}`)), "the rank it leads to is open");
    await page.screenshot({ path: join(s.root, "build/screenshots/path-of-ranks.png") });
  });
}, ["ddp"]);

test("together: ranks are opened, closed and chosen; search and area are of all of them", (s) =>
  visit(s, "distributed?run=ddp", async (page) => {
    await page.click("text=All ranks on one timeline");
    await addressHas(page, "worker=*");
    await page.waitForSelector(".tl-group");
    await settled(page);
    assert.deepEqual(await heads(page), ["▸rank 0", "▸rank 1", "▸rank 2", "▸rank 3"]);
    const closed = await page.locator(".tl-row").count();
    await page.click(".tl-group >> text=rank 1");
    await page.waitForFunction((n) => document.querySelectorAll(".tl-row").length > n + 5, closed);
    assert.match((await cells(page, ".tl-sub .tl-name")).join(), /\d+ streams with little work/);
    // The palette lists the tracks of the first rank, and opens it.
    await page.keyboard.press("Control+k");
    await page.fill(".palette input", "@autograd");
    await page.waitForSelector(".palette [role=option]");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.querySelectorAll(".tl-group:not(.tl-sub) button[aria-expanded=true]").length === 2);
    await page.click(".tl-ranks .menu-button");
    await page.click("role=menuitemradio[name=/^rank 3/]");
    await addressHas(page, "ranks=0,1,2");
    await page.keyboard.press("Escape");
    await settled(page);
    assert.equal((await heads(page)).length, 3);
    // Hits of each rank are counted, and the next one is of whichever comes first.
    await page.fill("#tl-find", "gloo:all_reduce");
    const each = await Promise.all(
      [0, 1, 2].map(async (r) => (await (await fetch(`${s.url}/api/v1/search?run=ddp&worker=rank${r}&q=gloo:all_reduce`)).json()).total),
    );
    const all = each.reduce((a, b) => a + b);
    await page.waitForFunction((n) => document.querySelector(".tl-hits")?.textContent.includes(`of ${n}`), all);
    await page.focus("#tl-find");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => /sel=slice(:|%3A)\d+(@|%40)\d/.test(location.hash));
    // An area over all ranks adds up what the server says of each.
    await page.evaluate(() => document.activeElement.blur());
    const tracks = await (await fetch(`${s.url}/api/v1/tracks?run=ddp&worker=rank1`)).json();
    const lane = tracks.lanes.find((l) => l.kind === "stream" && l.role === "compute").id;
    const stride = 2 ** 20;
    await page.evaluate((hash) => {
      location.hash = hash;
    }, `#/timeline?run=ddp&worker=*&ranks=0,1,2&tab=area&area=0-160000000:${stride + lane},${2 * stride + lane}`);
    await settled(page);
    await page.click("role=radio[name=Kernels]");
    await settled(page);
    const row = plain((await details(page))[0]);
    const name = await page.locator(".tl-panel tbody tr .tl-link").first().getAttribute("title");
    const count = await Promise.all(
      [0, 1].map(async (r) => {
        const q = new URLSearchParams({ run: "ddp", worker: `rank${r}`, from: 0, to: 200000000, lanes: lane, table: "area", filter: 'kind="kernel"', limit: 0 });
        const answer = await (await fetch(`${s.url}/api/v1/area?${q}`)).json();
        return rowsOf(answer.tables.area).find((x) => x.name === name)?.count ?? 0;
      }),
    );
    assert.ok(row.includes(String(count[0] + count[1])), `${row} has not ${count}`);
  }), ["ddp"]);

/** Moves the view in every frame for a while: script time of each frame, and time between frames. */
const drive = async (page, frames) =>
  page.evaluate(async (n) => {
    const stage = document.querySelector(".tl-stage");
    const box = stage.getBoundingClientRect();
    const at = { clientX: box.left + 700, clientY: box.top + 200, bubbles: true, cancelable: true };
    globalThis.tachoFrameTimes.length = 0;
    const between = [];
    let last = performance.now();
    for (let i = 0; i < n; i++) {
      const zoom = i % 60 < 30 ? -6 : 6;
      stage.dispatchEvent(new WheelEvent("wheel", { ...at, deltaY: zoom, ctrlKey: true }));
      stage.dispatchEvent(new WheelEvent("wheel", { ...at, deltaX: 8, deltaY: 0 }));
      stage.dispatchEvent(new WheelEvent("wheel", { ...at, deltaY: i % 40 < 20 ? 12 : -12 }));
      await new Promise((done) => requestAnimationFrame(done));
      const now = performance.now();
      between.push(now - last);
      last = now;
    }
    const quantile = (list, q) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * q))];
    const times = globalThis.tachoFrameTimes;
    return { frames: times.length, p50: quantile(times, 0.5), p99: quantile(times, 0.99), between: quantile(between, 0.5) };
  }, frames);

test("together: 64 ranks are drawn within a frame of 60 a second", async (s) => {
  const other = await s.also("64 ranks", (folder) => s.makeCluster(`${folder}/run`, "--ranks", RANKS, "--steps", 10));
  const { page, context, faults } = await openPage({ ...s, url: other.url }, "timeline?worker=*");
  try {
    // Many ranks: the first, the one that waits most and the one the others wait for.
    await settled(page);
    const few = (await heads(page)).length;
    assert.ok(few >= 2 && few <= 3, `${few} ranks at first`);
    await page.click(".tl-ranks .menu-button");
    await page.click("role=menuitem[name=/^All ranks/]");
    await page.keyboard.press("Escape");
    await page.waitForFunction((n) => document.querySelector(".tl-ranks")?.textContent.includes(`Ranks ${n} of ${n}`), RANKS);
    await settled(page);
    const seen = await drive(page, 150);
    if (process.env.TACHO_BROWSER_TIMES) console.log(`64 ranks: ${JSON.stringify(seen)}`);
    assert.ok(seen.frames >= 100, `${seen.frames} frames`);
    assert.ok(seen.p50 < 1000 / 60, `half of the frames take ${seen.p50} ms and more of script`);
    assert.deepEqual(faults, []);
  } finally {
    await context.close();
  }
}, ["gentrace"]);
