// The first few of something and the rest as others: a donut with its list, or bars; each with time and share.
import { shareOf, sum } from "../../base/aggregate.ts";
import { percent, short, THIN, thousands } from "../../base/format.ts";
import { Definition } from "../../base/tip.tsx";
import { Bars } from "../../draw/charts/bars.tsx";
import { Donut, type Part } from "../../draw/charts/strip.tsx";
import { nth } from "../../draw/patterns.tsx";
import { themeVersion } from "../../model/theme.ts";
import { Swatch, Value } from "../../widgets/controls.tsx";
import { sideWord } from "./table-source.ts";

export interface TopRow {
  name: string;
  label: string;
  side: string;
  calls: number | null;
  value: number | null;
  rest: boolean; // the sum of all others
}

interface ChartProps {
  rows: readonly TopRow[];
  form: string;
  chosen: string;
  title: string;
  onName: (name: string) => void;
  compact?: boolean; // a few, in a small panel
}

/** A donut with its list, or bars: each with time and share. */
export function TopChart({ rows, form, chosen, title, onName, compact }: ChartProps) {
  themeVersion.value;
  const whole = sum(rows, (r) => r.value);
  const words = (r: TopRow) => `${short(r.value, "ns")} · ${percent(shareOf(r.value, whole))}`;
  const fill = (r: TopRow, i: number) => (r.rest ? "var(--track)" : nth(i));
  const card = (r: TopRow) => (
    <Definition title={r.label} help={`${words(r)} · × ${thousands(r.calls)}`} path={r.side || r.name} />
  );
  if (form === "bars")
    return (
      <div class="pad">
        <Bars
          label={title}
          chosen={chosen}
          onBar={(id) => (id ? onName(id) : undefined)}
          items={rows.map((r, i) => ({
            id: r.name,
            label: r.label,
            value: r.value ?? 0,
            text: words(r),
            fill: fill(r, i),
            card: card(r),
          }))}
        />
      </div>
    );
  const parts = rows.map((r, i): Part => ({ id: r.name, value: r.value ?? 0, fill: fill(r, i), card: card(r) }));
  const [number = "", unit = ""] = short(whole, "ns").split(THIN);
  return (
    <div class="types">
      <Donut
        parts={parts}
        radius={compact ? 66 : 84}
        middle={number}
        below={unit}
        label={`${title} ${short(whole, "ns")}`}
        onPart={(id) => (id ? onName(id) : undefined)}
      />
      <ol class={compact ? "types-list" : "types-list types-many"}>
        {rows.map((r, i) => (
          <li key={r.name} class={chosen && chosen === r.name ? "chosen" : ""}>
            <Swatch color={fill(r, i)} />
            {r.rest ? (
              <span class="t3">{r.label}</span>
            ) : (
              <button type="button" class="link" title={r.name} onClick={() => onName(r.name)}>
                <code>{r.label}</code>
              </button>
            )}
            <span class="t3">{sideWord(r.side)}</span>
            <span class="t3">× {thousands(r.calls)}</span>
            <b>
              <Value text={short(r.value, "ns")} />
            </b>
            <span class="t3">{percent(shareOf(r.value, whole))}</span>
          </li>
        ))}
      </ol>
    </div>
  );
}
