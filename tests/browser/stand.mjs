// What the tests run on: a folder of runs, the server on it, a browser, the command line's answers.
import { execFile, execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, lstatSync, lutimesSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRequire } from "node:module";
import { promisify } from "node:util";

/** How long a browser may take for one thing that is waited for. */
const PATIENCE_MS = Number(process.env.TACHO_BROWSER_PATIENCE_MS ?? 120_000);
const REAL = ["resnet_w0", "gpt_eager", "ddp", "cpu"];

export async function stand(root) {
  const require = createRequire(join(root, "web/package.json"));
  const { chromium } = require("playwright-core");
  const tacho = process.env.TACHO ?? join(root, "build/tacho");
  const gentrace = process.env.GENTRACE ?? join(root, "build/release/tools/gentrace");
  const data = process.env.TACHO_DATA ?? join(root, "../shared/data");
  const folder = mkdtempSync(join(tmpdir(), "tacho-browser-"));
  mkdirSync(join(folder, "sample"));
  cpSync(join(root, "tests/data/sample.pt.trace.json.gz"), join(folder, "sample/sample.pt.trace.json.gz"));
  const real = REAL.filter((r) => existsSync(join(data, "pytorch", r)));
  const others = ["mindspore", "megengine", "compare"].filter((r) => existsSync(join(data, r)));
  if (existsSync(join(data, "serving/unmarked_9_steps.pt.trace.json.gz"))) others.push("unmarked");
  for (const r of real) cpSync(join(data, "pytorch", r), join(folder, r), { recursive: true });
  age(folder);
  const server = process.env.TACHO_PAGE ? { url: process.env.TACHO_PAGE, stop() {} } : await serve(tacho, folder);
  const launch = async (more = {}) => {
    const one = await chromium.launch({
      executablePath: process.env.CHROMIUM,
      args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--force-color-profile=srgb"],
      timeout: PATIENCE_MS,
      ...more,
    });
    // Every context has the same patience: a slow machine is not a failure.
    const make = one.newContext.bind(one);
    one.newContext = async (...how) => {
      const context = await make(...how);
      context.setDefaultTimeout(PATIENCE_MS);
      return context;
    };
    return one;
  };
  const browser = await launch();
  const another = async (fill, env) => {
    const own = mkdtempSync(join(tmpdir(), "tacho-browser-"));
    const begin = await fill(own);
    age(own);
    if (typeof begin === "function") begin(); // what is written from now on is young
    let now = await serve(tacho, own, "0", env);
    const url = now.url;
    return {
      url,
      folder: own,
      stop: () => now.stop(),
      async start() {
        now = await serve(tacho, own, new URL(url).port, env);
      },
      async end() {
        await now.stop();
        rmSync(own, { recursive: true, force: true });
      },
    };
  };
  const shared = new Map();
  return {
    browser,
    /** A separate browser, for a test that starts it in another way. */
    launch,
    kept: new Map(),
    url: server.url,
    tacho,
    data,
    real,
    has: [...real, ...others, ...(existsSync(gentrace) ? ["gentrace"] : [])],
    axe: readFileSync(require.resolve("axe-core/axe.min.js"), "utf8"),
    /** A second server on a separate folder, which can be stopped and started again on the same port. */
    another,
    /** One that several tests share; it ends with the first one. */
    also(name, fill) {
      if (!shared.has(name)) shared.set(name, another(fill));
      return shared.get(name);
    },
    /** Synthetic ranks of one job; the other tests continue meanwhile. */
    makeCluster: (at, ...words) => promisify(execFile)(gentrace, ["cluster", at, ...words.map(String)]),
    json: (analysis, run, ...more) =>
      JSON.parse(execFileSync(tacho, [analysis, join(folder, run), "-q", "--json", "--limit", "0", ...more], { maxBuffer: 1 << 30 }).toString()),
    async close() {
      await browser.close();
      for (const one of shared.values()) await one.then((o) => o.end(), () => {});
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const AGE_S = 60;

/** Makes the files of a folder a minute older: what changed in the last two seconds counts as still being written. */
function age(folder) {
  for (const name of readdirSync(folder, { recursive: true })) {
    const file = join(folder, name);
    const { mtimeMs } = lstatSync(file);
    lutimesSync(file, mtimeMs / 1000 - AGE_S, mtimeMs / 1000 - AGE_S);
  }
}

/** Starts `tacho serve` on a free port and waits for the address it prints; `login` is that with its token. */
export async function serve(tacho, folder, port = "0", env = {}, ...options) {
  const child = spawn(tacho, ["serve", folder, "--port", port, ...options], { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } });
  let said = "";
  const url = await new Promise((resolve, reject) => {
    const hear = (text) => {
      said += text;
      const found = said.match(/http:\/\/[\w.:[\]-]+/);
      if (found) resolve(found[0].replace(/\/$/, ""));
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("exit", (code) => reject(new Error(`tacho serve ended with ${code}: ${said}`)));
    setTimeout(() => reject(new Error(`tacho serve said no address: ${said}`)), 60_000).unref();
  });
  return {
    url,
    login: said.match(/http:\/\/\S+/)[0],
    stop: () =>
      new Promise((resolve) => {
        child.removeAllListeners("exit");
        child.on("exit", resolve);
        child.kill("SIGTERM");
      }),
  };
}

/** A context costs more than the page in it: what a test leaves as it was, the next one gets. */
async function take(s, theme, lang) {
  const kept = s.kept.get(`${theme} ${lang}`)?.pop();
  if (kept) return kept;
  const context = await s.browser.newContext({ permissions: ["clipboard-read", "clipboard-write"] });
  await context.addInitScript(
    ([t, l]) => {
      localStorage.setItem("tacho.theme", t);
      if (!localStorage.getItem("tacho.language")) localStorage.setItem("tacho.language", l);
    },
    [theme, lang],
  );
  return { context, page: await context.newPage() };
}

/** What a test may do to a context or a page that outlives it; such a one is closed. */
const LASTING = ["addInitScript", "route", "emulateMedia", "exposeFunction", "on", "newPage", "setExtraHTTPHeaders", "setOffline"];

function watch(...targets) {
  const seen = { changed: false };
  for (const target of targets)
    for (const name of LASTING.filter((n) => target[n]))
      target[name] = (...given) => {
        seen.changed = true;
        delete target[name];
        return target[name](...given);
      };
  return seen;
}

async function giveBack(s, { context, page }, key, heard, seen) {
  for (const target of [page, context]) for (const name of LASTING) delete target[name];
  for (const [event, hear] of heard) page.off(event, hear);
  const alone = context.pages().length === 1 && page.url().startsWith(`${s.url}/`);
  if (seen.changed || !alone || page.isClosed()) return context.close();
  await page.evaluate(() => (localStorage.clear(), sessionStorage.clear()));
  // A page of the same site: Chromium keeps its process, and what it compiled.
  if (!(await page.goto(`${s.url}/licenses.txt`).catch(() => null))?.ok()) return context.close();
  if (!s.kept.has(key)) s.kept.set(key, []);
  s.kept.get(key).push({ context, page });
}

/** A page that remembers what went wrong: errors in the console, requests to other hosts. */
export async function openPage(s, hash, { theme = "light", lang = "en", width = 1440, height = 900 } = {}) {
  const taken = await take(s, theme, lang);
  const { context, page } = taken;
  const faults = [];
  const heard = [
    ["console", (m) => m.type() === "error" && faults.push(`console: ${m.text()}`)],
    ["pageerror", (e) => faults.push(`error: ${e.message}`)],
    ["request", (r) => {
      const to = new URL(r.url());
      if (/^https?:$/.test(to.protocol) && to.origin !== new URL(s.url).origin) faults.push(`request to ${to.origin}`);
    }],
  ];
  for (const [event, hear] of heard) page.on(event, hear);
  const seen = watch(page, context);
  await page.setViewportSize({ width, height });
  await page.mouse.move(0, 0);
  await page.goto(`${s.url}/#/${hash}`);
  return { page, context, faults, done: () => giveBack(s, taken, `${theme} ${lang}`, heard, seen) };
}

const frames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
const isCalm = () => !document.querySelector("[aria-busy=true], .waiting, .old");

/** Waits until the page has drawn what was last asked for: nothing is on its way, nothing is an old number. */
export async function settled(page) {
  await page.waitForSelector("main h1");
  await page.evaluate(frames);
  await page.waitForFunction(isCalm);
  await page.evaluate(frames);
}

/** The same after a new size, which seldom asks for anything: two frames instead of six. */
export async function resized(page) {
  await page.evaluate(frames);
  if (!(await page.evaluate(isCalm))) await settled(page);
}
