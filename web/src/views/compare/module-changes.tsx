// Modules of both runs as one tree, joined by path: which layer changed.
import { isKnown, type Maybe } from "../../base/aggregate.ts";
import { thousands } from "../../base/format.ts";
import { askSide, c, type Diff, placeIn, type Side, stepOf } from "../../model/compare.ts";
import { t } from "../../model/language.ts";
import { showModuleIn } from "../../model/moments.ts";
import { choice, go, param } from "../../model/route.ts";
import { type Row, rowsOf } from "../../model/trace.ts";
import { Segmented } from "../../widgets/controls.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { sortKeys } from "../../widgets/sort.ts";
import { Table } from "../../widgets/table.tsx";
import type { CellValue, TableColumn, TableRow } from "../../widgets/table-types.ts";
import { changeCell, RampLegend, shareOfChange, strongest } from "./change.tsx";
import { askTracks, ofOne, stepsInWindow } from "./pair-timeline.tsx";

type Module = Row<"modules", "modules">;
type Both = readonly [Side, Side];
type Measure = "device" | "host";

/** What a module takes in a step, forward and backward. */
export interface Cost {
  calls: number;
  device: number;
  host: number;
}

export interface Joined {
  name: string;
  a: Cost | undefined;
  b: Cost | undefined;
  kids: Joined[];
}

const costOf = (r: Module, steps: number): Cost => ({
  calls: (r.calls ?? 0) / steps,
  device: ((r.device_total ?? 0) + (r.backward_device ?? 0)) / steps,
  host: ((r.host_total ?? 0) + (r.backward_host ?? 0)) / steps,
});

/** Puts the rows of one run, in pre-order with their depth, into the tree. The n-th of a name below one parent is one node. */
function put(roots: Joined[], rows: readonly Module[], side: "a" | "b", steps: number): void {
  const path: Joined[] = [];
  for (const r of rows) {
    const depth = r.depth ?? 0;
    path.length = Math.min(path.length, depth);
    const kids = path[depth - 1]?.kids ?? roots;
    const name = String(r.module);
    let node = kids.find((k) => k.name === name && !k[side]);
    if (!node) {
      node = { name, a: undefined, b: undefined, kids: [] };
      kids.push(node);
    }
    node[side] = costOf(r, steps);
    path[depth] = node;
  }
}

export function joinModules(a: readonly Module[], b: readonly Module[], steps: readonly [number, number]): Joined[] {
  const roots: Joined[] = [];
  put(roots, a, "a", Math.max(1, steps[0]));
  put(roots, b, "b", Math.max(1, steps[1]));
  return roots;
}

const changeOf = (j: Joined, m: Measure): number => (j.b?.[m] ?? 0) - (j.a?.[m] ?? 0);

const allOf = (list: readonly Joined[]): Joined[] => list.flatMap((j) => [j, ...allOf(j.kids)]);

export function cellOf(j: Joined, m: Measure, name: string): CellValue {
  switch (name) {
    case "module":
      return j.name;
    case "change":
      return changeOf(j, m);
    case "a":
    case "b":
      return j[name]?.[m] ?? null;
    case "calls_a":
      return j.a?.calls ?? null;
    case "calls_b":
      return j.b?.calls ?? null;
    default:
      return null;
  }
}

function inOrder(list: readonly Joined[], m: Measure): Joined[] {
  const key = sortKeys(param("sort"))[0];
  const sign = key?.order === "asc" ? 1 : -1;
  return [...list].sort((x, y) => {
    if (!key) return Math.abs(changeOf(y, m)) - Math.abs(changeOf(x, m));
    const [v, w] = [cellOf(x, m, key.name), cellOf(y, m, key.name)];
    if (isKnown(v) && isKnown(w)) return sign * (v - w);
    return sign * String(v ?? "").localeCompare(String(w ?? ""));
  });
}

export function ModuleChanges({ asked: diff, both }: { asked: Diff; both: Both }) {
  const asked = both.map((s) => askSide("modules", s, { limit: 0 }));
  const tracks = both.map((s) => askTracks(s).value);
  const rows = asked.map((a) => rowsOf(a.value?.tables.modules));
  const steps = tracks.map((x, i) => (x ? stepsInWindow(x, both[i] as Side).length : 0)) as unknown as [number, number];
  const tree = joinModules(rows[0] ?? [], rows[1] ?? [], steps);
  const all = allOf(tree);
  const device = all.some((j) => (j.a?.device ?? 0) > 0 || (j.b?.device ?? 0) > 0);
  const [side, setSide] = choice("side", device ? "device" : "host");
  const measure: Measure = side === "host" ? "host" : "device";
  const missing = both.filter((_, i) => asked[i]?.value && rows[i]?.length === 0);
  const make = (j: Joined, path: string, depth: number): TableRow => ({
    key: `${path}/${j.name}`,
    depth,
    cell: (name) => cellOf(j, measure, name),
    label: <code>{j.name}</code>,
    opens: j.kids.length > 0,
    shows: true,
    kids: () => inOrder(j.kids, measure).map((k, i) => make(k, `${path}/${j.name}#${i}`, depth + 1)),
  });
  const roots = inOrder(tree, measure);
  /** In B, or in A where only A has it. */
  const show = (r: TableRow) => {
    const [side, module] = [r.cell("b") === null ? both[0] : both[1], String(r.cell("module"))];
    showModuleIn(module, `${side.id}: ${module}`, placeIn(side));
  };
  return (
    <Panel
      name={t("modules")}
      words={missing.length ? undefined : (ofOne(both) ?? c("modules_words"))}
      busy={[...asked.map((x) => x.value ?? x.error), ...tracks].some((x) => !x)}
      height={420}
      controls={
        missing.length ? undefined : (
          <>
            <RampLegend />
            <Segmented label={c("part")} chosen={measure} onChoose={setSide} choices={{ device: t("device"), host: t("host") }} />
          </>
        )
      }
    >
      {missing.length ? (
        <p class="empty">{c("no_modules", { names: missing.map((s) => s.name).join(", ") })}</p>
      ) : (
        <Table
          name={t("modules")}
          total={roots.length}
          row={(i) => make(roots[i] as Joined, "", 0)}
          onTimeline={(r) => show(r)}
          timelineLabel={c("find_name")}
          open={roots.map((j) => `/${j.name}`)}
          columns={columnsOf(all, measure, stepOf(diff))}
          sort={param("sort")}
          onSort={(sort) => go({ params: { sort } })}
          height="max(420px, calc(100vh - 190px))"
          empty={t("no_rows")}
        />
      )}
    </Panel>
  );
}

const calls = (v: CellValue) => (isKnown(v) ? (Number.isInteger(v) ? thousands(v) : v.toFixed(1)) : "–");

function columnsOf(all: readonly Joined[], m: Measure, step: number): TableColumn[] {
  const most = strongest(
    all.map((j) => changeOf(j, m)),
    step,
  );
  const unit = "ns" as const;
  return [
    { name: "module", title: c("module"), text: true, mono: true, least: 260 },
    { name: "change", title: c("change"), width: 116, stays: true, show: changeCell(most) },
    {
      name: "share",
      title: c("change_share"),
      width: 88,
      soft: true,
      sortable: false,
      leaves: 1,
      show: (_, row) => shareOfChange(row.cell("a") as Maybe, row.cell("b") as Maybe),
    },
    { name: "a", title: c(`${m}_a`), unit, width: 110, leaves: 2 },
    { name: "b", title: c(`${m}_b`), unit, width: 110, leaves: 2 },
    { name: "calls_a", title: c("calls_a"), width: 90, leaves: 3, show: calls },
    { name: "calls_b", title: c("calls_b"), width: 90, leaves: 3, show: calls },
  ];
}
