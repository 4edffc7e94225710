// Colors of the canvas: read from the tokens once a theme, mixed and packed into the 32 bits of a pixel.

export type Rgb = readonly [number, number, number];

export interface Palette {
  css: Record<string, string>; // tokens as they are in the style sheet
  surface: Rgb;
  dark: Rgb; // text on a light fill
  light: Rgb;
  kinds: Rgb[]; // by kind number
  categorical: Rgb[];
  heat: Rgb[];
  change: Rgb[]; // the difference ramp, faster to slower
}

export type ColorBy = "kind" | "name" | "module" | "line" | "stage" | "stream" | "slow";
export const COLOR_BY: readonly ColorBy[] = ["kind", "name", "module", "line", "stage", "stream", "slow"];
/** Colorings for which names must carry more than their text. */
export const tagFor = (by: ColorBy): string => (by === "module" || by === "line" || by === "stage" ? by : "");
/** Tokens of the stages as the server numbers them; 0 belongs to none. */
export const STAGE_TOKENS = ["track", "data_loader", "c1", "c4", "c6"] as const;

/** Kinds by number, as docs/SERVER.md lists them. */
export const KINDS = [
  "other",
  "span",
  "step",
  "annotation",
  "collective",
  "python",
  "module",
  "data_loading",
  "forward",
  "backward",
  "optimizer",
  "op",
  "runtime",
  "driver",
  "sync",
  "overhead",
  "device_annotation",
  "kernel",
  "memcpy",
  "memset",
  "async",
  "op_phase",
  "framework",
  "garbage",
  "compile",
  "import",
  "instant",
] as const;
export type Kind = (typeof KINDS)[number];

const TOKEN_OF_KIND: Record<Kind, string> = {
  other: "cpu_exec",
  span: "track",
  step: "cpu_exec",
  annotation: "cpu_exec",
  collective: "communication",
  python: "other",
  module: "other",
  data_loading: "data_loader",
  forward: "cpu_exec",
  backward: "cpu_exec",
  optimizer: "cpu_exec",
  op: "cpu_exec",
  runtime: "runtime",
  driver: "runtime",
  sync: "runtime",
  overhead: "other",
  device_annotation: "track",
  kernel: "kernel",
  memcpy: "memcpy",
  memset: "memset",
  async: "c9",
  op_phase: "cpu_exec",
  framework: "other",
  garbage: "other",
  compile: "other",
  import: "other",
  instant: "t3",
};

/** The token whose color a kind has. */
export function tokenOfKind(kind: string): string {
  return TOKEN_OF_KIND[kind as Kind] ?? "other";
}

export function parseColor(text: string): Rgb {
  const hex = text.trim().replace("#", "");
  const full = hex.length === 3 ? [...hex].map((c) => c + c).join("") : hex;
  const n = Number.parseInt(full.slice(0, 6), 16) || 0;
  return [(n >> 16) & 255, (n >> 8) & 255, n & 255];
}

export function mix(a: Rgb, b: Rgb, share: number): Rgb {
  const one = (x: number, y: number) => Math.round(x + (y - x) * share);
  return [one(a[0], b[0]), one(a[1], b[1]), one(a[2], b[2])];
}

/** A pixel as ImageData keeps it (little-endian: alpha, blue, green, red from the top). */
export function pack(c: Rgb, alpha = 255): number {
  return ((alpha << 24) | (c[2] << 16) | (c[1] << 8) | c[0]) >>> 0;
}

export function cssOf(c: Rgb): string {
  return `rgb(${c[0]} ${c[1]} ${c[2]})`;
}

/** Relative luminance as WCAG defines it. */
export function luminance(c: Rgb): number {
  const part = (v: number) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * part(c[0]) + 0.7152 * part(c[1]) + 0.0722 * part(c[2]);
}

/** Whether near-black reads better than white on a fill. */
export function darkTextOn(fill: Rgb): boolean {
  const l = luminance(fill);
  return (l + 0.05) / (luminance([11, 13, 17]) + 0.05) >= 1.05 / (l + 0.05);
}

/** FNV-1a: the same name has the same tint in every answer and every session. */
export function hashOf(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return (h ^ (h >>> 15)) >>> 0;
}

const TOKENS = [
  ..."page surface sunken hover selected track line line-strong t1 t2 t3 accent accent-text critical".split(" "),
  ..."kernel memcpy memset communication runtime data_loader cpu_exec other".split(" "),
];

export function readPalette(get: (token: string) => string): Palette {
  const css: Record<string, string> = {};
  const all = [
    ...TOKENS,
    ...Array.from({ length: 12 }, (_, i) => `c${i + 1}`),
    ...Array.from({ length: 7 }, (_, i) => `h${i}`),
    ...Array.from({ length: 7 }, (_, i) => `d${i}`),
  ];
  for (const name of all) css[name] = get(name).trim();
  const rgb = (name: string) => parseColor(css[name] ?? "");
  return {
    css,
    surface: rgb("surface"),
    dark: [11, 13, 17],
    light: [255, 255, 255],
    kinds: KINDS.map((k) => rgb(TOKEN_OF_KIND[k])),
    categorical: Array.from({ length: 12 }, (_, i) => rgb(`c${i + 1}`)),
    heat: Array.from({ length: 7 }, (_, i) => rgb(`h${i}`)),
    change: Array.from({ length: 7 }, (_, i) => rgb(`d${i}`)),
  };
}

const TINTS = [0, 0.14, 0.28, 0.4];
const COMMUNICATION = KINDS.indexOf("collective");
/** Names of collectives, as src/analyse/lexicon.def has them; a fused name of Inductor says nothing. */
const COLLECTIVE =
  /^(?!triton_)(?:.*(?:multimem_|cross_device_reduce|quickreduce|mscclpp|nvshmem|lamport|all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|moedistribute|mori::|pplx::|::ep(?:dispatch|combine))|(?:nccl|rccl|mccl|hccl|hcom_|cncl|oneccl|msccl))/i;
/** Whether a name is that of a collective. */
export const isCollective = (name: string): boolean => COLLECTIVE.test(name);
const KERNEL = KINDS.indexOf("kernel");
const UNTINTED = new Set<number>(["data_loading", "step", "span", "device_annotation"].map((k) => KINDS.indexOf(k as Kind)));

/** The fill of a name of a kind. */
export function fillOf(p: Palette, by: ColorBy, name: string, kind: number): Rgb {
  if (by === "name") return p.categorical[hashOf(name) % 12] as Rgb;
  const shown = kind === KERNEL && COLLECTIVE.test(name) ? COMMUNICATION : kind;
  const base = p.kinds[shown] ?? p.surface;
  return UNTINTED.has(shown) ? base : mix(base, p.surface, TINTS[hashOf(name) & 3] as number);
}

/** The fill of a tag: stages have their own colors, modules and lines one by their number; none is an empty bar. */
export function tagFill(p: Palette, by: ColorBy, tag: number): Rgb {
  if (tag === 0) return parseColor(p.css.track ?? "");
  if (by === "stage") return parseColor(p.css[STAGE_TOKENS[tag] ?? "track"] ?? "");
  return p.categorical[hashOf(`${by} ${tag}`) % 12] as Rgb;
}

/** Heat of a value: 0 … 1 over seven stops, by its root. */
export function heatOf(p: Palette, share: number): Rgb {
  const at = Math.sqrt(Math.min(1, Math.max(0, share))) * 6;
  const low = Math.min(5, Math.floor(at));
  return mix(p.heat[low] as Rgb, p.heat[low + 1] as Rgb, at - low);
}

/** Levels of busy share a pixel can show. */
export const LEVELS = 16;

/**
 * Pixels of every name at every busy share: `table[name * LEVELS + level]`, from 35 % opacity over the
 * surface to solid. `dim` holds names that are shown at 30 % (the others while Alt is held).
 */
export function shadesOf(fills: readonly Rgb[], ground: Rgb, dim?: (name: number) => boolean): Uint32Array<ArrayBuffer> {
  const table = new Uint32Array(fills.length * LEVELS);
  fills.forEach((fill, name) => {
    const weight = dim?.(name) ? 0.3 : 1;
    for (let level = 0; level < LEVELS; level++) {
      const opacity = (0.35 + (0.65 * level) / (LEVELS - 1)) * weight;
      table[name * LEVELS + level] = pack(mix(ground, fill, opacity));
    }
  });
  return table;
}
