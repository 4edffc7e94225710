// Bundles the page into build/web: one script, one style sheet, one HTML file, each gzipped and named
// by its content, so that the server can embed them and browsers may keep them for ever.
//     node build.mjs            the page
//     node build.mjs --tests    the unit tests (src/**/*.test.ts) into build/web-tests
import { createHash } from "node:crypto";
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
    .filter((f) => /\.test\.tsx?$/.test(f)).map((f) => join(here, "src", f));
  await build({ ...shared, entryPoints: tests, outdir: target, outExtension: { ".js": ".mjs" },
    platform: "node" });
}

function hashed(name, bytes) {
  const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 12);
  const dot = name.lastIndexOf(".");
  return `${name.slice(0, dot)}-${hash}${name.slice(dot)}`;
}

async function buildPage() {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const result = await build({ ...shared, entryPoints: [join(here, "src/main.tsx"), join(here, "css/page.css")],
    outdir: out, minify: true, write: false, sourcemap: false, legalComments: "none" });
  const names = {};
  let total = 0;
  const put = (name, bytes) => {
    const gz = gzipSync(bytes, { level: 9 });
    total += gz.length;
    writeFileSync(join(out, `${name}.gz`), gz);
  };
  for (const file of result.outputFiles) {
    const name = basename(file.path);
    names[name] = hashed(name, file.contents);
    put(names[name], file.contents);
  }
  const html = readFileSync(join(here, "index.html"), "utf8")
    .replace("main.js", names["main.js"]).replace("page.css", names["page.css"]);
  put("index.html", Buffer.from(html));
  console.log(`page: ${(total / 1024).toFixed(1)} KiB gzip`);
  const limit = 120 * 1024;
  if (total > limit) {
    console.error(`the first load may have ${limit / 1024} KiB`);
    process.exitCode = 1;
  }
}

await (process.argv.includes("--tests") ? buildTests() : buildPage());
