// What is on the path by name, by module or by line of code, and what is off it: each with its way to the timeline.
import type { ComponentChildren } from "preact";
import { isKnown } from "../../base/aggregate.ts";
import { shownName } from "../../base/names.ts";
import { showSlice } from "../../model/evidence.ts";
import { choice, go } from "../../model/route.ts";
import { type AskedFor, analysis, csvUrl, hasData, type Row, rowsOf } from "../../model/trace.ts";
import { kindFill, kindWord, w } from "../../model/why.ts";
import { Segmented, Swatch } from "../../widgets/controls.tsx";
import { LongName } from "../../widgets/long-name.tsx";
import type { TableRow } from "../../widgets/table-types.ts";
import { TablePanel } from "../shared/table-panel.tsx";
import { defined, type Listed, quoted, wholeTable } from "../shared/table-source.ts";

type Asked = AskedFor<"critical">;
const GROUPS = ["name", "module", "line", "slack"] as const;
type Group = (typeof GROUPS)[number];

/** A group that the trace has nothing for is not offered. */
function groupsOf(asked: Asked): readonly Group[] {
  const rows = (t: "by_module" | "by_line" | "slack") => asked.value?.tables[t]?.rows.length ?? 0;
  return GROUPS.filter((g) => g === "name" || rows(g === "slack" ? "slack" : `by_${g}`) > 0);
}

export function OnPath({ asked }: { asked: Asked }) {
  const [wanted, setGroup] = choice("by", "name");
  const groups = groupsOf(asked);
  const group = groups.find((g) => g === wanted) ?? "name";
  const controls = (
    <>
      {group === "name" && hasData("roofline") ? (
        <button type="button" class="link" onClick={() => go({ view: "roofline", params: { sort: undefined, q: undefined } })}>
          {w("roofline")}
        </button>
      ) : null}
      <Segmented
        label={w("by")}
        chosen={group}
        onChoose={setGroup}
        choices={groups.map((g) => ({ id: g, label: w(g === "slack" ? "by_slack" : `by_${g}`) }))}
      />
    </>
  );
  const shown = { asked, controls, name: w(group === "slack" ? "off_title" : "on_path"), height: 400 };
  if (group === "slack") return <Slack {...shown} />;
  return group === "name" ? <Names {...shown} /> : <Owners {...shown} group={group} />;
}

interface Shown {
  asked: Asked;
  controls: ComponentChildren;
  name: string;
  height: number;
}

const jump = (r: TableRow) => {
  const slice = r.cell("slice");
  if (isKnown(slice))
    showSlice(slice, String(r.cell("name") ?? r.cell("module") ?? r.cell("line") ?? ""), { path: "1", piece: undefined });
};

const TABLE = () => ({ height: 420, onTimeline: jump, onEnter: jump, timelineLabel: w("show_piece") });

/** A name with the color of its kind. */
function Named({ kind, name }: { kind: string; name: string | null }) {
  return (
    <>
      <span title={kindWord(kind)}>
        <Swatch color={kindFill(kind)} />
      </span>{" "}
      {name === null ? <span class="t3">{w("no_name")}</span> : <LongName text={shownName(name)} />}
    </>
  );
}

/** The operator of each kernel, by its name: what the roofline has points of. */
function opsOfKernels(): ReadonlyMap<unknown, string | null> {
  if (!hasData("roofline")) return new Map();
  const kernels = rowsOf(analysis("kernels", { table: "kernels", limit: 0 }, "kernels-all").value?.tables.kernels);
  return new Map(kernels.map((k) => [k.name, k.op]));
}

/** A kind; of a kernel with a link to its operator in the roofline. */
function Kind({ kind, op }: { kind: string; op: string | null | undefined }) {
  const show = () => go({ view: "roofline", params: { sort: undefined, group: undefined, q: `name:${quoted(op ?? "")}` } });
  return (
    <>
      {kindWord(kind)}{" "}
      {op && kind === "device" ? (
        <button type="button" class="link" title={op} onClick={show}>
          {w("roofline")}
        </button>
      ) : null}
    </>
  );
}

function Names({ asked, ...panel }: Shown) {
  const ops = opsOfKernels();
  const rows = wholeTable(asked.value, "by_name", (_, i) => `${i}`);
  const row = (i: number): TableRow => {
    const r = rows.row(i);
    return Object.assign(r, { label: <Named kind={r.cell("kind") ?? ""} name={r.cell("name")} /> });
  };
  return (
    <TablePanel
      {...panel}
      asked={asked}
      words={w("on_path_words", { n: rows.total })}
      define={defined(asked.value, "by_name", "time")}
      csv={csvUrl("critical", "by_name")}
      rows={rows}
      row={row}
      list={[
        ["name", { title: w("name"), text: true, mono: true, sortable: false, least: 160, stays: true }],
        [
          "kind",
          {
            title: w("kind"),
            text: true,
            soft: true,
            sortable: false,
            width: 190,
            leaves: 2,
            show: (v, r) => <Kind kind={String(v ?? "")} op={ops.get(r.cell("name"))} />,
          },
        ],
        ["time", { title: w("time"), sortable: false, width: 90 }],
        ["share", { title: w("share"), sortable: false, width: 150, bar: "var(--other)" }],
        ["pieces", { title: w("pieces"), sortable: false, width: 80, soft: true, leaves: 3 }],
      ]}
      table={TABLE()}
    />
  );
}

/** What both tables have. */
type Owned = Pick<Row<"critical", "by_line">, "time" | "share" | "pieces" | "slice">;

function Owners({ asked, group, ...panel }: Shown & { group: "module" | "line" }) {
  const table = group === "module" ? ("by_module" as const) : ("by_line" as const);
  const none = group === "module" ? w("no_module") : w("no_line");
  const rows: Listed<Owned> =
    group === "module"
      ? wholeTable(asked.value, "by_module", (_, i) => `${i}`)
      : wholeTable(asked.value, "by_line", (_, i) => `${i}`);
  const list = [
    { name: group, title: w(group), text: true, mono: true, sortable: false, least: 160, stays: true },
    ["time", { title: w("time"), sortable: false, width: 90 }],
    ["share", { title: w("share"), sortable: false, width: 150, bar: "var(--other)" }],
    ["pieces", { title: w("pieces"), sortable: false, width: 80, soft: true, leaves: 3 }],
  ] as const;
  const row = (i: number): TableRow => {
    const r: TableRow = rows.row(i);
    return r.cell(group) === null ? Object.assign(r, { label: <span class="t3">{none}</span> }) : r;
  };
  return (
    <TablePanel
      {...panel}
      asked={asked}
      words={w("on_path_words", { n: rows.total })}
      define={defined(asked.value, table, "time")}
      csv={csvUrl("critical", table)}
      rows={rows}
      row={row}
      list={list}
      table={TABLE()}
    />
  );
}

function Slack({ asked, ...panel }: Shown) {
  const rows = wholeTable(
    asked.value,
    "slack",
    (_, i) => `${i}`,
    (r) => r.cell("slack") !== 0 || (r.cell("off_path") ?? 0) > 0,
  );
  const row = (i: number): TableRow => {
    const r = rows.row(i);
    return Object.assign(r, { label: <Named kind={r.cell("kind") ?? ""} name={r.cell("name")} /> });
  };
  return (
    <TablePanel
      {...panel}
      asked={asked}
      words={w("on_path_words", { n: rows.total })}
      define={defined(asked.value, "slack", "slack")}
      csv={csvUrl("critical", "slack")}
      rows={rows}
      row={row}
      list={[
        ["name", { title: w("name"), text: true, mono: true, sortable: false, least: 160, stays: true }],
        [
          "kind",
          {
            title: w("kind"),
            text: true,
            soft: true,
            sortable: false,
            width: 190,
            leaves: 4,
            show: (v) => kindWord(String(v ?? "")),
          },
        ],
        ["slack", { title: w("slack"), sortable: false, width: 90 }],
        ["least", { title: w("least"), sortable: false, width: 126, soft: true, leaves: 2 }],
        ["time", { title: w("device_time"), sortable: false, width: 126, leaves: 1 }],
        ["off_path", { title: w("off_path"), sortable: false, width: 126 }],
        ["calls", { title: w("calls"), sortable: false, width: 80, soft: true, leaves: 3 }],
      ]}
      table={TABLE()}
    />
  );
}
