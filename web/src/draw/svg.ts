// A pen with the methods of a canvas that the timeline uses, which writes SVG instead of pixels.

interface State {
  fillStyle: unknown;
  strokeStyle: unknown;
  lineWidth: number;
  globalAlpha: number;
  font: string;
  textBaseline: string;
  textAlign: string;
  dash: string;
  groups: number; // opened by clip since save
}

/** Adjacent blanks would become one. */
const escaped = (text: string) => text.replace(/ {2}/g, "\u00a0 ").replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
const r2 = (n: number) => String(Math.round(n * 100) / 100);

export class SvgPen {
  fillStyle: unknown = "#000";
  strokeStyle: unknown = "#000";
  lineWidth = 1;
  globalAlpha = 1;
  font = "11px sans-serif";
  textBaseline = "alphabetic";
  textAlign = "left";
  imageSmoothingEnabled = false;
  private dash = "";
  private groups = 0;
  private path = "";
  private readonly out: string[] = [];
  private readonly stack: State[] = [];
  private clips = 0;

  constructor(
    private readonly measure: (text: string) => number,
    private readonly hatchColor: string,
  ) {}

  save(): void {
    const { fillStyle, strokeStyle, lineWidth, globalAlpha, font, textBaseline, textAlign, dash, groups } = this;
    this.stack.push({ fillStyle, strokeStyle, lineWidth, globalAlpha, font, textBaseline, textAlign, dash, groups });
    this.groups = 0;
  }

  restore(): void {
    this.out.push("</g>".repeat(this.groups));
    const before = this.stack.pop();
    if (before) Object.assign(this, before);
  }

  clip(): void {
    const id = `c${++this.clips}`;
    this.out.push(`<clipPath id="${id}"><path d="${this.path}"/></clipPath><g clip-path="url(#${id})">`);
    this.groups++;
  }

  setTransform(): void {}
  drawImage(): void {}
  setLineDash(parts: number[]): void {
    this.dash = parts.join(" ");
  }
  measureText(text: string): { width: number } {
    return { width: this.measure(text) };
  }
  /** The only pattern of the timeline is the hatching of idle time. */
  createPattern(): unknown {
    return { pattern: "hatch" };
  }

  beginPath(): void {
    this.path = "";
  }
  moveTo(x: number, y: number): void {
    this.path += `M${r2(x)} ${r2(y)}`;
  }
  lineTo(x: number, y: number): void {
    this.path += `L${r2(x)} ${r2(y)}`;
  }
  bezierCurveTo(a: number, b: number, c: number, d: number, x: number, y: number): void {
    this.path += `C${[a, b, c, d, x, y].map(r2).join(" ")}`;
  }
  rect(x: number, y: number, w: number, h: number): void {
    this.path += `M${r2(x)} ${r2(y)}h${r2(w)}v${r2(h)}h${r2(-w)}z`;
  }
  roundRect(x: number, y: number, w: number, h: number): void {
    this.rect(x, y, w, h);
  }
  fill(): void {
    this.out.push(`<path d="${this.path}" ${this.paint()}/>`);
  }
  stroke(): void {
    this.out.push(`<path d="${this.path}" ${this.line()}/>`);
  }
  fillRect(x: number, y: number, w: number, h: number): void {
    if (w > 0 && h > 0) this.out.push(`<rect x="${r2(x)}" y="${r2(y)}" width="${r2(w)}" height="${r2(h)}" ${this.paint()}/>`);
  }
  strokeRect(x: number, y: number, w: number, h: number): void {
    this.out.push(`<rect x="${r2(x)}" y="${r2(y)}" width="${r2(w)}" height="${r2(h)}" ${this.line()}/>`);
  }

  fillText(text: string, x: number, y: number): void {
    const [, weight = "400", size = "11", family = "sans-serif"] = /^(?:(\d+) )?([\d.]+)px (.*)$/.exec(this.font) ?? [];
    const shift = this.textBaseline === "middle" ? Number(size) * 0.36 : 0;
    const anchor = this.textAlign === "right" ? "end" : this.textAlign === "center" ? "middle" : "start";
    this.out.push(
      `<text x="${r2(x)}" y="${r2(y + shift)}" font-family="${escaped(family)}" font-size="${size}" font-weight="${weight}" text-anchor="${anchor}" ${this.paint()}>${escaped(text)}</text>`,
    );
  }

  private paint(): string {
    const fill = typeof this.fillStyle === "string" ? escaped(this.fillStyle) : "url(#hatch)";
    return `fill="${fill}"${this.globalAlpha < 1 ? ` fill-opacity="${r2(this.globalAlpha)}"` : ""}`;
  }

  private line(): string {
    const dash = this.dash ? ` stroke-dasharray="${this.dash}"` : "";
    return `fill="none" stroke="${escaped(String(this.strokeStyle))}" stroke-width="${r2(this.lineWidth)}"${dash}`;
  }

  arc(x: number, y: number, r: number): void {
    this.path += `M${r2(x - r)} ${r2(y)}a${r2(r)} ${r2(r)} 0 1 0 ${r2(2 * r)} 0a${r2(r)} ${r2(r)} 0 1 0 ${r2(-2 * r)} 0z`;
  }

  /** All that was drawn, without a frame around it. */
  body(): string {
    return this.out.join("");
  }

  /** The whole picture. */
  text(width: number, height: number): string {
    const hatch = `<pattern id="hatch" width="7" height="7" patternUnits="userSpaceOnUse"><path d="M-1 8L8 -1M-8 8L1 -1M6 8L15 -1" stroke="${escaped(this.hatchColor)}"/></pattern>`;
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"><defs>${hatch}</defs>${this.out.join("")}</svg>\n`;
  }
}
