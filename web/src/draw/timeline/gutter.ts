// The names at the left of the lanes, drawn: on the screen they are elements of the page, in a saved picture
// they belong to the picture.
import { RULER } from "./lanes.ts";
import { type Scene, visibleItems } from "./scene.ts";

interface GutterWords {
  name: string;
  fact: string;
  strong: boolean; // the head of a group
  indent: number;
}

export function drawGutter(
  g: CanvasRenderingContext2D,
  s: Scene,
  words: (item: ReturnType<typeof visibleItems>[number]["item"]) => GutterWords,
): void {
  const { css } = s.palette;
  for (const pinned of [false, true]) {
    g.save();
    g.beginPath();
    const top = RULER + (pinned ? 0 : s.layout.pinnedHeight);
    g.rect(0, top, s.left - 1, pinned ? s.layout.pinnedHeight : s.height - top);
    g.clip();
    for (const { item, y } of visibleItems(s)) {
      if (item.pinned !== pinned) continue;
      const w = words(item);
      g.fillStyle = (w.strong ? css.page : css.surface) ?? "";
      g.fillRect(0, y, s.left - 1, item.height);
      g.fillStyle = css.line ?? "";
      g.fillRect(0, y + item.height - 1, s.left - 1, 1);
      g.textBaseline = "middle";
      g.font = `${w.strong ? 600 : 400} 11px ${s.sans}`;
      g.fillStyle = css.t1 ?? "";
      const middle = y + Math.min(item.height / 2, 10);
      g.fillText(w.name, 10 + w.indent, middle);
      g.font = `400 11px ${s.sans}`;
      g.fillStyle = css.t3 ?? "";
      g.textAlign = "right";
      g.fillText(w.fact, s.left - 11, middle);
      g.textAlign = "left";
    }
    g.restore();
  }
}
