// A stand-in for `tacho serve` while the page is written: answers by running the command line.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, existsSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
const root = new URL("../..", import.meta.url).pathname;
const dirs = process.argv.slice(3);
const port = Number(process.argv[2] ?? 8123);
const cache = new Map();
const TYPES = { js: "text/javascript", css: "text/css", html: "text/html" };
function cli(args) {
  const key = args.join("\u0001");
  if (!cache.has(key)) {
    try { cache.set(key, { ok: true, text: execFileSync(join(root, "build/tacho"), args, { maxBuffer: 1 << 30, stdio: ["ignore", "pipe", "pipe"] }).toString() });
    } catch (e) { cache.set(key, { ok: false, text: String(e.stderr) }); }
  }
  return cache.get(key);
}
const runs = dirs.map((d) => ({ path: d, name: d.split("/").pop() }));
function runOf(q) { return runs.find((r) => r.name === q.get("run")) ?? runs[0]; }
function analysis(name, q) {
  const args = [name, runOf(q).path, "-q", "--threads", "2"];
  let offset = 0, limit = 0;
  for (const [k, v] of q) {
    if (k === "run") continue;
    if (k === "offset") offset = Number(v);
    else if (k === "limit") limit = Number(v);
    else if (k === "all-workers") args.push("--all-workers");
    else args.push(`--${k}`, /^\d+$/.test(v) && (k === "from" || k === "to") ? `${v}ns` : v);
  }
  args.push("--limit", "0");
  if (q.get("format")) return { type: "text/csv", ...cli(args) };
  const r = cli([...args, "--json"]);
  if (!r.ok) return r;
  const a = JSON.parse(r.text);
  for (const t of Object.values(a.tables)) t.rows = t.rows.slice(offset, limit ? offset + limit : undefined);
  return { ok: true, type: "application/json", text: JSON.stringify(a) };
}
function listRuns() {
  return { version: 1, path: "/logs", loading: { done: 0, total: 0 }, memory: { used: 1, limit: 8e9 }, refused: [], runs: runs.map((r) => {
    const files = readdirSync(r.path).filter((f) => /pt\.trace\.json/.test(f));
    return { name: r.name, path: r.path, date: "1794700906491364851", workers: files.map((f, i) => {
      const worker = f.split(".")[0];
      const q = new URLSearchParams(files.length > 1 ? { run: r.name, worker } : { run: r.name });
      const ov = JSON.parse(analysis("overview", q).text);
      const steps = ov.tables.steps.rows;
      return { name: worker, rank: /rank/.test(worker) ? i : null, spans: [{ number: 1, stamp: null, bytes: 2e6, date: "1794700906491364851", state: "ready", share: 1, error: null,
        facts: { format: ov.trace.format, events: ov.quality.events_read, duration: ov.trace.duration_ns, start_unix_ns: ov.trace.start_unix_ns, steps: steps.length,
          mean_step: steps.length ? steps.reduce((s, x) => s + x[1], 0) / steps.length : null, damaged: false, verdict: ov.verdict ?? null } }] };
    }) };
  }) };
}
function tape(q) {
  const r = runOf(q), width = Number(q.get("width"));
  const files = readdirSync(r.path).filter((f) => /pt\.trace\.json/.test(f));
  const f = files.find((x) => x.startsWith(`${q.get("worker")}.`)) ?? files[0];
  let text = readFileSync(join(r.path, f)); if (f.endsWith("gz")) text = gunzipSync(text);
  const ev = JSON.parse(text.toString().replace(/\bNaN\b/g, "null")).traceEvents.filter((e) => e.ph === "X");
  const width_ = q.get("width"); q.delete("width"); const info = JSON.parse(analysis("info", q).text), dur = info.trace.duration_ns;
  let t0 = Infinity; for (const e of ev) if (e.ts < t0 && e.cat !== "Trace") t0 = e.ts;
  const st = JSON.parse(analysis("steps", new URLSearchParams(q.get("worker") ? { run: r.name, worker: q.get("worker") } : { run: r.name })).text).tables.steps.rows;
  const kinds = { device: /^kernel|^gpu_mem/, data: /^user_annotation/, host: /^cpu_op/ };
  const blocks = {}, parts = []; let at = 0;
  const put = (name, type, arr) => { const b = Buffer.from(arr.buffer); blocks[name] = { type, at, n: arr.length }; parts.push(b); const pad = (8 - (b.length % 8)) % 8; parts.push(Buffer.alloc(pad)); at += b.length + pad; };
  let devs = 0;
  for (const [k, re] of Object.entries(kinds)) {
    const acc = new Float64Array(width); let n = 0;
    for (const e of ev) { if (!re.test(e.cat ?? "") || (k === "data" && !/DataLoader/.test(e.name))) continue; n++;
      let a = ((e.ts - t0) * 1000 / dur) * width, b = a + (e.dur * 1000 / dur) * width;
      for (let i = Math.max(0, Math.floor(a)); i < Math.min(width, b); i++) acc[i] += Math.min(b, i + 1) - Math.max(a, i); }
    if (k === "device") devs = n; if (n || k === "host") put(k, "u8", Uint8Array.from(acc, (x) => Math.min(255, x * 255)));
  }
  put("step_number", "f64", Float64Array.from(st, (s) => s[0])); put("step_start", "f64", Float64Array.from(st, (s) => s[1])); put("step_end", "f64", Float64Array.from(st, (s) => s[2]));
  let d = JSON.stringify({ from: 0, to: dur, width, devices: devs ? 1 : 0, blocks }); while (Buffer.byteLength(d) % 8) d += " ";
  const head = Buffer.alloc(16); head.write("TACHOBLK"); head.writeUInt32LE(1, 8); head.writeUInt32LE(Buffer.byteLength(d), 12);
  return Buffer.concat([head, Buffer.from(d), ...parts]);
}
createServer((req, res) => {
  const u = new URL(req.url, "http://x"), q = u.searchParams;
  const m = u.pathname.match(/^\/api\/v1\/(\w+)$/);
  const json = (s, o) => { res.writeHead(s, { "content-type": "application/json" }); res.end(JSON.stringify(o)); };
  try {
    if (m?.[1] === "runs") return json(200, listRuns());
    if (m?.[1] === "events") { res.writeHead(200, { "content-type": "text/event-stream" }); return res.write('event: hello\ndata: {"instance":"dev","version":1}\n\n'); }
    if (m?.[1] === "tape") { const body = tape(q); res.writeHead(200); return res.end(body); }
    if (m) { const r = analysis(m[1], q); if (!r.ok) return json(400, { error: { code: "bad_request", msg: r.text, id: "", values: {}, offset: null } });
      res.writeHead(200, { "content-type": r.type }); return res.end(r.text); }
  } catch (e) { return json(500, { error: { code: "internal", msg: String(e.stack), id: "", values: {}, offset: null } }); }
  const name = u.pathname === "/" ? "index.html" : u.pathname.slice(1), file = join(root, "build/web", `${name}.gz`);
  if (!existsSync(file)) { res.writeHead(404); return res.end(); }
  res.writeHead(200, { "content-type": TYPES[name.split(".").pop()] ?? "text/plain", "content-encoding": "gzip",
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'" });
  res.end(readFileSync(file));
}).listen(port, "127.0.0.1");
