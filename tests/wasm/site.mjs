// The static site and tacho.html in a real browser, without a server of ours: a trace that is dropped, chosen, named by an
// address, sent by another page; a folder of ranks; two runs compared; without a network; nothing that reaches one.
//     node tests/wasm/site.mjs [NAME…]
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { dirname, extname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { browserPath } from "../browser/path.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
if (!browserPath()) {
  console.log("Chromium is not installed: tools/setup browser");
  process.exit(77);
}
const PATIENCE_MS = Number(process.env.TACHO_BROWSER_PATIENCE_MS ?? 120_000);
const { chromium } = createRequire(join(root, "web/package.json"))("playwright-core");
const MEDIA = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".webmanifest": "application/manifest+json", ".svg": "image/svg+xml", ".md": "text/plain" };
const data = (name) => join(root, "tests/data", name);

/** A file host that knows nothing of tacho, and one of another origin that lets pages read its traces. */
function host(folder, more = {}) {
  const asked = [];
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url.split("?")[0]);
    const file = join(folder, path === "/" ? "index.html" : path);
    asked.push(request.url);
    if (!existsSync(file)) return response.writeHead(404).end();
    response.writeHead(200, { "Content-Type": MEDIA[extname(file)] ?? "application/octet-stream", ...more });
    response.end(readFileSync(file));
  });
  return new Promise((done) =>
    server.listen(0, "127.0.0.1", () => done({ url: `http://127.0.0.1:${server.address().port}`, asked, stop: () => server.close() })),
  );
}

const site = await host(join(root, "build/wasm/site"));
const traces = await host(join(root, "tests/data"), { "Access-Control-Allow-Origin": "*" });
const closed = await host(join(root, "tests/data"));
const browser = await chromium.launch({ executablePath: browserPath(), args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"], timeout: PATIENCE_MS });

async function open(address, more = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...more });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const faults = [];
  const requests = [];
  page.on("pageerror", (e) => faults.push(String(e)));
  page.on("console", (m) => m.type() === "error" && faults.push(m.text()));
  page.on("request", (r) => requests.push(r.url()));
  await page.goto(address);
  return { page, context, faults, requests };
}

const nodeCommand = (...words) => execFileSync(join(root, "tests/wasm/tacho"), words, { encoding: "utf8" });
const verdictOf = (path) => JSON.parse(nodeCommand("overview", "--json", path)).verdict.text.en;
const choose = (page, files, folder = false) =>
  page.locator(".open-files input").nth(folder ? 1 : 0).setInputFiles(files);
const verdict = async (page) => {
  await page.waitForSelector(".verdict em");
  return (await page.locator("#content").innerText()).replace(/\s+/g, " ").trim();
};

const tests = [];
const test = (name, run) => tests.push({ name, run });

test("a chosen trace opens in all views; nothing leaves the page", async () => {
  const { page, context, faults, requests } = await open(site.url);
  await page.waitForSelector("text=Open a trace");
  await choose(page, [data("sample.pt.trace.json.gz")]);
  await page.waitForSelector(".verdict");
  const words = await verdict(page);
  const said = verdictOf(data("sample.pt.trace.json.gz")).replaceAll("*", "").split(/[:(]/)[0].trim();
  assert.ok(words.includes(said), `${words.slice(0, 300)} has no: ${said}`);
  for (const view of ["timeline", "operators", "kernels", "memory", "steps", "query", "why", "code", "modules", "roofline"]) {
    await page.evaluate((v) => (location.hash = location.hash.replace(/^#\/\w+/, `#/${v}`)), view);
    await page.waitForFunction((v) => location.hash.startsWith(`#/${v}`) && document.querySelector("#content")?.getAttribute("aria-busy") === "false", view);
    await page.waitForTimeout(150);
    assert.equal(await page.locator("#content [role=alert]").count(), 0, `${view}: ${await page.locator("#content").innerText()}`);
  }
  await page.screenshot({ path: join(root, "build/screenshots/site-modules.png") });
  assert.deepEqual(faults, []);
  assert.deepEqual(requests.filter((r) => !r.startsWith(site.url) && !/^(blob|data):/.test(r)), []);
  await context.close();
});

test("a table is saved as the server would send it", async () => {
  const { page, context } = await open(site.url);
  await choose(page, [data("sample.pt.trace.json.gz")]);
  await page.waitForSelector(".verdict");
  await page.evaluate(() => (location.hash = location.hash.replace(/^#\/\w+/, "#/operators")));
  const link = page.locator("a[download][href*='format=csv']").first();
  await link.waitFor({ state: "attached" });
  const saved = page.waitForEvent("download");
  await link.evaluate((a) => a.click());
  const text = readFileSync(await (await saved).path(), "utf8");
  assert.match(text, /^name,/);
  assert.ok(text.split("\n").length > 10, text);
  await context.close();
});

test("the files of a job are one run of all its ranks", async () => {
  const { page, context } = await open(site.url);
  await page.waitForSelector("text=Open a trace");
  await choose(page, data("two_ranks"), true);
  await page.waitForSelector(".verdict");
  await page.evaluate(() => (location.hash = location.hash.replace(/^#\/\w+/, "#/distributed")));
  await page.waitForSelector("#content table, #content .panel");
  assert.match(await page.locator("#content").innerText(), /rank|Rank/);
  await context.close();
});

test("two traces one after the other can be compared", async () => {
  const { page, context } = await open(site.url);
  await choose(page, [data("sample.pt.trace.json.gz")]);
  await page.waitForSelector(".verdict");
  await page.evaluate(() => (location.hash = "#/runs"));
  await page.evaluate(async (text) => {
    const dropped = new DataTransfer();
    dropped.items.add(new File([text], "other.pt.trace.json"));
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: dropped, bubbles: true, cancelable: true }));
  }, readFileSync(data("minimal.pt.trace.json"), "utf8"));
  await page.waitForFunction(() => location.hash.includes("run=other"));
  await page.evaluate(() => (location.hash = "#/compare?run=sample&other=other"));
  await page.waitForFunction(() => document.querySelector("#content")?.getAttribute("aria-busy") === "false");
  await page.waitForSelector("#content .panel");
  assert.equal(await page.locator("#content [role=alert]").count(), 0, await page.locator("#content").innerText());
  await context.close();
});

test("an address opens a trace of a site that allows it, and says why when one does not", async () => {
  const { page, context } = await open(`${site.url}/?url=${encodeURIComponent(`${traces.url}/sample.pt.trace.json.gz`)}`);
  await page.waitForSelector(".verdict");
  await context.close();
  const refused = await open(`${site.url}/?url=${encodeURIComponent(`${closed.url}/sample.pt.trace.json.gz`)}`);
  await refused.page.waitForSelector("text=could not be loaded");
  assert.match(await refused.page.locator("[role=alert]").innerText(), /CORS/);
  await refused.context.close();
});

test("another page sends a trace by a message", async () => {
  const { page, context } = await open(`${traces.url}/README.md`);
  const popup = context.waitForEvent("page");
  await page.evaluate(async (address) => {
    const tacho = open(address);
    const buffer = await (await fetch("/sample.pt.trace.json.gz")).arrayBuffer();
    const pong = new Promise((done) => addEventListener("message", (e) => e.data === "PONG" && done(), { once: true }));
    const timer = setInterval(() => tacho.postMessage("PING", "*"), 50);
    await pong;
    clearInterval(timer);
    tacho.postMessage({ tacho: { name: "sent.pt.trace.json.gz", buffer } }, "*");
  }, site.url);
  const opened = await popup;
  opened.setDefaultTimeout(PATIENCE_MS);
  await opened.waitForSelector(".verdict");
  assert.match(opened.url(), /run=sent/);
  await context.close();
});

test("what is no trace says so, and a hostile one cannot reach the page", async () => {
  const { page, context, faults } = await open(site.url);
  await page.waitForSelector("text=Open a trace");
  await choose(page, [{ name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("nothing") }]);
  await page.waitForSelector(".drop-file [role=alert] >> text=notes.txt is not a trace");
  await page.keyboard.press("Escape");
  await choose(page, [data("hostile_names.json")]);
  await page.waitForFunction(() => location.hash.includes("run="));
  await page.evaluate(() => (location.hash = location.hash.replace(/^#\/\w+/, "#/operators")));
  await page.waitForFunction(() => document.querySelector("#content")?.getAttribute("aria-busy") === "false");
  assert.equal(await page.locator("#content script, #content img, #content iframe").count(), 0);
  assert.deepEqual(faults, []);
  await context.close();
});

test("the second visit needs no network", async () => {
  const { page, context } = await open(site.url);
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  await context.setOffline(true);
  await page.reload();
  await page.waitForSelector("text=Open a trace");
  await choose(page, [data("sample.pt.trace.json.gz")]);
  await page.waitForSelector(".verdict");
  await context.close();
});

test("tacho.html opens a trace from the disk, in Chinese, too", async () => {
  const address = pathToFileURL(join(root, "build/wasm/tacho.html")).href;
  const { page, context, faults, requests } = await open(address, { locale: "zh-CN" });
  await page.waitForSelector("text=打开追踪");
  await choose(page, [data("sample.pt.trace.json.gz")]);
  await page.waitForSelector(".verdict");
  assert.match(await verdict(page), /GPU/);
  assert.deepEqual(faults, []);
  assert.deepEqual(requests.filter((r) => !/^(file|blob|data):/.test(r)), []);
  await page.screenshot({ path: join(root, "build/screenshots/single-zh.png") });
  await context.close();
});

const words = process.argv.slice(2);
const count = { passed: 0, failed: 0 };
for (const { name, run } of tests.filter((t) => !words.length || words.some((w) => t.name.includes(w)))) {
  try {
    await run();
    count.passed++;
  } catch (e) {
    count.failed++;
    console.log(`FAIL ${name}\n  ${String(e.stack ?? e).split("\n").slice(0, 16).join("\n  ")}`);
  }
}
await browser.close();
console.log(`${count.passed} passed, ${count.failed} failed, 0 skipped`);
process.exit(count.failed ? 1 : 0);
