// Bundles the page into build/web: one script, one style sheet, one HTML file, each gzipped and named
// by its content, so that the server can embed them and browsers may keep them for ever.
//     node build.mjs            the page
//     node build.mjs --tests    the unit tests (src/**/*.test.ts) into build/web-tests
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, "../build/web");

const shared = {
  bundle: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  logLevel: "warning",
};

async function buildTests() {
  const target = join(here, "../build/web-tests");
  rmSync(target, { recursive: true, force: true });
  const tests = readdirSync(join(here, "src"), { recursive: true })
    .filter((f) => /\.test\.tsx?$/.test(f))
    .map((f) => join(here, "src", f));
  await build({ ...shared, entryPoints: tests, outdir: target, outExtension: { ".js": ".mjs" }, platform: "node" });
}

/** Files the browser fetches before it can draw: what the HTML names, and what those import at once. */
function firstLoad(meta, entries) {
  const seen = new Set();
  const visit = (path) => {
    if (seen.has(path)) return;
    seen.add(path);
    for (const i of meta.outputs[path]?.imports ?? []) if (i.kind !== "dynamic-import") visit(i.path);
  };
  for (const path of entries) visit(path);
  return new Set([...seen].map((p) => basename(p)));
}

async function buildPage() {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const result = await build({
    ...shared,
    entryPoints: [join(here, "src/main.tsx"), join(here, "css/page.css")],
    outdir: out,
    minify: true,
    write: false,
    sourcemap: false,
    legalComments: "none",
    metafile: true,
    splitting: true,
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    absWorkingDir: here,
  });
  const named = (entry) => Object.keys(result.metafile.outputs).find((p) => result.metafile.outputs[p].entryPoint === entry);
  const [script, style] = [named("src/main.tsx"), named("css/page.css")];
  const first = firstLoad(result.metafile, [script, style]);
  let total = 0;
  let all = 0;
  const put = (name, bytes, counts) => {
    const gz = gzipSync(bytes, { level: 9 });
    all += gz.length;
    if (counts) total += gz.length;
    writeFileSync(join(out, `${name}.gz`), gz);
  };
  for (const file of result.outputFiles) put(basename(file.path), file.contents, first.has(basename(file.path)));
  const html = readFileSync(join(here, "index.html"), "utf8")
    .replace("main.js", basename(script))
    .replace("page.css", basename(style));
  put("index.html", Buffer.from(html), true);
  console.log(`page: ${(total / 1024).toFixed(1)} KiB gzip at first, ${(all / 1024).toFixed(1)} KiB in all`);
  const limit = 120 * 1024;
  if (total > limit) {
    console.error(`the first load may have ${limit / 1024} KiB`);
    process.exitCode = 1;
  }
}

await (process.argv.includes("--tests") ? buildTests() : buildPage());
