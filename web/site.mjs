// Makes what runs without a server, out of web/page, web/src/wasm and the program:
//     node site.mjs PROGRAM.wasm VERSION LICENSES OUT
//         OUT/site        the static site, for any web server or file host
//         OUT/tacho.html  the whole program as one file
//         OUT/npm         the package for node
// The same sources give the same bytes.
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(here);
const [programFile, version, licensesFile, out] = process.argv.slice(2);
const program = readFileSync(programFile);
const page = new Map(readdirSync(join(here, "page")).map((name) => [name, readFileSync(join(here, "page", name))]));
const licenses = `${page.get("licenses.txt")}\n\n${readFileSync(licensesFile)}`;
const hash = (bytes) => createHash("sha256").update(bytes).digest("hex").slice(0, 16);

// Nothing but the site itself, and what the reader asks for by ?url=.
const SITE_POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; " +
  "img-src 'self' data: blob:; connect-src 'self' https: http://localhost:* http://127.0.0.1:*; font-src 'self'; " +
  "manifest-src 'self'; base-uri 'none'; form-action 'none'";

async function script(entry, more = {}) {
  const { outputFiles } = await build({
    absWorkingDir: here,
    entryPoints: [`src/wasm/${entry}`],
    bundle: true,
    minify: true,
    charset: "utf8",
    target: "es2022",
    format: "iife",
    write: false,
    legalComments: "none",
    logLevel: "warning",
    ...more,
  });
  return outputFiles[0].text;
}

function write(folder, files) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of files) writeFileSync(join(folder, name), content);
}

// ---- the static site ----

const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 512 512"><rect width="512" height="512" rx="96" fill="#1f2937"/>' +
  '<path d="M96 352a160 160 0 0 1 320 0" fill="none" stroke="#f9fafb" stroke-width="40" stroke-linecap="round"/>' +
  '<path d="M256 352 336 224" stroke="#f59e0b" stroke-width="32" stroke-linecap="round"/></svg>\n';
const MANIFEST = {
  name: "tacho",
  short_name: "tacho",
  description: "Performance profiler for deep-learning programs",
  start_url: "./",
  display: "standalone",
  background_color: "#ffffff",
  theme_color: "#1f2937",
  icons: [{ src: "tacho-icon.svg", sizes: "any", type: "image/svg+xml" }],
};

function siteHtml(html) {
  return html
    .replaceAll(/(href|src)="\/([\w.-]+)"/g, '$1="$2"')
    .replace(
      '<link rel="icon" href="data:,">',
      '<link rel="icon" href="tacho-icon.svg">\n<link rel="manifest" href="tacho.webmanifest">',
    )
    .replace(
      '<meta name="viewport"',
      `<meta http-equiv="Content-Security-Policy" content="${SITE_POLICY}">\n<meta name="referrer" content="no-referrer">\n<meta name="viewport"`,
    )
    .replace('<script type="module"', '<script src="tacho-start.js"></script>\n<script type="module"');
}

async function makeSite() {
  const kept = [...page].filter(([name]) => name !== "report.js");
  const files = new Map(kept);
  files.set("index.html", siteHtml(page.get("index.html").toString()));
  files.set("licenses.txt", licenses);
  files.set("tacho.wasm", program);
  files.set("tacho-icon.svg", ICON);
  files.set("tacho.webmanifest", `${JSON.stringify(MANIFEST, null, 2)}\n`);
  files.set("tacho-start.js", await script("site.ts"));
  files.set("tacho-worker.js", await script("worker.ts"));
  const all = [...files].map(([name, content]) => `${name} ${hash(content)}`).join("\n");
  const define = { FILES: JSON.stringify(["./", ...files.keys()]), VERSION: JSON.stringify(`${version}-${hash(all)}`) };
  files.set("tacho-offline.js", await script("offline.ts", { define }));
  write(join(out, "site"), files);
}

// ---- one file ----

const packed = (id, content) =>
  `<script type="text/plain" id="tacho-${id}">${gzipSync(content, { level: 9 }).toString("base64")}</script>\n`;

async function makeSingle() {
  const starter = await script("single.ts");
  const nonce = hash(Buffer.concat([program, ...page.values(), Buffer.from(starter)]));
  // No network at all: a file of the disk may not fetch either.
  const policy =
    `default-src 'none'; script-src 'nonce-${nonce}' blob: 'wasm-unsafe-eval'; worker-src blob:; ` +
    `style-src 'nonce-${nonce}'; img-src data: blob:; base-uri 'none'; form-action 'none'`;
  const parts = [...page].filter(([name]) => /\.(js|css)$/.test(name) && name !== "report.js");
  const html = [
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">\n`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="color-scheme" content="light dark">\n',
    '<meta name="referrer" content="no-referrer">\n<title>tacho</title>\n<link rel="icon" href="data:,">\n</head>\n<body>\n',
    '<div id="page"><p>This page needs a browser of 2023 or later.<br>此页面需要 2023 年或更新的浏览器。</p></div>\n',
    ...parts.map(([name, content]) => packed(name, content)),
    packed("worker", await script("worker.ts")),
    packed("program", program),
    packed("licenses", licenses),
    `<script nonce="${nonce}">${starter.replaceAll("</script", "<\\/script")}</script>\n</body>\n</html>\n`,
  ];
  writeFileSync(join(out, "tacho.html"), html.join(""));
}

// ---- the package for node ----

async function makePackage() {
  const folder = join(out, "npm");
  const forNode = { platform: "node", format: "esm", target: "node20", minify: false };
  const command = await script("command.ts", { ...forNode, banner: { js: "#!/usr/bin/env node" } });
  const files = new Map([
    ["tacho.mjs", command],
    ["index.mjs", await script("library.ts", forNode)],
    ["index.d.ts", `${readFileSync(join(here, "src/wasm/library-types.ts"))}export declare const open: Open;\n`],
    ["tacho.wasm", program],
    ["README.md", readFileSync(join(here, "src/wasm/npm.md"))],
    ["LICENSE.libraries", licenses],
    ["LICENSE", readFileSync(join(root, "LICENSE"))],
    [
      "package.json",
      `${JSON.stringify(
        {
          name: "tacho-profiler",
          version,
          description: "Performance profiler for deep-learning programs: reads and analyzes traces, in WebAssembly",
          license: "Apache-2.0",
          type: "module",
          bin: { tacho: "tacho.mjs" },
          exports: { ".": { types: "./index.d.ts", default: "./index.mjs" } },
          engines: { node: ">=20" },
          files: ["*"],
        },
        null,
        2,
      )}\n`,
    ],
  ]);
  write(folder, files);
  cpSync(join(here, "page"), join(folder, "page"), { recursive: true });
}

mkdirSync(out, { recursive: true });
await makeSite();
await makeSingle();
await makePackage();
const kib = (bytes) => (bytes / 1024).toFixed(0);
console.log(`program: ${kib(program.length)} KiB, ${kib(gzipSync(program, { level: 9 }).length)} KiB gzip`);
