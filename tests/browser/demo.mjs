// What a newcomer does, to its end: `make demo` in a copy of the tree in which nothing is built, with an npm that
// fails; the printed address in Chromium; Ctrl-C. Then what `make install` and the wheel put elsewhere serves the
// page, too. `tests/browser/demo --here` takes the tree itself, built as it is: minutes less.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { browserPath } from "./path.mjs";
import { serve, settled } from "./stand.mjs";
import { heading, plain } from "./tools.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const here = process.argv.includes("--here");
const chromium = browserPath();
for (const [there, why] of [
  [existsSync(join(root, "web/node_modules/playwright-core")), "playwright-core is missing: make web-packages"],
  [chromium, "Chromium is not installed: tools/setup browser"],
])
  if (!there) {
    console.log(why);
    process.exit(77);
  }

const scratch = mkdtempSync(join(tmpdir(), "tacho-demo-"));
const calls = join(scratch, "npm-calls");

/** A tree as a source release has it. */
function freshTree() {
  const tree = join(scratch, "tacho");
  const left = new Set([".git", "build", "node_modules", "__pycache__"]);
  cpSync(root, tree, { recursive: true, filter: (path) => path === root || !left.has(basename(path)) });
  return tree;
}

/** The environment of a user without npm, and with a separate cache. */
function environment() {
  const bin = join(scratch, "bin");
  mkdirSync(bin);
  for (const name of ["npm", "npx", "node"]) {
    writeFileSync(join(bin, name), `#!/bin/sh\necho "${name} $*" >>'${calls}'\nexit 1\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const { MAKEFLAGS, MAKELEVEL, MFLAGS, TACHO, ...env } = process.env;
  // The words to the compiler are those of `make test`, and so is the cache: what was compiled there is not again.
  const kept = spawnSync("ccache", ["--get-config", "cache_dir"], { env, encoding: "utf8" });
  const objects = kept.status === 0 ? { CCACHE_DIR: kept.stdout.trim() } : {};
  return { ...env, ...objects, WERROR: "1", PATH: `${bin}:${env.PATH}`, XDG_CACHE_HOME: join(scratch, "cache"), LC_ALL: "C.UTF-8" };
}

/** `make demo` in a separate process group, as a terminal starts it, and its output. */
function startDemo(tree, env) {
  const child = spawn("make", ["demo"], { cwd: tree, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const demo = { said: "", group: child.pid, ended: new Promise((done) => child.on("exit", done)) };
  demo.url = new Promise((resolve, reject) => {
    const hear = (text) => {
      demo.said += text;
      const found = demo.said.match(/https?:\/\/\S+(?=\s)/); // as a terminal finds what can be clicked
      if (found) resolve(found[0]);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("exit", (code) => reject(new Error(`make demo ended with ${code}:\n${demo.said.slice(-3000)}`)));
  });
  return demo;
}

const isAlive = (group) => {
  try {
    process.kill(-group, 0);
    return true;
  } catch {
    return false;
  }
};

async function look(url, check) {
  const require = createRequire(join(root, "web/package.json"));
  const browser = await require("playwright-core").chromium.launch({ executablePath: chromium, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    const faults = [];
    page.on("console", (m) => m.type() === "error" && faults.push(m.text()));
    page.on("pageerror", (e) => faults.push(e.message));
    await page.goto(url);
    await settled(page);
    await check(page);
    assert.deepEqual(faults, []);
  } finally {
    await browser.close();
  }
}

async function demoIsServed(tree, env) {
  const demo = startDemo(tree, env);
  try {
    const url = await demo.url;
    const overview = JSON.parse(execFileSync(join(tree, "build/tacho"), ["overview", join(tree, "build/demo-run"), "-q", "--json"], { env }).toString());
    await look(url, async (page) => {
      assert.equal(await heading(page), plain(overview.verdict.text.en));
      mkdirSync(join(root, "build/screenshots"), { recursive: true });
      await page.screenshot({ path: join(root, "build/screenshots/demo.png") });
    });
    process.kill(-demo.group, "SIGINT");
    await demo.ended;
    assert.equal(isAlive(demo.group), false, "something of make demo is still running");
    await assert.rejects(fetch(url), "the address is still answered");
  } finally {
    if (isAlive(demo.group)) process.kill(-demo.group, "SIGKILL");
  }
}

/** What `curl` and a browser get from a program. */
async function servesThePage(tacho) {
  const server = await serve(tacho, join(root, "tests/data"));
  try {
    const html = await (await fetch(`${server.url}/`)).text();
    assert.match(html, /<div id="page">/);
    for (const [, address] of html.matchAll(/(?:src|href)="(\/[^"]+)"/g)) assert.equal((await fetch(server.url + address)).status, 200, address);
  } finally {
    await server.stop();
  }
}

async function installedServes(tree, env) {
  const to = join(scratch, "root");
  execFileSync("make", ["install", `DESTDIR=${to}`, "PREFIX=/usr"], { cwd: tree, env, stdio: "pipe" });
  await servesThePage(join(to, "usr/bin/tacho"));
}

async function wheelServes(tree, env) {
  const to = join(scratch, "wheel");
  mkdirSync(to);
  const script = "import backend, sys, zipfile; zipfile.ZipFile(f'{sys.argv[1]}/' + backend.build_wheel(sys.argv[1])).extractall(sys.argv[1])";
  execFileSync("/usr/bin/python3", ["-c", script, to], { cwd: join(tree, "python"), env, stdio: "pipe" });
  chmodSync(join(to, "tacho/native/tacho"), 0o755);
  await servesThePage(join(to, "tacho/native/tacho"));
}

function npmWasNotNeeded() {
  assert.equal(existsSync(calls) ? readFileSync(calls, "utf8") : "", "");
}

const count = { passed: 0, failed: 0 };
const tree = here ? root : freshTree();
const env = environment();
for (const step of [demoIsServed, installedServes, wheelServes, npmWasNotNeeded])
  try {
    await step(tree, env);
    count.passed++;
  } catch (e) {
    count.failed++;
    console.log(`FAIL ${step.name}: ${e.message ?? e}${e.stderr ? `\n${e.stderr}` : ""}`);
  }
rmSync(scratch, { recursive: true, force: true });
console.log(`${count.passed} passed, ${count.failed} failed, 0 skipped`);
process.exitCode = count.failed ? 1 : 0;
