// Modules: which layer. A tree table next to an icicle.
import { largest, largestFirst, shareOf, sum, total } from "../../base/aggregate.ts";
import { exact, scaleOf, short, thousands } from "../../base/format.ts";
import { Definition } from "../../base/tip.tsx";
import { Icicle, type Node } from "../../draw/charts/icicle.tsx";
import { nth } from "../../draw/patterns.tsx";
import { t } from "../../model/language.ts";
import { go, param } from "../../model/route.ts";
import { isSelected, select, selection } from "../../model/selection.ts";
import { themeVersion } from "../../model/theme.ts";
import { type AskedFor, analysis, csvUrl, rowsOf } from "../../model/trace.ts";
import { Segmented, Swatch } from "../../widgets/controls.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { Table } from "../../widgets/table.tsx";
import type { TableRow } from "../../widgets/table-types.ts";
import { cellsOf, columns, defined, panelFor, quoted, wholeTable } from "../shared/table-source.ts";
import { Verdict } from "../shared/verdict.tsx";
import { type Branch, classOf, type Module, siblings } from "./module-order.ts";
import { showRow } from "./show-row.ts";

type Time = "host_total" | "device_total" | "backward_host" | "backward_device";

/** The tree out of rows in pre-order with their depth. */
function treeOf(rows: readonly Module[]): Branch[] {
  const roots: Branch[] = [];
  const path: Branch[] = [];
  for (const row of rows) {
    const branch: Branch = { row, kids: [] };
    const depth = row.depth ?? 0;
    path.length = Math.min(path.length, depth);
    (path[depth - 1]?.kids ?? roots).push(branch);
    path[depth] = branch;
  }
  return roots;
}

// A screen of rows: as many are open at first, the largest branches before the others.
const OPEN_ROWS = 28;

/** The paths of branches that are open at first. */
function openAtFirst(tree: readonly Branch[], time: (m: Module) => number | null): string[] {
  const next = tree.map((b) => ({ branch: b, path: `/${b.row.module}` }));
  const open: string[] = [];
  let rows = tree.length;
  while (next.length) {
    next.sort((a, b) => (time(b.branch.row) ?? 0) - (time(a.branch.row) ?? 0));
    const at = next.findIndex((n) => n.branch.kids.length > 0);
    const [{ branch, path } = { branch: undefined, path: "" }] = at < 0 ? [] : next.splice(at, 1);
    if (!branch || (open.length >= tree.length && rows + branch.kids.length > OPEN_ROWS)) break;
    open.push(path);
    rows += branch.kids.length;
    next.push(...branch.kids.map((k) => ({ branch: k, path: `${path}/${k.row.module}` })));
  }
  return open;
}

export function Modules() {
  const type = param("group") === "type";
  const asked = analysis("modules", { "group-by": type ? "type" : undefined, limit: 0 });
  const rows = rowsOf(asked.value?.tables.modules);
  // Classes are nested in each other and do not add up: the outermost instances do.
  const tree = type ? rowsOf(analysis("modules", { limit: 0 }, "modules-tree").value?.tables.modules) : rows;
  const roots = tree.filter((r) => r.depth === 0);
  const time = (c: Time) => total(roots, (r) => r[c]);
  return (
    <>
      <Verdict
        answer={asked.value}
        otherwise={t("modules")}
        facts={[
          t(type ? "fact_classes" : "fact_modules", { n: thousands(rows.length) }),
          roots.length === 0
            ? undefined
            : t("fact_forward", { v: short(time("host_total"), "ns"), d: short(time("device_total"), "ns") }),
          time("backward_host")
            ? t("fact_backward", { v: short(time("backward_host"), "ns"), d: short(time("backward_device"), "ns") })
            : undefined,
        ]}
      />
      <div class="grid">
        <ModuleTable asked={asked} rows={rows} type={type} />
        {type ? null : (
          <div class="w5 stack">
            <ModuleIcicle asked={asked} rows={rows} />
            <ModuleClasses rows={rows} />
          </div>
        )}
      </div>
    </>
  );
}

function ModuleTable({ asked, rows, type }: { asked: AskedFor<"modules">; rows: readonly Module[]; type: boolean }) {
  const whole = wholeTable(asked.value, "modules", (r) => String(r.cell("module")));
  const device = rows.some((r) => (r.device_total ?? 0) > 0);
  const key = device ? "device_total" : "host_total";
  const most = largest(rows, (r) => r.host_total, 0);
  const scale = scaleOf("ns", most);
  const make = (b: Branch, path: string, depth: number): TableRow => {
    const name = String(b.row.module);
    return {
      key: `${path}/${name}`,
      depth,
      cell: cellsOf(b.row),
      label: <code>{name}</code>,
      opens: b.kids.length > 0,
      marked: isSelected("module", name),
      kids: () => siblings(b.kids, (m) => m[key], sort).map((k) => make(k, `${path}/${name}`, depth + 1)),
    };
  };
  const sort = param("sort") || (type ? `${key}:desc` : "");
  const tree = siblings(type ? rows.map((row) => ({ row, kids: [] })) : treeOf(rows), (m) => m[key], sort);
  return (
    <Panel
      span={type ? "w12" : "w7"}
      name={t("modules")}
      words={t(type ? "classes_words" : "modules_words")}
      {...panelFor(asked, "modules", "modules", key)}
      height={420}
      controls={
        <Segmented
          label={t("group_by")}
          chosen={type ? "type" : "name"}
          onChoose={(id) => go({ params: { group: id } })}
          choices={{ name: t("instances"), type: t("classes") }}
        />
      }
    >
      <Table
        name={t("modules")}
        total={tree.length}
        row={(i) => make(tree[i] as Branch, "", 0)}
        sort={sort}
        onSort={(next) => go({ params: { sort: next } })}
        height="max(420px, calc(100vh - 220px))"
        open={openAtFirst(tree, (m) => m[key])}
        onRow={(r) => select("module", String(r.cell("module")))}
        onTimeline={(r) => showRow(r, String(r.cell("module")), "modules")}
        timelineLabel={t("show_costliest")}
        columns={columns(whole, [
          ["module", { text: true, mono: true }],
          ["calls", { width: 60 }],
          ["host_total", { bar: "var(--cpu_exec)", width: 130, scale }],
          ...(type ? ([["host_self", { width: 110, scale }]] as const) : []),
          ...(device ? ([["device_total", { bar: "var(--kernel)", width: 140, scale }]] as const) : []),
          ...(device && type ? ([["device_self", { width: 120, scale }]] as const) : []),
          ...(type ? ([["backward_host", { width: 130, scale }]] as const) : []),
          ...(device ? ([["backward_device", { width: 130, scale }]] as const) : []),
        ])}
      />
    </Panel>
  );
}

/** The operators called inside a module: their stacks name it. */
const operatorsOf = (module: string) => ({ group: "name+stack", q: `stack:${quoted(`nn.Module: ${module}`)}`, sort: undefined });

/** A color for each class, in the order in which they are first met. */
function classFill(rows: readonly Module[]): (name: string) => string {
  const classes = [...new Set(rows.map((r) => classOf(String(r.module))))];
  return (name) => nth(Math.max(0, classes.indexOf(name)));
}

const CLASSES = 12; // that are listed

/** What modules do themselves, by class: these times add up, and so does what they do on a device or the host. */
function ModuleClasses({ rows }: { rows: readonly Module[] }) {
  const asked = analysis("modules", { "group-by": "type", limit: 0 }, "modules-classes");
  const all = rowsOf(asked.value?.tables.modules);
  const key = all.some((r) => (r.device_self ?? 0) > 0) ? "device_self" : "host_self";
  const fill = classFill(rows);
  const whole = sum(all, (r) => r[key]);
  const listed = [...all].sort(largestFirst((r) => r[key])).slice(0, CLASSES);
  if (whole === 0) return null;
  return (
    <Panel
      name={t("classes")}
      words={t(key === "device_self" ? "classes_device" : "classes_host")}
      {...panelFor(asked, "modules", "modules", key)}
    >
      <ul class="alive">
        {listed.map((r) => (
          <li key={r.module}>
            <Swatch color={fill(String(r.module))} />
            <button
              type="button"
              class="holder"
              title={t("show_costliest")}
              onClick={() => showRow({ key: "", cell: cellsOf(r) }, String(r.module), "modules")}
            >
              <code>{r.module}</code>
            </button>
            <span title={exact(r[key], "ns")}>{short(r[key], "ns")}</span>
            <span class="t3">{short(shareOf(r[key], whole), "share")}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function ModuleIcicle({ asked, rows }: { asked: AskedFor<"modules">; rows: readonly Module[] }) {
  themeVersion.value;
  const key = rows.some((r) => (r.device_total ?? 0) > 0) ? "device_total" : "host_total";
  const fill = classFill(rows);
  const node = (b: Branch, path: string): Node => {
    const name = String(b.row.module);
    return {
      id: `${path}/${name}`,
      label: name,
      value: b.row[key] ?? 0,
      fill: fill(classOf(name)),
      kids: siblings(b.kids, (m) => m[key]).map((k) => node(k, `${path}/${name}`)),
      card: (
        <Definition
          title={name}
          help={`${t("col_host_total")} ${short(b.row.host_total, "ns")} · ${t("col_device_total")} ${short(b.row.device_total, "ns")}`}
          path={t("n_calls", { n: thousands(b.row.calls) })}
        />
      ),
    };
  };
  const chosen = selection.value?.kind === "module" ? selection.value.name : undefined;
  const nodes = treeOf(rows).map((b) => node(b, ""));
  const idOf = (list: readonly Node[]): string | undefined => {
    for (const n of list) {
      if (n.label === chosen) return n.id;
      const below = idOf(n.kids);
      if (below) return below;
    }
    return undefined;
  };
  return (
    <Panel
      name={t("icicle")}
      define={defined(asked.value, "modules", key)}
      csv={csvUrl("modules", "modules")}
      words={t(key === "device_total" ? "icicle_device" : "icicle_host")}
      asked={asked}
      height={300}
    >
      <div class="pad">
        <Icicle
          nodes={nodes}
          label={t("icicle")}
          chosen={chosen ? idOf(nodes) : undefined}
          onNode={(id) => select("module", id.split("/").pop() ?? "")}
        />
      </div>
      {chosen ? (
        <p class="pad links">
          <button type="button" class="link" onClick={() => go({ view: "operators", params: operatorsOf(chosen) })}>
            {t("module_operators", { n: chosen })}
          </button>
          <button type="button" class="link" onClick={() => go({ view: "kernels", params: { module: chosen, q: undefined } })}>
            {t("module_kernels", { n: chosen })}
          </button>
          <button
            type="button"
            class="link"
            onClick={() => showRow({ key: "", cell: cellsOf(rows.find((r) => r.module === chosen) ?? {}) }, chosen, "modules")}
          >
            {t("show_in_timeline")}
          </button>
        </p>
      ) : null}
    </Panel>
  );
}
