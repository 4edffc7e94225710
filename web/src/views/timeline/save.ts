// What is on the screen as a file: the canvas with its gutter as PNG, the same drawing as SVG.
import { saveFile } from "../../base/save.ts";
import { SvgPen } from "../../draw/svg.ts";
import { drawGutter } from "../../draw/timeline/gutter.ts";
import type { Easel, RowDrawn, Scene } from "../../draw/timeline/scene.ts";
import { param } from "../../model/route.ts";
import { groupFact, groupName, laneFact, laneName, laneRole } from "../../model/timeline/lane-names.ts";
import { type Snapshot, stage } from "../../model/timeline/state.ts";

type Paint = (e: Easel, s: Scene) => RowDrawn[];

const gutterWords: Parameters<typeof drawGutter>[2] = (item) => {
  if (!item.lane && item.group)
    return {
      name: `${item.open ? "▾" : "▸"} ${groupName(item.group, item.members.length)}`,
      fact: groupFact(item.group),
      strong: true,
      indent: 0,
    };
  const lane = item.lane as NonNullable<typeof item.lane>;
  const small = lane.kind === "calls" || lane.kind === "instants";
  const name = `${laneName(lane)} ${laneRole(lane)}`.trim();
  return { name, fact: laneFact(lane), strong: false, indent: small ? 24 : item.group ? 12 : 0 };
};

export function snapshotOf(canvas: HTMLCanvasElement, scene: () => Scene, paint: Paint): Snapshot {
  return {
    png() {
      const copy = document.createElement("canvas");
      copy.width = canvas.width;
      copy.height = canvas.height;
      const g = copy.getContext("2d");
      if (!g) return copy;
      g.drawImage(canvas, 0, 0);
      const s = scene();
      g.setTransform(s.dpr, 0, 0, s.dpr, 0, 0);
      drawGutter(g, s, gutterWords);
      return copy;
    },
    svg() {
      const s = { ...scene(), dpr: 1, moving: false };
      const pen = new SvgPen(s.widthOf, s.palette.css["line-strong"] ?? "#ccc");
      const g = pen as unknown as CanvasRenderingContext2D;
      const rows = document.createElement("canvas").getContext("2d");
      if (!rows) return "";
      const wide = { least: 30, index: new Uint32Array(4096), n: 0 };
      paint({ g, rows, image: undefined, pixels: new Uint32Array(0), wide, hatch: { key: "", pattern: null }, vector: true }, s);
      drawGutter(g, s, gutterWords);
      return pen.text(s.left + s.width, s.height);
    },
  };
}

const fileName = () => [stage.tracks?.trace.run ?? "timeline", param("worker"), "timeline"].filter(Boolean).join("-");

export function savePicture(form: string): void {
  const now = stage.snapshot?.();
  if (!now) return;
  if (form === "svg") saveFile(`${fileName()}.svg`, new Blob([now.svg()], { type: "image/svg+xml" }));
  else now.png().toBlob((blob) => blob && saveFile(`${fileName()}.png`, blob));
}
