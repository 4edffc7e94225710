// What if: sliders and switches, and how long a step would be then. The scenario is in the address; the server replays
// it while a slider moves.
import { useEffect, useRef, useState } from "preact/hooks";
import { isKnown, type Maybe } from "../../base/aggregate.ts";
import { exact, percent, short } from "../../base/format.ts";
import { shownName } from "../../base/names.ts";
import { type AskedFor, csvUrl, rowsOf } from "../../model/trace.ts";
import {
  type Candidate,
  candidatesOf,
  changeOf,
  isChanged,
  kindFill,
  kindWord,
  MULTIPLES,
  type Multiple,
  multipleNow,
  type Replayed,
  replayedOf,
  resetScenario,
  SWITCHES,
  scalesNow,
  setMultiple,
  setScale,
  switchesNow,
  toggleSwitch,
  w,
  wOr,
} from "../../model/why.ts";
import { Swatch } from "../../widgets/controls.tsx";
import { LongName } from "../../widgets/long-name.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { defined } from "../shared/table-source.ts";

const DELAY = 120; // ms a slider rests before the server is asked

interface Props {
  critical: AskedFor<"critical">;
  asked: AskedFor<"whatif">;
}

export function WhatIf({ critical, asked }: Props) {
  const scales = scalesNow();
  const on = switchesNow();
  const found = replayedOf(rowsOf(asked.value?.tables.whatif));
  const changed = isChanged();
  const candidates = candidatesOf(rowsOf(critical.value?.tables.by_name), scales);
  const linked = rowsOf(critical.value?.tables.by_kind).some((r) => r.kind === "communication");
  const multiples = MULTIPLES.filter((m) => m !== "network" || linked || multipleNow(m) !== 1);
  const notes = (asked.value?.quality.notes ?? []).filter((n): n is string => typeof n === "string");
  return (
    <Panel
      name={w("what_if")}
      words={w("what_if_words")}
      define={defined(asked.value, "whatif", "step_after")}
      csv={csvUrl("whatif", "whatif")}
      asked={{ ...asked, error: undefined, value: asked.value ?? asked.error }}
      height={300}
      span="why-whatif"
      controls={
        changed ? (
          <button type="button" class="button" onClick={resetScenario}>
            {w("reset")}
          </button>
        ) : null
      }
    >
      <Result found={found} changed={changed} error={asked.error?.msg} />
      <div class="why-switches" role="group" aria-label={w("switches")}>
        <span class="t3">{w("switches")}</span>
        {SWITCHES.map((s) => (
          <button
            type="button"
            key={s}
            class="button why-switch"
            title={wOr(`${s}_help`, "")}
            aria-pressed={on.includes(s)}
            onClick={() => toggleSwitch(s)}
          >
            {w(s)}
            {on.includes(s) ? <Effect found={found} change={s} /> : null}
          </button>
        ))}
      </div>
      <div class="why-scales">
        <div class="why-scale why-scale-head">
          <span>{w("candidate")}</span>
          <span>{w("on_path_time")}</span>
          <span />
          <span />
          <span title={w("alone_help")}>{w("alone")}</span>
        </div>
        {candidates.map((c) => (
          <Scale key={c.id} candidate={c} factor={scales.get(c.id) ?? 1} found={found} change={changeOf(c.id, scales)} />
        ))}
        {multiples.map((m) => (
          <Times key={m} which={m} found={found} />
        ))}
      </div>
      {notes.length ? (
        <div class="pad why-notes">
          {notes.map((n) => (
            <p key={n}>{n}</p>
          ))}
        </div>
      ) : null}
    </Panel>
  );
}

/** How a length differs from the recorded one, in words. */
function differenceOf(before: Maybe, after: Maybe): string {
  if (!isKnown(before) || !isKnown(after)) return "";
  const by = before - after;
  if (Math.abs(by) < before * 0.0005) return w("same");
  const v = `${short(Math.abs(by), "ns")} (${percent(Math.abs(by) / before)})`;
  return w(by > 0 ? "saves" : "longer", { v });
}

/** The step as recorded and with all changes, as two bars on one scale. */
function Result({ found, changed, error }: { found: Replayed; changed: boolean; error: string | undefined }) {
  if (error)
    return (
      <p class="pad why-error" role="alert">
        {error}
      </p>
    );
  const { recorded, together, least, most } = found;
  const after = changed ? together : null;
  const longest = Math.max(recorded ?? 0, after ?? 0, (changed && most) || 0) || 1;
  const range = changed && isKnown(least) && isKnown(most) ? { least, most } : undefined;
  const between = range ? w("between", { a: short(range.least, "ns"), b: short(range.most, "ns") }) : "";
  return (
    <div
      class="why-result pad"
      role="img"
      aria-label={`${w("result_label", { a: short(recorded, "ns"), b: short(after ?? recorded, "ns") })}${between ? `, ${between}` : ""}`}
    >
      <Bar label={w("recorded")} value={recorded} longest={longest} fill="var(--other)" />
      <Bar label={w("together")} value={after} longest={longest} fill="var(--t2)" range={range} />
      <p class="why-answer" data-after={after ?? ""}>
        {isKnown(after) ? (
          <>
            <b title={exact(after, "ns")}>{short(after, "ns")}</b> <span>{differenceOf(recorded, after)}</span>
            {range ? (
              <span class="t3" data-least={range.least} data-most={range.most}>
                {" · "}
                {between}
              </span>
            ) : null}
          </>
        ) : (
          <span class="t3">{w("choose")}</span>
        )}
      </p>
    </div>
  );
}

interface BarProps {
  label: string;
  value: Maybe;
  longest: number;
  fill: string;
  range?: { least: number; most: number } | undefined; // drawn as a line with two ends
}

function Bar({ label, value, longest, fill, range }: BarProps) {
  const at = (v: number) => `${(v / longest) * 100}%`;
  return (
    <>
      <span class="t2">{label}</span>
      <svg width="100%" height="12" aria-hidden="true">
        <rect width="100%" height="12" rx="2" fill="var(--track)" />
        {isKnown(value) ? <rect width={at(value)} height="12" rx="2" fill={fill} /> : null}
        {range
          ? [4, 2].map((width) => (
              <g key={width} stroke={width > 2 ? "var(--surface)" : "var(--accent)"} stroke-width={width}>
                <line x1={at(range.least)} x2={at(range.most)} y1="6" y2="6" />
                <line x1={at(range.least)} x2={at(range.least)} y1="1" y2="11" />
                <line x1={at(range.most)} x2={at(range.most)} y1="1" y2="11" />
              </g>
            ))
          : null}
      </svg>
      <span class="why-number">{short(value, "ns")}</span>
    </>
  );
}

/** The step with one change alone: a small bar, and what it saves. */
function Effect({ found, change }: { found: Replayed; change: string }) {
  const row = found.alone.get(change);
  const before = row?.step_before;
  if (!row || !isKnown(row.step_after) || !isKnown(before)) return null;
  const by = row.step_after - before;
  const text = `${by > 0 ? "+" : "−"}${short(Math.abs(by), "ns")}`;
  return (
    <span
      class="why-effect"
      data-after={row.step_after}
      title={`${exact(row.step_after, "ns")} · ${differenceOf(before, row.step_after)}`}
    >
      <svg width="46" height="6" aria-hidden="true">
        <rect width="46" height="6" rx="3" fill="var(--track)" />
        <rect width={Math.min(46, (row.step_after / before) * 46)} height="6" rx="3" fill="var(--t2)" />
      </svg>
      {Math.abs(by) < before * 0.0005 ? "±0" : text}
    </span>
  );
}

/** While a slider moves its value is a draft; when it rests the server is asked, and `write` learns of
 * it. */
function useDraft(write: (value: number, quiet: boolean) => void) {
  const [draft, setDraft] = useState<number | undefined>(undefined);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const settle = (value: number) => {
    clearTimeout(timer.current);
    write(value, false);
    setDraft(undefined);
  };
  const move = (value: number) => {
    setDraft(value);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => write(value, true), DELAY);
  };
  return { draft, settle, move };
}

const MOST_POWER = 3; // of two, either way: 1 is in the middle

/** A batch or a network larger or faster by a factor, in powers of two. */
function Times({ which, found }: { which: Multiple; found: Replayed }) {
  const factor = multipleNow(which);
  const { draft, settle, move } = useDraft((power, quiet) => setMultiple(which, 2 ** power, quiet));
  const now = draft === undefined ? factor : 2 ** draft;
  const value = (e: { currentTarget: HTMLInputElement }) => Number(e.currentTarget.value);
  return (
    <div class={now === 1 ? "why-scale" : "why-scale why-scaled"}>
      <span title={w(`${which}_help`)}>{w(which)}</span>
      <span />
      <input
        type="range"
        min={-MOST_POWER}
        max={MOST_POWER}
        step="1"
        value={Math.log2(now)}
        aria-label={w(which)}
        aria-valuetext={`${now} ×`}
        onInput={(e) => move(value(e))}
        onChange={(e) => settle(value(e))}
        onDblClick={() => settle(0)}
      />
      <span class="why-factor">{`${now} ×`}</span>
      <span class="why-alone">{factor === 1 ? null : <Effect found={found} change={`${which} ${factor}`} />}</span>
    </div>
  );
}

interface ScaleProps {
  candidate: Candidate;
  factor: number;
  found: Replayed;
  change: string;
}

function Scale({ candidate: c, factor, found, change }: ScaleProps) {
  const { draft, settle, move } = useDraft((value, quiet) => setScale(c.id, value, quiet));
  const now = draft ?? factor;
  return (
    <div class={now === 1 ? "why-scale" : "why-scale why-scaled"}>
      <span class="why-name" title={`${kindWord(c.kind)}: ${c.name}`}>
        <Swatch color={kindFill(c.kind)} /> <LongName text={shownName(c.name)} />
      </span>
      <span class="why-number">{c.ns > 0 ? short(c.ns, "ns") : "–"}</span>
      <input
        type="range"
        min="0"
        max="2"
        step="0.05"
        value={now}
        aria-label={w("scale_label", { name: c.name })}
        aria-valuetext={now === 0 ? w("removed") : `${now} ×`}
        onInput={(e) => move(Number(e.currentTarget.value))}
        onChange={(e) => settle(Number(e.currentTarget.value))}
        onDblClick={() => settle(1)}
      />
      <span class="why-factor">{now === 0 ? w("removed") : `${now.toFixed(2)} ×`}</span>
      <span class="why-alone">{factor === 1 ? null : <Effect found={found} change={change} />}</span>
    </div>
  );
}
