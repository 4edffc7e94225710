// Starts the page inside a report: one HTML file without a server, made by `tacho report`. Its parts are gzip as
// base64 in scripts that are only text. The modules of the page become blob: URLs, found by an import map; the
// answers stay packed until they are needed (api/embedded.ts). A separate script: it shares nothing with the
// page.
const part = (name: string): string | null => document.getElementById(`tacho-${name}`)?.textContent ?? null;

async function unpack(name: string): Promise<ArrayBuffer> {
  const text = atob(part(name) ?? "");
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

const textOf = async (name: string): Promise<string> => new TextDecoder().decode(await unpack(name));

function addScript(type: string, text: string, nonce: string): void {
  const script = document.createElement("script");
  script.type = type;
  script.nonce = nonce;
  script.textContent = text;
  document.head.append(script);
}

/** The modules name each other by "./NAME.js", which means nothing in a blob: the map knows them as "tacho/NAME.js". */
async function moduleMap(): Promise<Record<string, string>> {
  const names = [...document.querySelectorAll('script[id$=".js"]')].map((s) => s.id.slice("tacho-".length));
  const pairs = names.map(async (name) => {
    const code = (await textOf(name)).replace(/(from|import\(?)\s*"\.\/([\w.-]+\.js)"/g, '$1"tacho/$2"');
    return [`tacho/${name}`, URL.createObjectURL(new Blob([code], { type: "text/javascript" }))] as const;
  });
  return Object.fromEntries(await Promise.all(pairs));
}

async function start(nonce: string): Promise<void> {
  const index = JSON.parse(await textOf("index"));
  const style = new CSSStyleSheet();
  style.replaceSync(await textOf("page.css"));
  document.adoptedStyleSheets = [style];
  const imports = await moduleMap();
  Object.assign(globalThis, { tachoReport: { index, unpack } });
  const { run, other } = index as { run: string; other: string };
  if (other && !location.hash) location.hash = `#/compare?run=${encodeURIComponent(run)}&other=${encodeURIComponent(other)}`;
  document.getElementById("page")?.replaceChildren();
  addScript("importmap", JSON.stringify({ imports }), nonce);
  addScript("module", 'import "tacho/main.js"', nonce);
}

// The first text of the page says that the browser is too old, until everything is loaded.
if ("DecompressionStream" in globalThis) void start((document.currentScript as HTMLScriptElement).nonce);
