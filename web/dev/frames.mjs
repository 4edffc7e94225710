// Script time of a timeline frame, in headless Chromium, with answers as full as the server makes them
// (200 KB: what a trace of eight million events gives at any zoom). Fails above 8 ms at the 95th percentile.
//     node dev/frames.mjs URL      where URL serves the page (tacho serve)
import { chromium } from "playwright-core";
import { browserPath } from "../../tests/browser/path.mjs";

const url = process.argv[2] ?? "http://127.0.0.1:8177";
const LANES = 24;
const ROWS = 5;
const WHOLE = 80_000_000_000;
const BOXES = 8600; // times 23 bytes: 200 KB
const names = Array.from({ length: 400 }, (_, i) => `aten::operator_number_${i * 7919}_of_many`);

const tracks = {
  trace: { run: "big", worker: "w", span: "1", format: "x", duration_ns: WHOLE, events: 8_000_000 },
  lanes: Array.from({ length: LANES }, (_, i) => ({
    id: i + 1,
    kind: i < 4 ? "stream" : i === 4 ? "utilization" : i % 5 === 0 ? "python" : i % 5 === 1 ? "calls" : "work",
    group: i === 4 ? 0 : i < 4 ? 1 : 2,
    track: i,
    name: `lane ${i}`,
    rows: i < 4 ? 1 : ROWS,
    slices: 300000,
    busy: 1,
    closed: false,
    tid: String(i),
    max: 1,
  })),
  groups: [
    { id: 1, kind: "device", name: "GPU 0", closed: false },
    { id: 2, kind: "process", name: "python3", pid: "1", closed: false },
  ],
  steps: { total: 1, number: [1], start: [0], end: [WHOLE] },
};

const BYTES = { u8: 1, u16: 2, u32: 4, f32: 4 };
const MAKE = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f32: Float32Array };
function viewport(q) {
  const [from, to, width] = ["from", "to", "width"].map((k) => Number(q.get(k)));
  const ids = (q.get("lanes") ?? "").split(",").flatMap((p) => {
    const [a, b = a] = p.split(":")[0].split("-").map(Number);
    return Array.from({ length: b - a + 1 }, (_, i) => a + i);
  });
  const rows = ids.filter((id) => id !== 5).flatMap((id) => Array.from({ length: tracks.lanes[id - 1]?.rows ?? 0 }, (_, row) => [id, row]));
  const unit = 2 ** Math.max(0, Math.ceil(Math.log2((to - from) / 2 ** 32)));
  const each = Math.floor(BOXES / Math.max(1, rows.length));
  const c = { row_lane: [], row_row: [], row_first: [], start: [], end: [], slice: [], time: [], count: [], name: [], flags: [] };
  for (const [id, row] of rows) {
    c.row_lane.push(id);
    c.row_row.push(row);
    c.row_first.push(c.start.length);
    const step = (to - from) / unit / each;
    for (let i = 0; i < each; i++) {
      c.start.push(i * step);
      c.end.push((i + 0.4 + 0.6 * Math.random()) * step);
      c.slice.push(i);
      c.time.push(step * unit * 0.7);
      c.count.push(i % 3 ? 1 : 9);
      c.name.push((i * 31 + row * 7 + id) % names.length);
      c.flags.push(0);
    }
  }
  c.row_first.push(c.start.length);
  const text = Buffer.from(names.join(""));
  let at = 0;
  const types = { row_row: "u16", time: "f32", count: "u16", name: "u16", flags: "u8" };
  const points = Array.from({ length: 1000 }, (_, i) => ((to - from) / unit / 1000) * i);
  const columns = Object.fromEntries(Object.entries(c).map(([k, v]) => [k, [types[k] ?? "u32", v]]));
  Object.assign(columns, {
    name_at: ["u32", names.reduce((l, n) => [...l, l[l.length - 1] + n.length], [0])],
    name_text: ["u8", [...text]],
    name_kind: ["u8", names.map((_, i) => [11, 17, 12, 7, 18][i % 5])],
    name_id: ["u32", names.map((_, i) => i)],
    counter_lane: ["u32", ids.includes(5) ? [5] : []],
    counter_first: ["u32", ids.includes(5) ? [0, 1000] : [0]],
    point_time: ["u32", points],
    point_min: ["f32", points.map(() => 0.1)],
    point_max: ["f32", points.map(() => Math.random())],
    point_last: ["f32", points.map(() => Math.random())],
  });
  const blocks = {};
  for (const [k, [type, list]] of Object.entries(columns)) {
    blocks[k] = { type, at, n: list.length };
    at += Math.ceil((list.length * BYTES[type]) / 8) * 8;
  }
  const description = Buffer.from(JSON.stringify({ from, to, width, bucket_ns: 2 ** Math.round(Math.log2((to - from) / width)), unit_ns: unit, seq: 1, blocks }));
  const h = Math.ceil(description.length / 8) * 8;
  const out = Buffer.alloc(16 + h + at, 32);
  out.writeUInt32LE(h, 12);
  description.copy(out, 16);
  for (const [k, [type, list]] of Object.entries(columns)) Buffer.from(MAKE[type].from(list).buffer).copy(out, 16 + h + blocks[k].at);
  return out;
}

const browser = await chromium.launch({ executablePath: browserPath(), args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
page.on("pageerror", (e) => console.error(e.stack));
await page.route("**/api/v1/tracks*", (r) => r.fulfill({ json: tracks }));
let largest = 0;
await page.route("**/api/v1/viewport*", (r) => {
  const body = viewport(new URL(r.request().url()).searchParams);
  largest = Math.max(largest, body.length);
  return r.fulfill({ body, contentType: "application/octet-stream" });
});
await page.goto(`${url}/#/timeline?run=resnet_w0`);
await page.waitForSelector(".tl-stage");
await page.waitForTimeout(1000);
await page.mouse.move(900, 500);
await page.evaluate(() => { globalThis.tachoFrameTimes.length = 0; });
for (let i = 0; i < 60; i++) {
  const key = "wsad"[Math.floor(Math.random() * 4)];
  await page.keyboard.down(key);
  await page.waitForTimeout(150);
  await page.keyboard.up(key);
}
const times = (await page.evaluate(() => globalThis.tachoFrameTimes)).sort((a, b) => a - b);
const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))].toFixed(2);
console.log(`${times.length} frames, answers up to ${(largest / 1024).toFixed(0)} KiB: median ${at(0.5)} ms, p95 ${at(0.95)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`);
if (process.argv[3]) await page.screenshot({ path: process.argv[3] });
await browser.close();
if (Number(at(0.95)) > 8) process.exitCode = 1;
