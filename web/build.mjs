// Bundles the page into web/page, which is kept in the repository: a machine without npm builds the program with it.
// Plain files with names that stay, so that a change shows as a change of these files; tools/embed-page compresses
// them and gives them the version in their address that lets browsers keep them for ever. The same sources give the
// same bytes, in whatever folder they lie.
//     node build.mjs            the page
//     node build.mjs --check    writes nothing, says what is not current, ends with 1 then
//     node build.mjs --tests    the unit tests (src/**/*.test.ts) into build/web-tests
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, parse } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, "page");
const FIRST_LOAD_BYTES = 120 * 1024;
const FIRST_LOAD_FILES = 4; // each has headers of its own, of half a KiB

const shared = {
  absWorkingDir: here,
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

/** The package a bundled file comes from, or nothing when it is one of ours. */
const packageOf = (input) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1];

/** What a file is called after: its package, or its own name. */
const stem = (input) => (packageOf(input) ?? parse(input).name).replace(/^@/, "").replace("/", "-");

/**
 * Names that stay. esbuild tells the files it makes apart by hashes, which change with every edit: a view keeps its
 * own name without the hash, what several views share is called after the largest file in it (texts aside: they are
 * the largest file of nearly everything).
 */
function lastingNames(outputs) {
  const names = new Map();
  const taken = new Set();
  const take = (path, wanted, extension) => {
    let name = wanted + extension;
    for (let i = 2; taken.has(name); i++) name = `${wanted}-${i}${extension}`;
    taken.add(name);
    names.set(basename(path), name);
  };
  const largest = ({ inputs }) =>
    Object.entries(inputs)
      .filter(([path]) => !path.startsWith("src/text/"))
      .sort(([a, x], [b, y]) => y.bytesInOutput - x.bytesInOutput || (a < b ? -1 : 1))[0]?.[0] ?? "text";
  const all = Object.entries(outputs);
  for (const [path, o] of all) if (o.entryPoint) take(path, parse(o.entryPoint).name, parse(path).ext);
  const parts = all.filter(([, o]) => !o.entryPoint).map(([path, o]) => [path, largest(o), Object.keys(o.inputs).sort().join()]);
  const before = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
  parts.sort(([, a, x], [, b, y]) => before(a, b) || before(x, y));
  for (const [path, input] of parts) take(path, `shared-${stem(input)}`, parse(path).ext);
  return names;
}

/** Files the browser fetches before it can draw: what the HTML names, and what those import at once. */
function firstLoad(outputs) {
  const seen = new Set();
  const visit = (path) => {
    if (seen.has(path)) return;
    seen.add(path);
    for (const i of outputs[path]?.imports ?? []) if (i.kind !== "dynamic-import") visit(i.path);
  };
  for (const [path, o] of Object.entries(outputs)) if (["src/main.tsx", "css/page.css"].includes(o.entryPoint)) visit(path);
  return [...seen].map((path) => basename(path));
}

// ---- one file of what is always fetched together ----

const CORE = "core.js";
const FROM = /import(?:\{([^}]*)\}from)?"\.\/([\w-]+\.js)";/g;

/**
 * esbuild cuts what main and the views share into a file for each set of views that share it. Those that main needs are
 * all fetched at first: forty requests, each with its headers, and each compressed alone. They become one file, which
 * exports what the others import under names of its own.
 */
async function joinFirst(texts, first, entries) {
  const inside = new Set(first.filter((name) => name.endsWith(".js") && !entries.has(name)));
  const names = new Map(); // "file name": its name in the joint file
  const nameOf = (file, name) => {
    const key = `${file} ${name}`;
    if (!names.has(key)) names.set(key, `k${names.size.toString(36)}`);
    return names.get(key);
  };
  /** Imports from joined files as one import from the joint file. */
  const redirect = (text) => {
    const wanted = [];
    let any = false;
    const rest = text.replace(FROM, (whole, list, file) => {
      if (!inside.has(file)) return whole;
      any = true;
      for (const item of (list ?? "").split(",").filter(Boolean)) {
        const [name, local = name] = item.trim().split(" as ");
        wanted.push(`${nameOf(file, name)} as ${local}`);
      }
      return "";
    });
    if ([...inside].some((file) => rest.includes(`"./${file}"`))) throw new Error("an import of an unknown form");
    return any ? `import{${wanted.join(",")}}from"./${CORE}";${rest}` : text;
  };
  const joined = new Map();
  for (const name of [...texts.keys()].filter((n) => !inside.has(n)).sort())
    joined.set(name, name.endsWith(".js") ? redirect(texts.get(name)) : texts.get(name));
  const lists = byFile(names);
  const contents = [...inside].sort().map((file) => {
    const list = (lists.get(file) ?? []).map(([key, name]) => `${key.split(" ")[1]} as ${name}`);
    return `export{${list.join(",")}}from"./${file}";import"./${file}";`;
  });
  joined.set(CORE, await bundleText(contents.join(""), texts, inside));
  return { texts: joined, first: [...first.filter((name) => !inside.has(name)), CORE] };
}

function byFile(names) {
  const lists = new Map();
  for (const pair of names) {
    const file = pair[0].split(" ")[0];
    lists.set(file, [...(lists.get(file) ?? []), pair]);
  }
  return lists;
}

async function bundleText(contents, texts, inside) {
  const fromMemory = {
    name: "from-memory",
    setup(b) {
      b.onResolve({ filter: /^\.\// }, ({ path }) => {
        const name = path.slice(2);
        return inside.has(name) ? { path: name, namespace: "memory" } : { path, external: true };
      });
      b.onLoad({ filter: /./, namespace: "memory" }, ({ path }) => ({ contents: texts.get(path), loader: "js" }));
    },
  };
  const { outputFiles } = await build({
    ...shared,
    stdin: { contents, resolveDir: here, loader: "js" },
    minify: true,
    charset: "utf8",
    write: false,
    legalComments: "none",
    plugins: [fromMemory],
  });
  return outputFiles[0].text;
}

/** The HTML names every module of the first load, so that all are fetched at once and not one import after the other. */
function withPreloads(html, first) {
  const modules = first.filter((name) => name.endsWith(".js") && name !== "main.js").sort();
  const links = modules.map((name) => `<link rel="modulepreload" href="/${name}">\n`);
  return html.replace("</head>", `${links.join("")}</head>`);
}

/** The notices of the packages that are part of the page, as their licenses ask for. */
function licenses(metafile) {
  const packages = [...new Set(Object.keys(metafile.inputs).map(packageOf).filter(Boolean))].sort();
  const texts = packages.map((name) => {
    const text = readFileSync(join(here, "node_modules", name, "LICENSE"), "utf8");
    return `${name}\n${"-".repeat(name.length)}\n\n${text.replace(/\r\n/g, "\n").trim()}\n`;
  });
  return `The page contains these packages.\n\n${texts.join("\n\n")}`;
}

/** The files of the page: name, text. */
async function pageFiles() {
  const { outputFiles, metafile } = await build({
    ...shared,
    entryPoints: ["src/main.tsx", "src/report.ts", "css/page.css"],
    outdir: out,
    minify: true,
    charset: "utf8",
    write: false,
    sourcemap: false,
    legalComments: "none",
    metafile: true,
    splitting: true,
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
  });
  // By their lasting names from here on: esbuild's depend on the folder, and what is sorted by them would, too.
  const names = lastingNames(metafile.outputs);
  const lasting = (name) => names.get(basename(name)) ?? name;
  const entries = new Set(Object.entries(metafile.outputs).flatMap(([path, o]) => (o.entryPoint ? [lasting(path)] : [])));
  const cut = new Map(outputFiles.map(({ path, text }) => [lasting(path), text.replace(/[\w-]+-[A-Z0-9]{8}\.js/g, lasting)]));
  const { texts, first } = await joinFirst(cut, firstLoad(metafile.outputs).map(lasting), entries);
  const files = new Map([
    ["index.html", readFileSync(join(here, "index.html"), "utf8")],
    ["licenses.txt", licenses(metafile)],
    ...texts,
  ]);
  const atFirst = ["index.html", ...first];
  files.set("index.html", withPreloads(files.get("index.html"), atFirst));
  return { files, first: atFirst };
}

/** Names of what is not in web/page as it should be, and of what should not be there. */
function stale(files) {
  const there = existsSync(out) ? readdirSync(out) : [];
  const differs = ([name, text]) => !there.includes(name) || readFileSync(join(out, name), "utf8") !== text;
  return [...[...files].filter(differs).map(([name]) => name), ...there.filter((name) => !files.has(name))];
}

function checkPage(files) {
  const names = stale(files);
  if (!names.length) return;
  console.error(`web/page is not what web/src gives: run make web. Not current: ${names.sort().join(", ")}`);
  process.exitCode = 1;
}

/** Touches only what changes, so that make builds nothing anew without need. */
function writePage(files) {
  mkdirSync(out, { recursive: true });
  for (const name of stale(files))
    if (files.has(name)) writeFileSync(join(out, name), files.get(name));
    else rmSync(join(out, name), { recursive: true });
}

function checkSize(files, first) {
  const packed = new Map([...files].map(([name, text]) => [name, gzipSync(text, { level: 9 }).length]));
  const sum = (names) => names.reduce((total, name) => total + packed.get(name), 0);
  const kib = (bytes) => (bytes / 1024).toFixed(1);
  console.log(`page: ${kib(sum(first))} KiB gzip at first, ${kib(sum([...files.keys()]))} KiB in all`);
  if (sum(first) <= FIRST_LOAD_BYTES && first.length <= FIRST_LOAD_FILES) return;
  console.error(
    `the first load may have ${FIRST_LOAD_BYTES / 1024} KiB in ${FIRST_LOAD_FILES} files, and has ${first.join(", ")}`,
  );
  process.exitCode = 1;
}

if (process.argv.includes("--tests")) await buildTests();
else {
  const { files, first } = await pageFiles();
  if (process.argv.includes("--check")) checkPage(files);
  else writePage(files);
  checkSize(files, first);
}
