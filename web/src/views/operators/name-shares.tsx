// Shares of time by name: strips or pies of the top N, the same color for a name in every chart.
import { percent, short, THIN } from "../../base/format.ts";
import { Definition, tip } from "../../base/tip.tsx";
import { Bars } from "../../draw/charts/bars.tsx";
import { Donut, type Part, Strip } from "../../draw/charts/strip.tsx";
import { nth } from "../../draw/patterns.tsx";
import { t } from "../../model/language.ts";
import { themeVersion } from "../../model/theme.ts";
import { Menu } from "../../widgets/menu.tsx";
import type { Defined } from "../../widgets/panel.tsx";

export interface Share {
  name: string;
  label: string;
  value: number;
}

/** Parts of a strip: the named ones in their colors, the others as track. */
export function shareParts(all: readonly Share[], names: readonly string[], total: number, count: number): Part[] {
  themeVersion.value;
  const parts = names.map((name, i): Part => {
    const found = all.find((s) => s.name === name);
    const value = found?.value ?? 0;
    const share = total > 0 ? value / total : 0;
    const whole = percent(share, 0);
    return {
      id: name,
      value,
      fill: nth(i),
      label: `${found?.label ?? name} ${whole}`,
      short: whole,
      card: <Definition title={found?.label ?? name} help={`${short(value, "ns")} · ${percent(share)}`} path={name} />,
    };
  });
  const rest = Math.max(0, total - parts.reduce((s, p) => s + p.value, 0));
  const others = Math.max(0, count - names.length);
  if (rest > 0)
    parts.push({
      id: "",
      value: rest,
      fill: "var(--track)",
      plain: true,
      label: t("n_others", { n: others, v: short(total > 0 ? rest / total : 0, "share") }),
      short: short(total > 0 ? rest / total : 0, "share"),
    });
  return parts;
}

interface RowProps {
  title: string;
  define?: Defined;
  total: number;
  parts: readonly Part[];
  onPart: (id: string) => void;
  chosen?: string | undefined;
  whole?: number; // strips on one scale
}

/** A name whose definition shows on hover. */
const Term = ({ title, define }: { title: string; define?: Defined | undefined }) =>
  define?.help ? (
    <span class="defined" tabIndex={0} {...tip(<Definition title={title} {...define} />)}>
      {title}
    </span>
  ) : (
    <span>{title}</span>
  );

export function ShareStrip({ title, define, total, parts, onPart, chosen, whole }: RowProps) {
  return (
    <div class="share-row">
      <span class="share-title">
        <Term title={title} define={define} /> <b>{short(total, "ns")}</b>
      </span>
      <Strip
        parts={parts}
        total={whole ?? total}
        height={24}
        label={`${title} ${short(total, "ns")}`}
        onPart={onPart}
        chosen={chosen}
      />
    </div>
  );
}

export function SharePie({ title, define, total, parts, onPart }: RowProps) {
  const [number = "", unit = ""] = short(total, "ns").split(THIN);
  return (
    <figure class="pie">
      <Donut parts={parts} radius={66} middle={number} below={unit} label={`${title} ${short(total, "ns")}`} onPart={onPart} />
      <figcaption>
        <Term title={title} define={define} />
      </figcaption>
    </figure>
  );
}

interface ShareBarsProps {
  all: readonly Share[];
  total: number;
  top: number;
  title: string;
  chosen: string | undefined;
  onBar: (id: string) => void;
}

/** The first N as horizontal bars, each with its time and share. */
export function ShareBars({ all, total, top, title, chosen, onBar }: ShareBarsProps) {
  themeVersion.value;
  const first = [...all].sort((a, b) => b.value - a.value).slice(0, top);
  const words = (s: Share) => `${short(s.value, "ns")} · ${percent(total > 0 ? s.value / total : 0)}`;
  return (
    <div class="pad">
      <Bars
        label={title}
        chosen={chosen}
        onBar={onBar}
        items={first.map((s, i) => ({
          id: s.name,
          label: s.label,
          value: s.value,
          text: words(s),
          fill: nth(i),
          card: <Definition title={s.label} help={words(s)} path={s.name} />,
        }))}
      />
    </div>
  );
}

const TOPS = [5, 9, 10, 12, 20, 50];

export function TopMenu({ n, onChoose }: { n: number; onChoose: (n: number) => void }) {
  return (
    <Menu
      class="small-menu"
      name={t("top")}
      value={n}
      items={TOPS.map((v) => ({ id: String(v), label: String(v), checked: v === n }))}
      onChoose={(id) => onChoose(Number(id))}
    />
  );
}
