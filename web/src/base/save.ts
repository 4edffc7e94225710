// Panels as pictures: an SVG made of what is seen, with its colors resolved, and a PNG of it. Charts drawn
// as markup stay vectors, and so do those on a canvas that say how they are drawn; other canvases go in as images;
// words and rules of a table are drawn again.

const NS = "http://www.w3.org/2000/svg";

/** What is on a canvas as markup in its CSS pixels, for those that can say it. */
export const drawnAs = new WeakMap<HTMLCanvasElement, () => string>();

interface Rect {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

interface Sheet {
  out: SVGElement;
  left: number; // of the panel on the screen
  top: number;
}

const STYLES = [
  "fill",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "opacity",
  "fill-opacity",
  "font-family",
  "font-size",
  "font-weight",
  "text-anchor",
];

function make(name: string, attributes: Record<string, string | number>): SVGElement {
  const el = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) el.setAttribute(key, String(value));
  return el;
}

/** A copy that needs no style sheet: every element carries its computed colors. */
function standalone(svg: Element): Element {
  const copy = svg.cloneNode(true) as Element;
  const from = [svg, ...svg.querySelectorAll("*")];
  const to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((el, i) => {
    const style = getComputedStyle(el);
    for (const name of STYLES) to[i]?.setAttribute(name, style.getPropertyValue(name));
    for (const name of ["class", "tabindex", "role"]) to[i]?.removeAttribute(name);
  });
  return copy;
}

const common = (a: Rect, b: Rect): Rect => ({
  left: Math.max(a.left, b.left),
  top: Math.max(a.top, b.top),
  right: Math.min(a.right, b.right),
  bottom: Math.min(a.bottom, b.bottom),
});
const isEmpty = (r: Rect): boolean => r.right - r.left < 0.5 || r.bottom - r.top < 0.5;
const clear = (color: string): boolean => color === "transparent" || /^rgba\(.*, 0\)$/.test(color);

/** Lines of a text node: its words by the line they are in. */
function linesOf(node: Text): { text: string; rect: DOMRect }[] {
  const range = document.createRange();
  const lines: { text: string; rect: DOMRect }[] = [];
  for (const word of node.data.matchAll(/\S+\s*/g)) {
    range.setStart(node, word.index);
    range.setEnd(node, word.index + word[0].trimEnd().length);
    const rect = range.getBoundingClientRect();
    const last = lines[lines.length - 1];
    if (last && Math.abs(last.rect.top - rect.top) < 2) {
      last.text += word[0];
      last.rect = new DOMRect(last.rect.left, rect.top, rect.right - last.rect.left, rect.height);
    } else lines.push({ text: word[0], rect });
  }
  return lines;
}

function putText(s: Sheet, node: Text, clip: Rect): void {
  const owner = node.parentElement;
  if (!owner) return;
  const style = getComputedStyle(owner);
  for (const { text, rect } of linesOf(node)) {
    const seen = common(rect, clip);
    if (isEmpty(seen)) continue;
    const shown = (seen.right - rect.left) / rect.width;
    const words = text.trimEnd();
    const size = Number.parseFloat(style.fontSize);
    const el = make("text", {
      x: rect.left - s.left,
      y: rect.top + rect.height / 2 + size * 0.35 - s.top,
      fill: style.color,
      "font-family": style.fontFamily,
      "font-size": size,
      "font-weight": style.fontWeight,
      "xml:space": "preserve",
    });
    el.textContent = shown < 0.98 ? `${words.slice(0, Math.max(1, Math.floor(words.length * shown) - 1))}…` : words;
    s.out.append(el);
  }
}

function putBox(s: Sheet, style: CSSStyleDeclaration, r: Rect): void {
  const place = { x: r.left - s.left, y: r.top - s.top, width: r.right - r.left, height: r.bottom - r.top };
  if (!clear(style.backgroundColor))
    s.out.append(make("rect", { ...place, rx: Number.parseFloat(style.borderTopLeftRadius) || 0, fill: style.backgroundColor }));
  if (Number.parseFloat(style.borderBottomWidth) > 0 && !clear(style.borderBottomColor))
    s.out.append(make("rect", { ...place, y: r.bottom - s.top - 1, height: 1, fill: style.borderBottomColor }));
}

/** A canvas: as the shapes it was drawn from, else its pixels. */
function canvasPart(el: HTMLCanvasElement): Element {
  const markup = drawnAs.get(el)?.();
  if (markup === undefined) return make("image", { href: el.toDataURL() });
  const part = make("svg", { overflow: "hidden" });
  part.innerHTML = markup;
  return part;
}

function walk(s: Sheet, el: Element, outer: Rect): void {
  if (el.matches(".panel-menu, .menu-list, input, [hidden], .spacer")) return;
  const style = getComputedStyle(el);
  if (style.display === "none" || style.visibility === "hidden") return;
  const own = el.getBoundingClientRect();
  const seen = common(own, outer);
  if (style.display !== "contents" && isEmpty(seen)) return;
  if (el instanceof SVGSVGElement || el instanceof HTMLCanvasElement) {
    const place = { x: own.left - s.left, y: own.top - s.top, width: own.width, height: own.height };
    const part = el instanceof SVGSVGElement ? standalone(el) : canvasPart(el);
    for (const [key, value] of Object.entries(place)) part.setAttribute(key, String(value));
    s.out.append(part);
    return;
  }
  putBox(s, style, seen);
  const clip = style.overflowX === "visible" && style.overflowY === "visible" ? outer : seen;
  for (const child of el.childNodes) {
    if (child instanceof Text) putText(s, child, clip);
    else if (child instanceof Element) walk(s, child, clip);
  }
}

/** A panel as one drawing. */
export function pictureOf(box: Element): SVGSVGElement {
  const { left, top, right, bottom, width, height } = box.getBoundingClientRect();
  const out = make("svg", { xmlns: NS, width, height, viewBox: `0 0 ${width} ${height}` }) as SVGSVGElement;
  const patterns = document.getElementById("patterns");
  if (patterns) out.append(standalone(patterns));
  const surface = getComputedStyle(document.documentElement).getPropertyValue("--surface");
  out.append(make("rect", { width, height, fill: surface }));
  for (const child of box.children) walk({ out, left, top }, child, { left, top, right, bottom });
  return out;
}

const textOf = (svg: SVGSVGElement): string => new XMLSerializer().serializeToString(svg);

export function saveFile(name: string, blob: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export function saveSvg(box: Element, name: string): void {
  saveFile(`${name}.svg`, new Blob([textOf(pictureOf(box))], { type: "image/svg+xml" }));
}

export async function savePng(box: Element, name: string): Promise<void> {
  const { width, height } = box.getBoundingClientRect();
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(textOf(pictureOf(box)))}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(width * 2);
  canvas.height = Math.round(height * 2);
  const g = canvas.getContext("2d");
  if (!g) return;
  g.drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => blob && saveFile(`${name}.png`, blob));
}
