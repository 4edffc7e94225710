// Small controls: segmented control, buttons, keys, text with emphasis, meters, legends.
import type { ComponentChildren } from "preact";
import { percent, THIN } from "../base/format.ts";
import { tip } from "../base/tip.tsx";

interface Choice {
  id: string;
  label: string;
}

type Choices = readonly Choice[] | Readonly<Record<string, string>>; // a list, or labels by id

const isList = (choices: Choices): choices is readonly Choice[] => Array.isArray(choices);

interface SegmentedProps {
  choices: Choices;
  chosen: string;
  label: string;
  onChoose: (id: string) => void;
}

export function Segmented({ choices, ...props }: SegmentedProps) {
  const list = isList(choices) ? choices : Object.entries(choices).map(([id, label]) => ({ id, label }));
  const move = (e: KeyboardEvent) => {
    const by = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
    if (!by) return;
    e.preventDefault();
    const at = list.findIndex((c) => c.id === props.chosen);
    const next = list[(at + by + list.length) % list.length];
    if (next) props.onChoose(next.id);
  };
  return (
    <div class="segmented" role="radiogroup" aria-label={props.label} onKeyDown={move}>
      {list.map((c) => (
        <button
          type="button"
          key={c.id}
          role="radio"
          aria-checked={c.id === props.chosen}
          tabIndex={c.id === props.chosen ? 0 : -1}
          onClick={() => props.onChoose(c.id)}
        >
          {c.label}
        </button>
      ))}
    </div>
  );
}

export const Key = ({ children }: { children: ComponentChildren }) => <kbd>{children}</kbd>;

/** `*bold*` and `` `code` `` in a sentence of the text tables. */
export function Rich({ text }: { text: string }) {
  const parts = text.split(/(\*[^*]+\*|`[^`]+`)/);
  return (
    <>
      {parts.map((p, i) =>
        p.startsWith("*") && p.length > 2 ? (
          <b key={i}>{p.slice(1, -1)}</b>
        ) : p.startsWith("`") && p.length > 2 ? (
          <code key={i}>{p.slice(1, -1)}</code>
        ) : (
          p
        ),
      )}
    </>
  );
}

const CODE = /(\w+::[\w:]+\w|[A-Za-z_][\w.]*\([^()]*\)|\b[\w.]+=[\w."-]+|\b_?[a-zA-Z]+_[\w.]+|\btorch(?:\.\w+)+)/;

/** Marks names and code inside a sentence that comes from an analysis. */
export function WithCode({ text }: { text: string }) {
  return <>{text.split(CODE).map((p, i) => (i % 2 === 1 ? <code key={i}>{p}</code> : p))}</>;
}

/** A number with its unit in gray after a thin space. */
export function Value({ text }: { text: string }) {
  const cut = text.indexOf(THIN);
  if (cut < 0) return <>{text}</>;
  return (
    <>
      {text.slice(0, cut)}
      <span class="unit">{text.slice(cut)}</span>
    </>
  );
}

export function Meter(props: { title: string; help?: string | undefined; path?: string; value: number | null; missing: string }) {
  const shown = props.value === null ? props.missing : percent(props.value);
  const card = (
    <>
      <b>{props.title}</b>
      {props.help ? <p>{props.help}</p> : null}
      {props.path ? <code>{props.path}</code> : null}
    </>
  );
  return (
    <div class="meter">
      <button type="button" class="meter-name" {...tip(card)}>
        {props.title}
      </button>
      <b class={props.value === null ? "absent" : ""}>{shown}</b>
      <div class="meter-track">
        <div class="meter-fill" style={{ width: `${Math.min(1, props.value ?? 0) * 100}%` }} />
      </div>
    </div>
  );
}

interface LegendItem {
  label: string;
  color: string; // a fill: var(--kernel), url(#hatch)
}

export function Swatch({ color, size = 9 }: { color: string; size?: number }) {
  return (
    <svg class="swatch" width={size} height={size} aria-hidden="true">
      <rect width={size} height={size} rx="2" fill={color} />
    </svg>
  );
}

export function Legend({ items }: { items: readonly LegendItem[] }) {
  return (
    <div class="legend">
      {items.map((i) => (
        <span key={i.label}>
          <Swatch color={i.color} /> {i.label}
        </span>
      ))}
    </div>
  );
}
