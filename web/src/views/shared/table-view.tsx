// The large table of a view: filter, grouping, columns, CSV, and the rows.
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { thousands } from "../../base/format.ts";
import { useWidth } from "../../draw/width.ts";
import { t } from "../../model/language.ts";
import { go } from "../../model/route.ts";
import { Segmented } from "../../widgets/controls.tsx";
import { Menu } from "../../widgets/menu.tsx";
import { Failure, Waiting } from "../../widgets/panel.tsx";
import { Table } from "../../widgets/table.tsx";
import { arranged, fitting, keptOf, tableKey } from "../../widgets/table-columns.ts";
import { tabbed } from "../../widgets/table-keys.ts";
import type { CellValue, TableColumn, TableRow } from "../../widgets/table-types.ts";
import { Filter } from "./filter.tsx";
import { quoted, type Source } from "./table-source.ts";

interface Props {
  name: string;
  filterLabel: string;
  source: Source;
  row: (i: number) => TableRow;
  columns: readonly TableColumn[];
  optional: readonly string[]; // columns not shown unless asked for
  sort: string;
  groups?: readonly { id: string; label: string }[];
  group?: string;
  onRow?: (row: TableRow) => void;
  onTimeline?: (row: TableRow) => void;
  more?: ComponentChildren; // its own controls, after the grouping
  height?: string;
  sum?: ((column: string) => CellValue) | undefined; // of all rows, where they add up
}

const keep = (name: string) => `tacho.columns.${name}`;

function readColumns(name: string): string[] | undefined {
  try {
    return JSON.parse(localStorage.getItem(keep(name)) ?? "null") ?? undefined;
  } catch {
    return undefined;
  }
}

export function TableView(props: Props) {
  const path = props.columns[0]?.path ?? props.name;
  const file = useRef<HTMLAnchorElement>(null);
  const [chosen, setChosen] = useState(() => readColumns(path));
  const isOn = (c: TableColumn, i: number) => i === 0 || (chosen ? chosen.includes(c.name) : !props.optional.includes(c.name));
  // Columns that the user chose come before the default ones.
  const wanted = props.columns.filter(isOn).map((c) => (props.optional.includes(c.name) ? { ...c, stays: true } : c));
  const [box, width] = useWidth(1200);
  const left = wanted.length - fitting(arranged(wanted, keptOf(tableKey(wanted))), width).length;
  const pick = (id: string) => {
    const now = wanted.map((c) => c.name);
    const next = now.includes(id) ? now.filter((n) => n !== id) : [...now, id];
    localStorage.setItem(keep(path), JSON.stringify(next));
    setChosen(next);
  };
  const { source: s } = props;
  // All rows of the filter, as the server has them, not only those on the screen.
  const copyAll = async () => {
    const csv = await (await fetch(s.csv)).text();
    await navigator.clipboard?.writeText(tabbed(csv));
  };
  // On the words of a cell; a number says nothing about rows like this one, so the name does.
  const filterOn = (row: TableRow, name = "") => {
    const column = props.columns.find((c) => c.name === name && c.text) ?? props.columns[0];
    if (column) go({ params: { q: `${column.name}:${quoted(String(row.cell(column.name) ?? ""))}` } });
  };
  return (
    <section class="panel w12 main-table" aria-label={props.name} ref={box as unknown as { current: HTMLElement | null }}>
      <header class="panel-head tall">
        <Filter label={props.filterLabel} />
        {props.groups ? (
          <Segmented
            label={t("group_by")}
            choices={props.groups}
            chosen={props.group ?? ""}
            onChoose={(id) => go({ params: { group: id, sort: undefined } })}
          />
        ) : null}
        {props.more}
        <span class="grow" />
        <span class="panel-words" aria-live="polite">
          {t("n_rows", { n: thousands(s.total) })}
        </span>
        <Menu
          class="small-menu"
          right
          stay
          name={t("columns")}
          label={
            <>
              {t("columns")} <b>{wanted.length - left}</b>
              {left > 0 ? <span class="t3"> +{left}</span> : null}
            </>
          }
          items={props.columns.slice(1).map((c, i) => ({ id: c.name, label: c.title, checked: isOn(c, i + 1) }))}
          onChoose={pick}
        />
        <button type="button" class="button" onClick={() => void copyAll()}>
          {t("copy")}
        </button>
        <a class="button" href={s.csv} download ref={file}>
          CSV
        </a>
      </header>
      {s.asked.error ? (
        <Failure error={s.asked.error} />
      ) : s.table ? (
        <Table
          name={props.name}
          columns={wanted}
          total={s.total}
          row={props.row}
          sort={props.sort}
          onSort={(sort) => go({ params: { sort } })}
          {...(props.onRow ? { onRow: props.onRow } : {})}
          onEnter={(row, shift) => (shift ? props.onTimeline?.(row) : props.onRow?.(row))}
          onFilter={filterOn}
          {...(props.onTimeline ? { onTimeline: props.onTimeline, timelineLabel: t("show_costliest") } : {})}
          onExport={() => file.current?.click()}
          {...(props.sum ? { sum: props.sum, sumLabel: t("total") } : {})}
          height={props.height ?? "max(420px, calc(100vh - 150px))"}
          flows
          old={s.asked.old}
          empty={t("no_rows")}
        />
      ) : (
        <Waiting height={420} />
      )}
    </section>
  );
}
