// Why the device is idle: the causes of all idle time, as bars that add up. Shown where the answer has them.
import type { Table } from "../../api/types.ts";
import { isKnown, largestFirst, type Maybe, sum } from "../../base/aggregate.ts";
import { exact, percent, short } from "../../base/format.ts";
import { Definition } from "../../base/tip.tsx";
import { type Part, Strip } from "../../draw/charts/strip.tsx";
import { nth } from "../../draw/patterns.tsx";
import { showSlice } from "../../model/evidence.ts";
import { idleWord } from "../../model/language.ts";
import { themeVersion } from "../../model/theme.ts";
import { analysis, rowsOf } from "../../model/trace.ts";
import { w } from "../../model/why.ts";
import { Legend } from "../../widgets/controls.tsx";
import { Panel } from "../../widgets/panel.tsx";

interface IdleRow {
  device: Maybe | string;
  cause: string | null;
  time: Maybe;
  slice: Maybe;
  total: Maybe;
}

// Where a cause has a category of the page, it has its color.
const FILLS: Record<string, string> = {
  host_late: "var(--cpu_exec)",
  blocked: "var(--c7)",
  dependency: "var(--c9)",
  data: "var(--data_loader)",
  communication: "var(--communication)",
  unknown: "url(#hatch)",
};

const causeFill = (cause: string, i: number): string => FILLS[cause] ?? nth(i);

/** Causes of one device with their sums: an answer may have several rows of a cause. */
function causesOf(rows: readonly IdleRow[]): { cause: string; ns: number }[] {
  const names = [...new Set(rows.map((r) => r.cause ?? "unknown"))];
  const all = names.map((cause) => ({ cause, ns: sum(rows, (r) => ((r.cause ?? "unknown") === cause ? r.time : 0)) }));
  return all.sort(largestFirst((c) => c.ns));
}

/** What the device waited for longest, of one cause. */
function showCause(rows: readonly IdleRow[], cause: string): void {
  const row = rows.filter((r) => isKnown(r.slice)).sort(largestFirst((r) => r.total ?? r.time))[0];
  if (row && isKnown(row.slice)) showSlice(row.slice, idleWord(cause));
}

export function IdleCauses() {
  themeVersion.value; // text on fills follows the theme
  const asked = analysis("overview", {}, "overview-why");
  const table = (asked.value?.tables as unknown as Record<string, Table<IdleRow> | undefined> | undefined)?.idle;
  const rows = rowsOf(table);
  if (rows.length === 0) return null;
  const devices = [...new Set(rows.map((r) => r.device))];
  const longest = Math.max(...devices.map((d) => sum(rows, (r) => (r.device === d ? r.time : 0))));
  const causes = causesOf(rows);
  return (
    <Panel name={w("idle")} words={w("idle_words")} asked={asked} height={90}>
      <div class="pad">
        {devices.map((d) => {
          const own = causesOf(rows.filter((r) => r.device === d));
          const total = sum(own, (c) => c.ns);
          const parts = own.map(
            ({ cause, ns }, i): Part => ({
              id: cause,
              value: ns,
              fill: causeFill(cause, i),
              label: `${idleWord(cause)} ${short(ns, "ns")}`,
              short: percent(ns / (total || 1), 0),
              plain: causeFill(cause, i).startsWith("url"),
              card: <Definition title={`${idleWord(cause)} · ${exact(ns, "ns")} · ${percent(ns / (total || 1))}`} />,
            }),
          );
          const list = own.map((c) => `${idleWord(c.cause)} ${short(c.ns, "ns")}`).join(", ");
          return (
            <div key={String(d)} class="why-idle">
              {devices.length > 1 ? <span class="t2">{w("idle_device", { d: String(d) })}</span> : null}
              <Strip
                parts={parts}
                total={longest}
                height={24}
                label={w("idle_label", { d: String(d), list })}
                onPart={(cause) =>
                  showCause(
                    rows.filter((r) => r.device === d && (r.cause ?? "unknown") === cause),
                    cause,
                  )
                }
              />
              <b>{short(total, "ns")}</b>
            </div>
          );
        })}
        <Legend items={causes.map((c, i) => ({ label: idleWord(c.cause), color: causeFill(c.cause, i) }))} />
      </div>
    </Panel>
  );
}
