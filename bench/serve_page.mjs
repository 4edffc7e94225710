// What the page costs in a browser, on a running server; one line of JSON for bench/serve.
//     node bench/serve_page.mjs URL
// first_bytes: what the first load takes off the wire, without answers of the API. interactive_ms: from
// asking for the page until a pressed key has had its effect, median of five fresh browsers' profiles.
// verdict_ms: from asking for the page until the verdict is there, in fresh profiles. switch_ms: from the click on
// Memory, which was not opened before, until all of it is drawn; likewise. frames_ms: script time of each frame
// while the timeline is zoomed and panned with real answers.
import { createRequire } from "node:module";
import { browserPath } from "../tests/browser/path.mjs";

const require = createRequire(new URL("../web/package.json", import.meta.url));
const { chromium } = require("playwright-core");
const url = process.argv[2];

const browser = await chromium.launch({
  executablePath: browserPath(),
  args: ["--no-sandbox"],
});

async function open(place) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: "en-US" });
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  const sent = new Map();
  let bytes = 0;
  await cdp.send("Network.enable");
  cdp.on("Network.requestWillBeSent", (e) => sent.set(e.requestId, e.request.url));
  cdp.on("Network.loadingFinished", (e) => {
    if (!(sent.get(e.requestId) ?? "/api/").includes("/api/")) bytes += e.encodedDataLength;
  });
  const began = performance.now();
  await page.goto(`${url}/#/${place}`, { waitUntil: "commit" });
  await page.waitForSelector("nav a, nav button");
  await page.keyboard.press("?");
  await page.waitForSelector("dialog[open]");
  const interactive = performance.now() - began;
  await page.keyboard.press("Escape");
  return { context, page, interactive, bytes: () => bytes };
}

const loads = [];
let first = 0;
for (let i = 0; i < 5; i++) {
  const one = await open("overview");
  loads.push(one.interactive);
  await one.page.waitForTimeout(500);
  first = Math.max(first, one.bytes());
  await one.context.close();
}

const VERDICT = () => / /.test(document.querySelector("main h1")?.textContent.trim() ?? ""); // the name of a view is one word
const CALM = () => !document.querySelector("[aria-busy=true], .waiting, .old");

async function fromFresh() {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: "en-US" });
  const page = await context.newPage();
  const began = performance.now();
  await page.goto(`${url}/#/overview`, { waitUntil: "commit" });
  await page.waitForFunction(VERDICT, undefined, { polling: "raf" });
  const verdict = performance.now() - began;
  await page.waitForFunction(CALM);
  await page.waitForTimeout(500);
  const clicked = performance.now();
  await page.click('nav a[href="#/memory"]');
  await page.waitForFunction(() => location.hash.startsWith("#/memory") && document.querySelector(".chart canvas, .uplot canvas"), undefined, { polling: "raf" });
  await page.waitForFunction(CALM, undefined, { polling: "raf" });
  const memory = performance.now() - clicked;
  await context.close();
  return { verdict, memory };
}

const fresh = [];
for (let i = 0; i < 5; i++) fresh.push(await fromFresh());

const { page } = await open("timeline");
await page.waitForSelector(".tl-stage");
await page.waitForTimeout(2000);
await page.mouse.move(900, 500);
await page.evaluate(() => {
  globalThis.tachoFrameTimes.length = 0;
});
let seed = 1; // the same walk every time
const next = (n) => {
  seed = (seed * 48271) % 2147483647;
  return seed % n;
};
for (let i = 0; i < 60; i++) {
  const key = "wwsad"[next(5)];
  await page.keyboard.down(key);
  await page.waitForTimeout(150);
  await page.keyboard.up(key);
}
const frames = await page.evaluate(() => Array.from(globalThis.tachoFrameTimes));
const [verdicts, switches] = [fresh.map((f) => f.verdict), fresh.map((f) => f.memory)];
console.log(JSON.stringify({ first_bytes: first, interactive_ms: loads, verdict_ms: verdicts, switch_ms: switches, frames_ms: frames }));
await browser.close();
