// What an eye sees at once and a test of numbers does not: cut words, words on top of each other, controls outside the
// window, boxes that scroll for no reason, numbers in silly units. `look` runs in the page and returns sentences.

/** Runs in the page: everything wrong with the layout as it is now, one sentence each, at most 40. */
export function look() {
  const found = new Set();
  const say = (what, text, where) => found.size < 40 && found.add(`${what}: “${text.slice(0, 70)}” in ${name(where)}`);
  const name = (e) => {
    const panel = e.closest("section[aria-label], [role=dialog], .tl-details, .tape, header.top, nav, .verdict");
    const of = panel ? panel.getAttribute("aria-label") || String(panel.className) : "the page";
    return `${of} (${e.tagName.toLowerCase()}.${String(e.className.baseVal ?? e.className).trim().replace(/\s+/g, ".")})`;
  };
  const style = new Map();
  const styleOf = (e) => {
    if (!style.has(e)) style.set(e, getComputedStyle(e));
    return style.get(e);
  };
  const shown = (e) => e.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  // Only for screen readers, or moving on purpose.
  const apart = (e) => e.closest(".skip, .spoken, .tl-title, .tl-spoken, .tip, .tl-card, .new-runs, [hidden]") !== null;
  // Text on a canvas, or text that scrolls because there may be any amount of it.
  const scrolls = (e) => e.closest("main, .rail, .tl-scroll, .tl-panel, pre, .drawer, dialog") === e || e.matches(".main-table .tscroll");
  const hover = (e) => e.closest("[title]:not([title=''])") !== null || e.closest("[aria-describedby]") !== null;

  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) found.add(`the page is ${document.documentElement.scrollWidth} px wide in a window of ${width} px`);
  const main = document.querySelector("main");
  if (main.scrollWidth > main.clientWidth + 1) found.add(`main scrolls sideways: ${main.scrollWidth} in ${main.clientWidth} px`);

  /** An element and its ancestors that hide what leaves them, with the edges of what they show; innermost first. */
  const clips = new Map();
  const clipsOf = (e) => {
    if (!e || e === document.body) return [];
    if (clips.has(e)) return clips.get(e);
    const above = clipsOf(e.parentElement);
    const s = styleOf(e);
    const [x, y] = [s.overflowX !== "visible", s.overflowY !== "visible"];
    const own = (!x && !y) || s.display === "inline" ? above : [edgesOf(e, s, x, y), ...above];
    clips.set(e, own);
    return own;
  };
  const edgesOf = (e, s, x, y) => {
    const r = e.getBoundingClientRect();
    const [left, top] = [r.left + e.clientLeft, r.top + e.clientTop];
    const [w, h] = e instanceof SVGElement ? [r.width, r.height] : [e.clientWidth, e.clientHeight];
    return { e, s, x, y, left, top, right: left + w, bottom: top + h };
  };
  /** The first ancestor that hides a part of the box, and how. */
  const hidden = (from, box) => {
    for (const c of clipsOf(from)) {
      const side = c.x && (box.right > c.right + 1 || box.left < c.left - 1);
      const below = c.y && (box.bottom > c.bottom + 2 || box.top < c.top - 2);
      if (side || below) return { e: c.e, s: c.s, side, below, auto: /auto|scroll/.test(side ? c.s.overflowX : c.s.overflowY) };
    }
  };

  /** The part of the window in which an element can be seen: what its ancestors do not hide. */
  const windows = new Map();
  const viewOf = (e) => {
    if (!e || e === document.body) return { left: -1e9, right: 1e9, top: -1e9, bottom: 1e9 };
    if (windows.has(e)) return windows.get(e);
    const above = viewOf(e.parentElement);
    const s = styleOf(e);
    const [x, y] = [s.overflowX !== "visible", s.overflowY !== "visible"];
    const r = (x || y) && e.getBoundingClientRect();
    const own = {
      left: x ? Math.max(above.left, r.left) : above.left,
      right: x ? Math.min(above.right, r.right) : above.right,
      top: y ? Math.max(above.top, r.top) : above.top,
      bottom: y ? Math.min(above.bottom, r.bottom) : above.bottom,
    };
    windows.set(e, own);
    return own;
  };

  const boxes = [];
  const scrolled = new Set();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const text = node.data.trim();
    const e = node.parentElement;
    if (!text || !e || e.closest("script, style, title, desc, option") || apart(e) || !shown(e)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const rects = [...range.getClientRects()].filter((r) => r.width > 1 && r.height > 1);
    if (!rects.length) continue;
    const box = range.getBoundingClientRect();
    const cut = hidden(e, box);
    if (cut && !scrolls(cut.e)) {
      const dots = cut.side && !cut.below && cut.s.textOverflow === "ellipsis";
      if (cut.below && cut.s.webkitLineClamp !== "none" && hover(e)) continue; // the last line ends in dots
      if (cut.auto && cut.side && !scrolled.has(cut.e)) say("has to be scrolled sideways", text, scrolled.add(cut.e) && cut.e);
      else if (cut.auto) continue; // said once, or below as a box that scrolls
      else if (!dots) say(cut.below ? "cut at its lower edge" : "cut without dots", text, cut.e);
      else if (e.closest("td") && /^[<−]?\d[\d.,]*[\s\u2009]?%?$/.test(text)) say("a number is cut", text, cut.e);
      else if (!hover(e) && !e.closest("button, a, td.first")) say("cut, and nothing tells the rest", text, cut.e);
    }
    if (!cut && (box.left < -1 || box.right > width + 1)) say("outside the window", text, e);
    const seen = viewOf(e);
    for (const r of rects) {
      const part = { left: Math.max(r.left, seen.left), right: Math.min(r.right, seen.right), top: Math.max(r.top, seen.top), bottom: Math.min(r.bottom, seen.bottom) };
      if (part.right - part.left > 1 && part.bottom - part.top > 4) boxes.push({ r: part, text, e, node });
    }
  }

  // Words on top of each other. Lines of one text share borders; what is sticky covers rows on purpose: first cells, above
  // them the line of totals, above both the head.
  const LAYERS = ["thead", "tfoot, .alive-total", "td.first, .menu-list, dialog, .tl-filter, .tl-row, .tl-pinned"];
  const layer = (e) => LAYERS.findIndex((found) => e.closest(found) !== null);
  boxes.sort((a, b) => a.r.top - b.r.top);
  for (let i = 0; i < boxes.length; i++)
    for (let j = i + 1; j < boxes.length && boxes[j].r.top < boxes[i].r.bottom - 4; j++) {
      const [a, b] = [boxes[i], boxes[j]];
      const x = Math.min(a.r.right, b.r.right) - Math.max(a.r.left, b.r.left);
      const y = Math.min(a.r.bottom, b.r.bottom) - Math.max(a.r.top, b.r.top);
      if (x < 2 || y < 5 || a.node === b.node || layer(a.e) !== layer(b.e)) continue;
      say("on top of each other", `${a.text.slice(0, 30)} | ${b.text.slice(0, 30)}`, a.e);
    }

  // A shortened name next to empty space.
  for (const { r, text, e } of boxes) {
    if (!/\S…\S/.test(text) || !e.closest("td, li, .bar-name, .share-row")) continue;
    const cell = e.closest("td, li") ?? e;
    const free = cell.getBoundingClientRect().right - r.right;
    if (e.closest("td") && free > 90) say(`shortened beside ${Math.round(free)} px of nothing`, text, e);
  }

  for (const e of document.querySelectorAll("button, a[href], input, select, [role=radio], [role=tab]")) {
    if (!shown(e) || apart(e) || e.closest(".tl-row")) continue;
    const r = e.getBoundingClientRect();
    if (r.width < 2) continue;
    if (r.right > width + 1 || r.left < -1) say("control outside the window", e.textContent || e.getAttribute("aria-label") || "", e);
    const cut = hidden(e.parentElement, r);
    if (cut && !scrolls(cut.e) && cut.side && !cut.auto && !(e.matches("a, .link, .tl-link") && cut.s.textOverflow === "ellipsis"))
      say("control cut off", e.textContent || e.getAttribute("aria-label") || "", cut.e);
    if (!e.closest("main, .rail, dialog") && r.bottom > innerHeight + 1) say("control below the window", e.textContent, e);
  }

  // Boxes that scroll inside the page, although they hold what matters.
  for (const e of document.querySelectorAll("main *")) {
    if (!/auto|scroll/.test(styleOf(e).overflowY) || e.scrollHeight <= e.clientHeight + 2 || scrolls(e) || !shown(e) || e.closest(".tl, dialog")) continue;
    // A long table has its own bar; a few lines do not need one.
    if (e.matches(".tscroll") && e.scrollHeight > 640) continue;
    say(`scrolls inside: ${e.scrollHeight} in ${e.clientHeight} px`, "", e);
  }

  // Numbers no one would say.
  const silly = [
    [/(?:\d,\d{3}|\d{4,})(?:\.\d+)?[\s\u2009]?(?:ns|µs|ms|B|KiB|MiB|GiB)(?![\w/])/, "a larger unit exists"],
    [/\b0\.000\d+[\s\u2009]?(?:s|ms|µs|KiB|MiB|GiB|%)/, "a smaller unit exists"],
    [/(?<![\w./:#-])\d{7,}(?![\w./:-])/, "long number without separators"],
    [/[−-]\d+(?:\.\d+)?[\s\u2009]?%/, "a share below nothing"],
    [/\b(?:NaN|undefined|Infinity|null)\b/, "not a number"],
  ];
  const skip = (e) => e.closest("code, pre, .mono, input, .path, .crumb, .rail .device") !== null;
  for (const { text, e } of boxes) {
    const whole = e.closest("td, dd, p, h1, .panel-words")?.textContent ?? text;
    if (!skip(e)) for (const [form, why] of silly) if (form.test(text) || form.test(whole)) say(why, form.exec(text)?.[0] ?? form.exec(whole)[0], e);
  }
  for (const table of document.querySelectorAll("main table")) {
    const heads = [...table.querySelectorAll("thead th")];
    heads.forEach((th, i) => {
      const unit = th.querySelector(".unit")?.textContent.replace(/^, /, "");
      if (!["ns", "µs", "ms", "B", "KiB", "MiB"].includes(unit)) return;
      const most = Math.max(...[...table.querySelectorAll(`tbody td:nth-child(${i + 1})`)].map((d) => Number(d.textContent.replace(/[,\s\u2009]/g, "")) || 0));
      if (most >= (unit.endsWith("B") ? 1024 : 1000)) say(`a column reaches ${most} ${unit}`, th.textContent, th);
    });
  }
  return [...found];
}
