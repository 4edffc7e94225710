import assert from "node:assert/strict";
import { test } from "node:test";
import { type Choices, heightOf, itemAt, layoutOf, rowPlace, stripsOf } from "./lanes.ts";
import type { Lane, LaneKind, Tracks } from "./tracks.ts";

const lane = (id: number, kind: LaneKind, group: number, rows: number, closed = false): Lane => ({
  id,
  kind,
  group,
  track: id,
  name: `${kind} ${id}`,
  rows,
  slices: 1,
  closed,
});

const tracks: Tracks = {
  trace: { run: "r", worker: "w", span: "1", format: "x", duration_ns: 1000, events: 1 },
  lanes: [
    lane(1, "steps", 0, 1),
    lane(2, "utilization", 0, 0),
    lane(3, "stream", 1, 1),
    lane(4, "stream", 1, 9),
    lane(5, "work", 2, 5),
    lane(6, "calls", 2, 2),
    lane(7, "python", 2, 21, true),
    lane(8, "work", 2, 4, true),
  ],
  groups: [
    { id: 1, kind: "device", name: "GPU 0", closed: false },
    { id: 2, kind: "process", name: "python3", closed: false },
  ],
  steps: { total: 0, number: [], start: [], end: [] },
};
const none: Choices = { folded: new Set(), toggled: new Set(), pinned: [], hidden: new Set(), frames: true, filter: "" };
const keys = (c: Partial<Choices>) => layoutOf(tracks, { ...none, ...c }).items.map((i) => i.key);

test("lanes stand in the server's order, each group under its header", () => {
  assert.deepEqual(keys({}), ["l1", "l2", "g1", "l3", "l4", "g2", "l5", "l6", "l7", "l8"]);
});

test("items touch each other without overlap", () => {
  const { items, height } = layoutOf(tracks, none);
  let y = 0;
  for (const i of items) {
    assert.equal(i.y, y);
    y += i.height;
  }
  assert.equal(height, y);
});

test("heights are those of the design", () => {
  assert.equal(heightOf(lane(1, "steps", 0, 1), true), 20);
  assert.equal(heightOf(lane(1, "memory", 0, 0), true), 34);
  assert.equal(heightOf(lane(1, "stream", 0, 1), true), 26);
  assert.equal(heightOf(lane(1, "work", 0, 5), true), 1 + 17 + 4 * 18 + 2);
  assert.equal(heightOf(lane(1, "calls", 0, 3), false), 13);
  assert.ok(heightOf(lane(1, "python", 0, 21), false) < 21 * 3 + 8);
});

test("overlapping kernels get at most four sub-rows", () => {
  assert.equal(heightOf(lane(1, "stream", 0, 9), true), heightOf(lane(1, "stream", 0, 4), true));
});

test("a closed lane keeps its first row and shows the others as stripes", () => {
  const l = lane(8, "work", 2, 4, true);
  assert.equal(rowPlace(l, false, 0).height, 17);
  assert.equal(rowPlace(l, false, 3).height, 2);
});

test("a folded group hides its lanes and remembers them for its strip", () => {
  assert.deepEqual(keys({ folded: new Set([2]) }), ["l1", "l2", "g1", "l3", "l4", "g2"]);
  assert.deepEqual(
    layoutOf(tracks, { ...none, folded: new Set([2]) }).items[5]?.members.map((m) => m.id),
    [5, 6, 7, 8],
  );
});

test("pinned lanes stand above all, once", () => {
  const l = layoutOf(tracks, { ...none, pinned: [5, 3] });
  assert.deepEqual(
    l.pinned.map((i) => i.key),
    ["p5", "p3"],
  );
  assert.ok(!l.items.some((i) => i.lane?.id === 5 || i.lane?.id === 3));
  assert.equal(l.pinnedHeight, (l.pinned[0]?.height ?? 0) + (l.pinned[1]?.height ?? 0));
});

test("hidden, filtered and Python lanes are left out", () => {
  assert.ok(!keys({ hidden: new Set([3]) }).includes("l3"));
  assert.ok(!keys({ frames: false }).includes("l7"));
  assert.deepEqual(keys({ filter: "stream gpu" }), ["g1", "l3", "l4"]);
});

test("a counter that is proposed closed is only shown when asked for", () => {
  const more = { ...tracks, lanes: [...tracks.lanes, { ...lane(9, "memory", 0, 0), closed: true }] };
  assert.equal(layoutOf(more, none).byLane.has(9), false);
  assert.equal(layoutOf(more, { ...none, toggled: new Set([9]) }).byLane.has(9), true);
});

test("the item and the row under a height are found", () => {
  const { items } = layoutOf(tracks, none);
  for (const item of items) {
    assert.equal(itemAt(items, item.y), item);
    assert.equal(itemAt(items, item.y + item.height - 0.5), item);
    for (let row = 0; item.lane && row < (item.lane.kind === "work" ? item.lane.rows : 0); row++) {
      const [at, next] = [rowPlace(item.lane, item.open, row), rowPlace(item.lane, item.open, row + 1)];
      assert.ok(at.height > 0 && at.top + at.height <= next.top, `rows ${row} and ${row + 1} lie over each other`);
    }
  }
  assert.equal(itemAt(items, -1), undefined);
  assert.equal(itemAt(items, 1e6), undefined);
});

test("user ranges stand below their stream; those of a stream that does next to nothing wait to be asked for", () => {
  const of = (id: number, kind: LaneKind, track: number, busy: number): Lane => ({ ...lane(id, kind, 1, 1), track, busy });
  const some = {
    ...tracks,
    lanes: [of(1, "ranges", 7, 0.3), of(2, "ranges", 8, 0.001), of(3, "stream", 7, 0.5), of(4, "stream", 8, 0.001)],
  };
  const items = (c: Partial<Choices>) => layoutOf(some, { ...none, ...c }).items.filter((i) => i.lane);
  assert.deepEqual(
    items({}).map((i) => i.lane?.id),
    [3, 1, 4],
  );
  assert.deepEqual(
    items({ toggled: new Set([2]) }).map((i) => i.lane?.id),
    [3, 1, 4, 2],
  );
  const [busy, , faint] = items({});
  assert.ok((faint?.height ?? 99) < (busy?.height ?? 0));
});

test("streams with little work lie in one fold, where the last of them stood; its strip shows them all", () => {
  const stream = (id: number, busy: number): Lane => ({ ...lane(id, "stream", 1, 1), busy });
  const some = {
    ...tracks,
    lanes: [stream(1, 0.5), stream(2, 0.001), stream(3, 0.4), stream(4, 0.002), stream(5, 0.001), lane(6, "work", 2, 1)],
  };
  const items = (c: Partial<Choices>) => layoutOf(some, { ...none, ...c }).items;
  const fold = items({}).find((i) => !i.lane && i.members.length === 3);
  assert.deepEqual(
    items({}).map((i) => i.key),
    ["g1", "l1", "l3", fold?.key, "g2", "l6"],
  );
  assert.deepEqual(fold && stripsOf(fold).map((p) => p.lane.id), [2, 4, 5]);
  assert.deepEqual(
    items({ folded: new Set([fold?.group?.id ?? 0]) }).map((i) => i.key),
    ["g1", "l1", "l3", fold?.key, "l2", "l4", "l5", "g2", "l6"],
  );
});

test("counters beyond the first are folded, few are not; groups without a name are one", () => {
  const counters = (n: number) => Array.from({ length: n }, (_, i) => lane(20 + i, "counter", 0, 0));
  const keysOf = (lanes: Lane[], groups = tracks.groups) => layoutOf({ ...tracks, groups, lanes }, none).items.map((i) => i.key);
  assert.deepEqual(keysOf(counters(5)), ["l20", "l21", "l22", "l23", "l24"]);
  const many = keysOf(counters(11));
  assert.equal(many.length, 5);
  assert.match(many[4] ?? "", /^g-/);
  const nameless = [8, 9].map((id) => ({ id, kind: "process", name: "", closed: true }));
  assert.equal(keysOf([lane(30, "instants", 8, 1), lane(31, "span", 9, 1)], nameless).length, 1);
});

test("a closed rank has a strip for computing and one for communication", () => {
  const rank = { id: 1, kind: "rank", name: "rank 0", closed: true };
  const of = (id: number, kind: LaneKind, role: string): Lane => ({ ...lane(id, kind, 1, 2), role });
  const strips = (lanes: Lane[]) => {
    const head = layoutOf({ ...tracks, groups: [rank], lanes }, none).items[0];
    return head ? stripsOf(head).map((p) => [p.lane.id, p.top]) : [];
  };
  const nccl = strips([of(1, "stream", "compute"), of(2, "stream", "communication"), of(3, "work", "training")]);
  assert.deepEqual(
    nccl.map(([id]) => id),
    [1, 2],
  );
  assert.ok((nccl[0]?.[1] ?? 0) < (nccl[1]?.[1] ?? 0));
  const gloo = strips([of(1, "stream", "compute"), of(3, "work", "training"), of(4, "work", "other")]);
  assert.deepEqual(
    gloo.map(([id]) => id),
    [1, 4],
  );
});
