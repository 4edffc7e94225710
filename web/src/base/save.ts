// Charts and tables as files: SVG with its colours resolved, PNG from it, text.

/** The largest drawing inside an element. */
export function svgOf(box: Element): SVGSVGElement | undefined {
  const all = [...box.querySelectorAll<SVGSVGElement>("svg[data-chart]")];
  return all.sort((a, b) => b.clientWidth * b.clientHeight - a.clientWidth * a.clientHeight)[0];
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

/** A copy that needs no style sheet: every element carries its computed colours. */
function standalone(svg: SVGSVGElement): SVGSVGElement {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const from = [svg, ...svg.querySelectorAll("*")];
  const to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((el, i) => {
    const style = getComputedStyle(el);
    for (const name of STYLES) to[i]?.setAttribute(name, style.getPropertyValue(name));
    to[i]?.removeAttribute("class");
  });
  const patterns = document.getElementById("patterns");
  if (patterns) copy.prepend(standaloneDefs(patterns));
  const { width, height } = svg.getBoundingClientRect();
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  return copy;
}

function standaloneDefs(patterns: Element): Element {
  const copy = patterns.cloneNode(true) as Element;
  const from = [...patterns.querySelectorAll("*")];
  [...copy.querySelectorAll("*")].forEach((el, i) => {
    const style = getComputedStyle(from[i] as Element);
    for (const name of ["fill", "stroke", "stroke-width"]) el.setAttribute(name, style.getPropertyValue(name));
  });
  return copy;
}

export function saveFile(name: string, blob: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export function saveSvg(svg: SVGSVGElement, name: string): void {
  saveFile(`${name}.svg`, new Blob([new XMLSerializer().serializeToString(standalone(svg))], { type: "image/svg+xml" }));
}

export async function savePng(svg: SVGSVGElement, name: string): Promise<void> {
  const { width, height } = svg.getBoundingClientRect();
  const text = new XMLSerializer().serializeToString(standalone(svg));
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = width * 2;
  canvas.height = height * 2;
  const g = canvas.getContext("2d");
  if (!g) return;
  g.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--surface");
  g.fillRect(0, 0, canvas.width, canvas.height);
  g.drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => blob && saveFile(`${name}.png`, blob));
}
