// Which file may import which: folders in layers, rooms inside a folder, and no circle anywhere.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, normalize } from "node:path/posix";
import { test } from "node:test";

const FOLDERS: Record<string, readonly string[]> = {
  base: [],
  text: [],
  api: ["base"],
  draw: ["base"],
  widgets: ["base"],
  model: ["base", "api", "text", "draw"], // the timeline's frame state knows the geometry it is drawn with
  views: ["base", "api", "model", "draw", "widgets"],
  wasm: ["base", "api"],
};
// What a room may use of its own folder besides itself. A room that is not named here may use nothing.
const ROOMS: Record<string, readonly string[]> = {
  "draw/charts": ["draw"],
  "draw/timeline": ["draw"],
  "model/timeline": ["model"],
  ...Object.fromEntries(
    [
      "shell",
      "overview",
      "why",
      "code",
      "timeline",
      "operators",
      "memory",
      "steps",
      "pipeline",
      "serving",
      "distributed",
      "compare",
      "history",
      "query",
    ].map((room) => [`views/${room}`, ["views/shared"]]),
  ),
};
// The table of pages opens the other rooms, each by the files that are views.
const PAGES = "views/shell/pages.tsx";
const ENTRIES: readonly string[] = [
  "views/overview/overview.tsx",
  "views/why/why.tsx",
  "views/code/code.tsx",
  "views/timeline/timeline.tsx",
  "views/operators/operators.tsx",
  "views/operators/kernels.tsx",
  "views/operators/roofline.tsx",
  "views/operators/modules.tsx",
  "views/memory/memory.tsx",
  "views/steps/steps.tsx",
  "views/pipeline/pipeline.tsx",
  "views/serving/serving.tsx",
  "views/distributed/distributed.tsx",
  "views/distributed/hang.tsx",
  "views/compare/compare.tsx",
  "views/history/history.tsx",
  "views/query/query.tsx",
];

const texts = new Map(
  (readdirSync("src", { recursive: true }) as string[])
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => [file, readFileSync(`src/${file}`, "utf8")]),
);

/** The files of ours that a file imports, at once or later. */
const importsOf = (file: string): string[] =>
  [...(texts.get(file) ?? "").matchAll(/(?:from |import\()"(\.[^"]+)"/g)].map(([, path = ""]) =>
    normalize(`${dirname(file)}/${path}`),
  );

function mayImport(file: string, target: string): boolean {
  const [room, other] = [dirname(file), dirname(target)];
  const [folder, otherFolder] = [room.split("/")[0] ?? "", other.split("/")[0] ?? ""];
  if (room === other) return true;
  // What starts a page out of one file is a separate script.
  if (room === ".") return ["views/shell/shell.tsx", "base/packed.ts"].includes(target) || otherFolder === "model";
  if (file === PAGES && ENTRIES.includes(target)) return true;
  if (folder === otherFolder) return ROOMS[room]?.includes(other) ?? false;
  return FOLDERS[folder]?.includes(otherFolder) ?? false;
}

test("imports follow the layers and the rooms", () => {
  const wrong = [...texts.keys()].flatMap((file) =>
    importsOf(file)
      .filter((target) => !mayImport(file, target))
      .map((target) => `${file} imports ${target}`),
  );
  assert.deepEqual(wrong, []);
});

test("rooms are apart: what is inside one is not for another, nor for the folder above", () => {
  assert.ok(!mayImport("views/steps/steps.tsx", "views/overview/overview.tsx"));
  assert.ok(!mayImport("views/shared/advice.tsx", "views/overview/overview.tsx"));
  assert.ok(!mayImport(PAGES, "views/overview/stages.tsx"));
  assert.ok(!mayImport("model/trace.ts", "model/timeline/state.ts"));
  assert.ok(!mayImport("draw/charts/heat.tsx", "draw/timeline/frame.ts"));
  assert.ok(mayImport(PAGES, "views/overview/overview.tsx") && mayImport("views/steps/steps.tsx", "views/shared/advice.tsx"));
});

/** The files of a circle of imports, in order, or nothing. */
function circleIn(files: Iterable<string>, next: (file: string) => readonly string[]): string[] {
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): string[] => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return [];
    for (const target of next(file)) {
      const circle = visit(target, [...path, file]);
      if (circle.length) return circle;
    }
    done.add(file);
    return [];
  };
  for (const file of files) {
    const circle = visit(file, []);
    if (circle.length) return circle;
  }
  return [];
}

test("no file imports itself by way of others", () => {
  const made: Record<string, readonly string[]> = { a: ["b"], b: ["c"], c: ["b"] };
  assert.deepEqual(
    circleIn(["a"], (f) => made[f] ?? []),
    ["b", "c", "b"],
  );
  assert.deepEqual(circleIn(texts.keys(), importsOf), []);
});

test("the page chooses by what is recorded, never by who recorded it", () => {
  const wrong = [...texts].filter(
    ([file, text]) => !/\.test\./.test(file) && /\bformat\b\s*[!=]==|frameworkOf\([^)]*\)\s*[!=]==/.test(text),
  );
  assert.deepEqual(
    wrong.map(([file]) => file),
    [],
  );
});

test("files stay short and name what they export", () => {
  for (const [file, text] of texts) {
    const written = !/\.test\.tsx?$/.test(file) && !text.startsWith("// made by tools/generate");
    if (written) assert.ok(text.split("\n").length <= 401, `${file} has more than 400 lines`);
    assert.ok(!/^export default/m.test(text), `${file} has a default export`);
  }
});

test("every room says what it is for", () => {
  const rooms = new Set([...texts.keys()].map((file) => dirname(file)).filter((room) => room.includes("/")));
  for (const room of rooms) assert.ok(readFileSync(`src/${room}/README.md`, "utf8").length > 80, room);
});
