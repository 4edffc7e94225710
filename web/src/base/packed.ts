// Parts of a page that is one file: gzip as base64 in scripts that are only text. Its modules become blob: URLs, found by
// an import map.

export const part = (name: string): string | null => document.getElementById(`tacho-${name}`)?.textContent ?? null;

/** A part as a stream, for what takes one. */
export function stream(name: string): ReadableStream<Uint8Array> {
  const text = atob(part(name) ?? "");
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  return new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
}

export const unpack = (name: string): Promise<ArrayBuffer> => new Response(stream(name)).arrayBuffer();

export const textOf = async (name: string): Promise<string> => new TextDecoder().decode(await unpack(name));

function addScript(type: string, text: string, nonce: string): void {
  const script = document.createElement("script");
  script.type = type;
  script.nonce = nonce;
  script.textContent = text;
  document.head.append(script);
}

const addressOf = (code: string): string => URL.createObjectURL(new Blob([code], { type: "text/javascript" }));

/** The modules name each other by "./NAME.js", which means nothing in a blob: the map knows them as "tacho/NAME.js". */
async function moduleMap(): Promise<Record<string, string>> {
  const names = [...document.querySelectorAll('script[id$=".js"]')].map((s) => s.id.slice("tacho-".length));
  const pairs = names.map(async (name) => {
    const code = (await textOf(name)).replace(/(from|import\(?)\s*"\.\/([\w.-]+\.js)"/g, '$1"tacho/$2"');
    return [`tacho/${name}`, addressOf(code)] as const;
  });
  return Object.fromEntries(await Promise.all(pairs));
}

/** The address of a part that is a separate script, for a worker. */
export const scriptAddress = async (name: string): Promise<string> => addressOf(await textOf(name));

/** Starts the page. `before` leaves what it finds: where its answers come from. */
export async function startPage(nonce: string, before: () => Promise<void> | void): Promise<void> {
  const style = new CSSStyleSheet();
  style.replaceSync(await textOf("page.css"));
  document.adoptedStyleSheets = [style];
  const imports = await moduleMap();
  await before();
  document.getElementById("page")?.replaceChildren();
  addScript("importmap", JSON.stringify({ imports }), nonce);
  addScript("module", 'import "tacho/main.js"', nonce);
}
