// A stand-in for the server while the page is being developed: reads one Chrome-trace JSON file and answers
// tracks, viewport, slice, search, area and tape as docs/SERVER.md describes them. Slow and simple.
//     node dev/fake.mjs TRACE.json[.gz] [PORT] [REPEAT]
import { createReadStream, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

const [file, port = "8177", repeat = "1"] = process.argv.slice(2);
const raw = readFileSync(file);
const trace = JSON.parse((file.endsWith(".gz") ? gunzipSync(raw) : raw).toString());
const KINDS = "other span step annotation collective python module data_loading forward backward optimizer op runtime driver sync overhead device_annotation kernel memcpy memset async instant".split(" ");
const KIND = { cpu_op: 11, cuda_runtime: 12, cuda_driver: 13, kernel: 17, gpu_memcpy: 18, gpu_memset: 19, python_function: 5, user_annotation: 3, gpu_user_annotation: 16, overhead: 15, Trace: 1 };
const events = trace.traceEvents.filter((e) => e.ph === "X" && e.cat !== "Trace");
const t0 = events.reduce((m, e) => Math.min(m, e.ts), Number.POSITIVE_INFINITY);
const once = events.reduce((m, e) => Math.max(m, e.ts + e.dur), 0) - t0;

// ---- slices, lanes ----
const lanes = new Map();
let slices = [];
for (let r = 0; r < Number(repeat); r++)
  for (const e of events) {
    let kind = KIND[e.cat] ?? 0;
    if (/^ProfilerStep/.test(e.name)) kind = 2;
    if (/DataLoader/.test(e.name) && e.cat === "user_annotation") kind = 7;
    const device = ["kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation"].includes(e.cat);
    const part = device ? (e.cat === "gpu_user_annotation" ? "ranges" : "stream") : kind === 12 || kind === 13 ? "calls" : kind === 5 ? "python" : "work";
    const key = `${device ? "g" : "p"} ${e.pid} ${e.tid} ${part}`;
    if (!lanes.has(key)) lanes.set(key, { key, part, device, pid: e.pid, tid: e.tid, list: [] });
    const s = { name: e.name, kind, start: Math.round((e.ts - t0 + r * once) * 1000), dur: Math.round(e.dur * 1000), args: e.args ?? {}, cat: e.cat, lane: key, row: 0 };
    lanes.get(key).list.push(s);
    slices.push(s);
  }
slices.sort((a, b) => a.start - b.start || b.dur - a.dur);
slices.forEach((s, i) => { s.id = i; });
const whole = Math.round(once * 1000 * Number(repeat));
const steps = slices.filter((s) => s.kind === 2 && s.cat === "user_annotation");
const all = [];
const order = (l) => (l.device ? 0 : 1) * 1e6 + ({ stream: 0, ranges: 1, work: 0, calls: 1, python: 2 }[l.part] ?? 3);
for (const l of lanes.values()) {
  l.list.sort((a, b) => a.start - b.start || b.dur - a.dur);
  const ends = [];
  for (const s of l.list) {
    let row = ends.findIndex((e) => e <= s.start + 2);
    if (l.part !== "stream") {
      row = 0;
      while (row < ends.length && ends[row] > s.start) row++;
      ends.length = row;
    }
    if (row < 0) row = ends.length;
    ends[row] = s.start + s.dur;
    s.row = row;
    l.rows = Math.max(l.rows ?? 0, row + 1);
  }
  l.busy = l.list.reduce((n, s) => n + (s.row === 0 ? s.dur : 0), 0) / whole;
}
const threads = new Map();
for (const l of lanes.values()) if (!l.device) threads.set(`${l.pid} ${l.tid}`, (threads.get(`${l.pid} ${l.tid}`) ?? 0) + l.list.length);
const sorted = [...lanes.values()].sort((a, b) => (a.device === b.device ? 0 : a.device ? -1 : 1) || (a.device ? a.tid - b.tid : (threads.get(`${b.pid} ${b.tid}`) ?? 0) - (threads.get(`${a.pid} ${a.tid}`) ?? 0)) || order(a) - order(b));
const stepLane = { key: "steps", part: "steps", list: steps.map((s) => ({ ...s, name: s.name.replace("ProfilerStep#", "Step "), row: 0 })), rows: 1, busy: 1 };
const add = (l, more) => all.push({ id: all.length + 1, group: 0, track: all.length + 1, rows: l.rows ?? 0, slices: l.list?.length ?? 0, busy: l.busy ?? 0, closed: false, ...more, source: l });
add(stepLane, { kind: "steps", name: "Steps" });
const util = [];
const kernels = slices.filter((s) => s.kind >= 17 && s.kind <= 19).sort((a, b) => a.start - b.start);
const STEP = Math.max(1, Math.round(whole / 8000));
for (let i = 0; i < whole; i += STEP) util.push([i, 0]);
for (const k of kernels) for (let b = Math.floor(k.start / STEP); b <= Math.floor((k.start + k.dur) / STEP) && b < util.length; b++) {
  const lo = Math.max(k.start, b * STEP), hi = Math.min(k.start + k.dur, (b + 1) * STEP);
  util[b][1] = Math.min(1, util[b][1] + Math.max(0, hi - lo) / STEP);
}
if (kernels.length) add({ points: util }, { kind: "utilization", name: "GPU utilisation", device: 0, unit: "share", max: 1 });
const memory = trace.traceEvents.filter((e) => e.name === "[memory]" && e.args["Device Type"] === 1).map((e) => [Math.round((e.ts - t0) * 1000), e.args["Total Allocated"]]).sort((a, b) => a[0] - b[0]);
if (memory.length) add({ points: memory }, { kind: "memory", name: "GPU memory", device: 0, unit: "bytes", series: "allocated", max: memory.reduce((m, p) => Math.max(m, p[1]), 0) });
const main = sorted.find((l) => l.part === "work");
for (const l of sorted) {
  const autograd = l.part === "work" && l !== main && l.list.some((s) => /^autograd::engine/.test(s.name));
  if (l.device) add(l, { kind: l.part, group: 1, name: `stream ${l.tid}`, device: Number(l.pid), stream: l.tid, role: "compute" });
  else add(l, { kind: l.part, group: 2, name: `thread ${l.tid}`, tid: String(l.tid), role: l === main ? "training" : autograd ? "autograd" : "other", closed: l.part === "python" || l.busy < 0.001 });
}
const idOf = new Map(all.map((l) => [l.source.key, l.id]));
const ref = (s) => s && { id: s.id, name: s.name, kind: KINDS[s.kind], start: s.start, duration: s.dur, track: idOf.get(s.lane), lane: idOf.get(s.lane), row: s.row };

// ---- blocks ----
const BYTES = { u8: 1, u16: 2, u32: 4, f32: 4, f64: 8 };
const MAKE = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f32: Float32Array, f64: Float64Array };
function blocks(description, columns) {
  let at = 0;
  const info = {};
  for (const [name, [type, list]] of Object.entries(columns)) {
    info[name] = { type, at, n: list.length };
    at += Math.ceil((list.length * BYTES[type]) / 8) * 8;
  }
  const text = Buffer.from(JSON.stringify({ ...description, blocks: info }));
  const h = Math.ceil(text.length / 8) * 8;
  const out = Buffer.alloc(16 + h + at, 32);
  out.write("TACHOBLK", 0);
  out.writeUInt32LE(1, 8);
  out.writeUInt32LE(h, 12);
  text.copy(out, 16);
  for (const [name, [type, list]] of Object.entries(columns)) Buffer.from(MAKE[type].from(list).buffer).copy(out, 16 + h + info[name].at);
  return out;
}

function lanesOf(text) {
  const found = new Map();
  for (const part of (text || "").split(",").filter(Boolean)) {
    const [ids, coarse = "0"] = part.split(":");
    const [a, b = a] = ids.split("-").map(Number);
    for (let i = a; i <= b; i++) found.set(i, Number(coarse));
  }
  return found;
}

function viewport(q) {
  const from = Number(q.get("from") ?? 0), to = Number(q.get("to") ?? whole), width = Number(q.get("width"));
  const bucket = 2 ** Math.max(0, Math.ceil(Math.log2((to - from) / width)));
  const unit = 2 ** Math.max(0, Math.ceil(Math.log2((to - from) / 2 ** 32)));
  const c = { row_lane: [], row_row: [], row_first: [], start: [], end: [], slice: [], time: [], count: [], name: [], flags: [], counter_lane: [], counter_first: [], point_time: [], point_min: [], point_max: [], point_last: [] };
  const names = new Map();
  const nameOf = (s) => { const k = `${s.name}\0${s.kind}`; if (!names.has(k)) names.set(k, names.size); return names.get(k); };
  for (const [id, coarse] of lanesOf(q.get("lanes"))) {
    const lane = all.find((l) => l.id === id);
    if (!lane) continue;
    if (lane.source.points) {
      c.counter_lane.push(id); c.counter_first.push(c.point_time.length);
      let last; let cell = -1;
      for (const [t, v] of lane.source.points) {
        if (t >= to) break;
        if (t < from) { last = v; continue; }
        if (last !== undefined && cell === -1) { c.point_time.push(0); c.point_min.push(last); c.point_max.push(last); c.point_last.push(last); cell = 0; }
        const b = Math.floor(t / bucket);
        const n = c.point_time.length - 1;
        if (b === cell) { c.point_min[n] = Math.min(c.point_min[n], v); c.point_max[n] = Math.max(c.point_max[n], v); c.point_last[n] = v; }
        else { cell = b; c.point_time.push((t - from) / unit); c.point_min.push(v); c.point_max.push(v); c.point_last.push(v); }
        last = undefined;
      }
      continue;
    }
    const wide = bucket * 2 ** coarse;
    for (let row = 0; row < lane.rows; row++) {
      const firstBox = c.start.length;
      let cell = -1;
      for (const s of lane.source.list) {
        if (s.row !== row) continue;
        if (s.start >= to) break;
        if (s.start + s.dur <= from) continue;
        const a = (Math.max(s.start, from) - from) / unit, b = (Math.min(s.start + s.dur, to) - from) / unit;
        const n = c.start.length - 1;
        if (s.dur < wide && Math.floor(s.start / wide) === cell) {
          c.end[n] = Math.max(b, c.end[n]); c.time[n] += s.dur; c.count[n]++;
          if (s.dur > c.longest) { c.longest = s.dur; c.slice[n] = s.id; c.name[n] = nameOf(s); }
          continue;
        }
        cell = s.dur < wide ? Math.floor(s.start / wide) : -1;
        c.longest = s.dur;
        c.start.push(a); c.end.push(Math.max(b, a + 1)); c.slice.push(s.id); c.time.push(s.dur); c.count.push(1); c.name.push(nameOf(s)); c.flags.push((s.start < from ? 1 : 0) | (s.start + s.dur > to ? 2 : 0));
      }
      if (c.start.length > firstBox) { c.row_lane.push(id); c.row_row.push(row); c.row_first.push(firstBox); }
    }
  }
  c.row_first.push(c.start.length); c.counter_first.push(c.point_time.length);
  delete c.longest;
  const texts = [...names.keys()].map((k) => Buffer.from(k.split("\0")[0].slice(0, 200)));
  const at = [0]; for (const t of texts) at.push(at[at.length - 1] + t.length);
  const types = { row_row: "u16", time: "f32", count: "u16", name: "u16", flags: "u8", point_min: "f32", point_max: "f32", point_last: "f32" };
  const cols = Object.fromEntries(Object.entries(c).map(([k, v]) => [k, [types[k] ?? "u32", v]]));
  cols.name_at = ["u32", at]; cols.name_text = ["u8", [...Buffer.concat(texts)]]; cols.name_kind = ["u8", [...names.keys()].map((k) => Number(k.split("\0")[1]))]; cols.name_id = ["u32", texts.map((_, i) => i)];
  return blocks({ from, to, width, bucket_ns: bucket, unit_ns: unit, seq: Number(q.get("seq") ?? 0), lanes: c.row_lane.length, boxes: c.start.length }, cols);
}

const byCorrelation = new Map(), byExternal = new Map(), bySequence = new Map();
for (const s of slices) {
  if (s.kind === 12 || s.kind === 13) byCorrelation.set(s.args.correlation, s);
  if (s.kind === 11 && s.args["External id"] !== undefined) byExternal.set(s.args["External id"], s);
  if (s.kind === 11 && s.args["Sequence number"] !== undefined && !/^autograd/.test(s.name)) if (!bySequence.has(s.args["Sequence number"])) bySequence.set(s.args["Sequence number"], s);
}
const above = (s) => lanes.get(s.lane)?.list.filter((o) => o.row < s.row && o.start <= s.start && o.start + o.dur >= s.start + s.dur).pop();
function slice(q) {
  const s = slices[Number(q.get("id"))];
  if (!s) return { error: { code: "not_found", msg: "no such slice" } };
  const same = slices.filter((o) => o.name === s.name && o.kind === s.kind).map((o) => o.dur).sort((a, b) => a - b);
  const [lo, hi] = [same[0], same[same.length - 1] + 1];
  const counts = new Array(24).fill(0); for (const d of same) counts[Math.min(23, Math.floor(((d - lo) / (hi - lo)) * 24))]++;
  const total = same.reduce((a, b) => a + b, 0);
  const list = lanes.get(s.lane).list.filter((o) => o.row === s.row);
  const at = list.indexOf(s);
  const why = [];
  const isKernel = s.kind >= 17 && s.kind <= 19;
  const launch = isKernel && byCorrelation.get(s.args.correlation);
  if (launch) why.push({ role: "launch", delay: s.start - launch.start, ...ref(launch) });
  const op = isKernel ? byExternal.get(s.args["External id"]) : s.kind === 11 ? s : undefined;
  if (op && op !== s) why.push({ role: "operator", ...ref(op) });
  let up = op; while (up && !/^autograd::/.test(up.name)) up = above(up);
  if (up && up !== s) why.push({ role: "backward", ...ref(up) });
  const fw = up && bySequence.get(up.args["Sequence number"]); if (fw) why.push({ role: "forward", ...ref(fw) });
  const children = lanes.get(s.lane).list.filter((o) => o.row === s.row + 1 && o.start >= s.start && o.start + o.dur <= s.start + s.dur);
  const inside = s.kind === 11 ? kernels.filter((k) => { const l = byCorrelation.get(k.args.correlation); return l && l.start >= s.start && l.start + l.dur <= s.start + s.dur; }) : s.kind === 12 ? kernels.filter((k) => k.args.correlation === s.args.correlation) : [];
  const step = steps.find((p) => s.start >= p.start && s.start < p.start + p.dur);
  return {
    slice: { ...ref(s), category: s.cat, self: s.dur - children.reduce((n, k) => n + k.dur, 0), depth: s.row, ...(step ? { step: { number: Number(step.name.split("#")[1]), offset: s.start - step.start } } : {}), track: { id: 1, name: s.lane, kind: "x" } },
    arguments: s.args,
    ...(isKernel ? { kernel: { device: s.args.device, stream: s.args.stream, context: s.args.context, correlation: s.args.correlation, grid: s.args.grid, block: s.args.block, registers: s.args["registers per thread"], shared_memory: s.args["shared memory"], occupancy: null, bytes: s.args.bytes } } : {}),
    ...(s.args["Input Dims"] ? { op: { shapes: JSON.stringify(s.args["Input Dims"]), sequence: s.args["Sequence number"] } } : {}),
    parent: ref(above(s)), children: children.slice(0, 100).map(ref), n_children: children.length, previous: ref(list[at - 1]), next: ref(list[at + 1]),
    kernels: inside.slice(0, 100).map(ref), n_kernels: inside.length, kernel_time: inside.reduce((n, k) => n + k.dur, 0), why, flows: [],
    ...(launch ? { wait: { id: s.start - launch.start < 20000 ? "host_pace" : "behind", time: s.start - launch.start, behind: ref(list[at - 1]) } } : {}),
    same_name: { count: same.length, total, mean: total / same.length, min: lo, max: hi - 1, share: 0.065, percentile: same.indexOf(s.dur) / same.length, histogram: { from: lo, to: hi - 1, counts, own: Math.min(23, Math.floor(((s.dur - lo) / (hi - lo)) * 24)) } },
  };
}

function search(q) {
  const words = (q.get("q") ?? "").toLowerCase().replace(/"/g, "").split(/\s+/);
  const from = Number(q.get("from") ?? 0), to = Number(q.get("to") ?? whole), width = Number(q.get("width") ?? 0), limit = Number(q.get("limit") ?? 50);
  const hits = slices.filter((s) => s.start >= from && s.start < to && words.every((w) => s.name.toLowerCase().includes(w)));
  const names = new Map();
  for (const h of hits) { const n = names.get(h.name) ?? { name: h.name, kind: KINDS[h.kind], count: 0, total: 0, longest: h }; n.count++; n.total += h.dur; if (h.dur > n.longest.dur) n.longest = h; names.set(h.name, n); }
  let shown = hits;
  if (q.get("after")) shown = hits.filter((h) => h.start >= Number(q.get("after"))).slice(0, limit);
  else if (q.get("before")) shown = hits.filter((h) => h.start < Number(q.get("before"))).slice(-limit);
  return { q: q.get("q"), total: hits.length, names: [...names.values()].sort((a, b) => b.total - a.total).slice(0, 50).map((n) => ({ ...n, longest: ref(n.longest) })), n_names: names.size, index: 0, hits: shown.slice(0, limit).map(ref), ticks: [...new Set(hits.map((h) => Math.floor(((h.start - from) / (to - from)) * width)))], ticks_complete: true };
}

function area(q) {
  const from = Number(q.get("from")), to = Number(q.get("to"));
  const names = new Map();
  const tracks = [];
  for (const id of lanesOf(q.get("lanes")).keys()) {
    const lane = all.find((l) => l.id === id);
    let [n, busy] = [0, 0];
    for (const s of lane?.source.list ?? []) {
      if (s.start >= to || s.start + s.dur <= from) continue;
      const d = Math.min(s.start + s.dur, to) - Math.max(s.start, from);
      if (s.row === 0) busy += d;
      n++;
      const r = names.get(s.name) ?? [s.name, KINDS[s.kind], 0, 0, 0, 0, Number.POSITIVE_INFINITY, 0, 0];
      r[2]++; r[3] += d; r[4] += d; r[6] = Math.min(r[6], d); r[7] = Math.max(r[7], d);
      names.set(s.name, r);
    }
    if (lane?.source.list) tracks.push([id, lane.name, n, busy, busy / (to - from)]);
  }
  const rows = [...names.values()];
  const sum = rows.reduce((n, r) => n + r[4], 0);
  for (const r of rows) { r[5] = r[3] / r[2]; r[8] = r[4] / sum; }
  const columns = "name kind count total self mean min max share".split(" ").map((name) => ({ name }));
  const [key, way] = (q.get("sort") ?? "total:desc").split(":");
  const i = columns.findIndex((c) => c.name === key);
  rows.sort((a, b) => (a[i] < b[i] ? -1 : 1) * (way === "desc" ? -1 : 1));
  return { tables: { area: { columns, rows: rows.slice(0, 500), total_rows: rows.length }, tracks: { columns: "lane name count busy share".split(" ").map((name) => ({ name })), rows: tracks }, counters: { columns: [], rows: [] } } };
}

function tape(q) {
  const width = Number(q.get("width"));
  const rows = { device: new Float64Array(width), data: new Float64Array(width), host: new Float64Array(width) };
  const px = whole / width;
  const put = (row, s) => { for (let x = Math.floor(s.start / px); x <= (s.start + s.dur) / px && x < width; x++) row[x] += Math.max(0, Math.min(s.start + s.dur, (x + 1) * px) - Math.max(s.start, x * px)) / px; };
  for (const s of slices) if (s.kind >= 17 && s.kind <= 19) put(rows.device, s); else if (s.kind === 7) put(rows.data, s); else if (s.kind === 11 && s.row <= 1) put(rows.host, s);
  const u8 = (r) => ["u8", Array.from(r, (v) => Math.min(255, Math.round(v * 255)))];
  return blocks({ from: 0, to: whole, width, devices: 1 }, { device: u8(rows.device), communication: ["u8", new Array(width).fill(0)], data: u8(rows.data), host: u8(rows.host), step_number: ["f64", steps.map((s) => Number(s.name.split("#")[1]))], step_start: ["f64", steps.map((s) => s.start)], step_end: ["f64", steps.map((s) => s.start + s.dur)] });
}

const facts = { format: "kineto", events: slices.length, duration: whole, start_unix_ns: null, steps: steps.length, mean_step: 93e6, damaged: false, verdict: null };
const ROUTES = {
  runs: () => ({ version: 1, path: "/logs", loading: { done: 0, total: 0 }, memory: { used: 1, limit: 2 }, runs: [{ name: "resnet_w0", path: "/logs/resnet_w0", date: "0", workers: [{ name: "worker0", rank: 0, spans: [{ number: 1, stamp: null, bytes: 1, date: "0", state: "ready", share: 1, error: null, facts }] }] }] }),
  tracks: () => ({ trace: { run: "resnet_w0", worker: "worker0", span: "1", format: "kineto", duration_ns: whole, events: slices.length }, lanes: all.map(({ source, ...l }) => l), groups: [{ id: 1, kind: "device", name: "GPU 0", detail: "NVIDIA H200", device: 0, closed: false }, { id: 2, kind: "process", name: "python3", pid: String(main?.pid ?? 0), closed: false }], steps: { total: steps.length, number: steps.map((s) => Number(s.name.split("#")[1])), start: steps.map((s) => s.start), end: steps.map((s) => s.start + s.dur) } }),
  viewport, slice, search, area, tape,
  info: () => ({ tables: {}, quality: { events_read: slices.length, events_dropped: [], links: [], notes: [] }, trace: {} }),
};

const web = process.env.WEB ?? join(import.meta.dirname, "../page");
createServer((req, res) => {
  const url = new URL(req.url, "http://x");
  const name = url.pathname.replace("/api/v1/", "");
  if (url.pathname.startsWith("/api/v1/")) {
    if (name === "events") {
      res.writeHead(200, { "content-type": "text/event-stream" });
      res.write('event: hello\ndata: {"instance":"fake","version":1}\n\n');
      return;
    }
    const f = ROUTES[name];
    const answer = f ? f(url.searchParams) : { error: { code: "not_found", msg: name } };
    const binary = Buffer.isBuffer(answer);
    res.writeHead(!f || answer.error ? 404 : 200, { "content-type": binary ? "application/octet-stream" : "application/json" });
    res.end(binary ? answer : JSON.stringify(answer));
    return;
  }
  const asked = url.pathname === "/" ? "index.html" : url.pathname.slice(1);
  const path = readdirSync(web).find((f) => f === asked);
  if (!path) return void res.writeHead(404).end();
  const types = { html: "text/html", js: "text/javascript", css: "text/css" };
  res.writeHead(200, { "content-type": types[asked.split(".").pop()] ?? "text/plain" });
  createReadStream(join(web, path)).pipe(res);
}).listen(Number(port), "127.0.0.1", () => console.log(`http://127.0.0.1:${port}/#/timeline  ${slices.length} slices`));
