// The tape: the whole trace as one strip over every view. Brackets are the window; dragging sets it.
import { useEffect, useRef } from "preact/hooks";
import { isKnown, largest, self } from "../../base/aggregate.ts";
import { short } from "../../base/format.ts";
import { foldKernel } from "../../base/names.ts";
import { CATEGORIES } from "../../draw/patterns.tsx";
import { useWidth } from "../../draw/width.ts";
import { ask } from "../../model/answers.ts";
import { t } from "../../model/language.ts";
import { go, param, traceQuery, view, WHOLE_TRACE } from "../../model/route.ts";
import { dropSelection, type Selection, selection } from "../../model/selection.ts";
import {
  areCarried,
  numberedSteps,
  parseSteps,
  setSteps,
  setWindow,
  stepsInstead,
  type Tape,
  tape,
  tapeInView,
  windowRange,
} from "../../model/steps.ts";
import { themeVersion } from "../../model/theme.ts";
import { allRanks, analysis, currentRun, currentWorker, oneWorker, rowsOf } from "../../model/trace.ts";
import { hitMarks, panViewport, viewport } from "../../model/viewport.ts";
import { Icon } from "../../widgets/icons.tsx";
import { Menu, type MenuItem } from "../../widgets/menu.tsx";
import { openLayer } from "./overlays.ts";

export function TapeBar() {
  const whole = tape();
  const now = tapeInView();
  const range = now && windowRange(now);
  const lost = areCarried() && stepsInstead() !== undefined;
  useEffect(() => {
    if (lost) go({ params: { step: undefined } }, true);
  }, [lost]);
  if (!now || !range || !whole) return <div class="tape" aria-hidden="true" />;
  const cut = now.to - now.from < whole.to - whole.from;
  return (
    <section class="tape" aria-label={t("window")}>
      <StepMenu tape={now} />
      <TapeStrip tape={now} />
      <div class="tape-side">
        <div class="tape-length">
          {range.steps ? <b>{t("window_steps", { n: range.steps })}</b> : null}
          {range.steps ? " · " : ""}
          {short(range.to - range.from, "ns")}
          {cut ? ` · ${t("tape_cut", { time: short(whole.to - whole.from, "ns") })}` : null}
          {allRanks.value ? ` · ${t("tape_of", { worker: tapeName() })}` : null}
        </div>
        <SelectionChip />
      </div>
    </section>
  );
}

/** Whose trace the tape is of. */
const tapeName = (): string => {
  const w = currentWorker.value;
  return isKnown(w?.rank) ? t("rank_n", { n: w.rank }) : (w?.name ?? "");
};

function SelectionChip() {
  const chosen = selection.value;
  if (!chosen) return null;
  const name = nameOf(chosen);
  return (
    <span class="chip" title={name}>
      <span class="t3">{t(`sel_${chosen.kind}`)}</span> <code>{name}</code>
      {view.value === "timeline" ? null : (
        <button
          type="button"
          onClick={() => go({ view: "timeline" })}
          aria-label={t("show_selection")}
          title={t("show_selection")}
        >
          →
        </button>
      )}
      <button type="button" onClick={dropSelection} aria-label={t("drop_selection")} title={t("drop_selection")}>
        <Icon name="close" size={12} />
      </button>
    </span>
  );
}

/** A slice is known by its number; its name is asked for. */
function nameOf(chosen: Selection): string {
  if (chosen.kind !== "slice" && chosen.kind !== "instant") return foldKernel(chosen.name);
  const [id = "", rank] = chosen.name.split("@"); // of several ranks it says of which
  const owner = rank === undefined ? undefined : currentRun.value?.workers.find((w) => w.rank === Number(rank));
  const which = { ...(owner ? { worker: owner.name } : {}), ...(chosen.kind === "slice" ? { id } : { instant: id }) };
  const asked = ask<{ slice: { id: number; name: string } }>("chip", "slice", { ...traceQuery.value, ...which });
  const slice = asked.old ? undefined : asked.value?.slice;
  return slice ? foldKernel(slice.name) : id;
}

function StepMenu({ tape: now }: { tape: Tape }) {
  const numbers = Array.from(now.numbers);
  const chosen = param("step");
  const whole = t(numbers.length ? "all_steps" : "whole_trace");
  const items: MenuItem[] = [{ id: "all", label: whole, checked: !chosen && !param("from") }];
  if (numbers.length > 1) {
    items.push({ id: "slowest", label: t("slowest_step") }, { id: "later", label: t("without_first") });
    items.push({ id: "range", label: t("range"), checked: param("from") !== "" || chosen.includes("..") });
    numbers.slice(0, 200).forEach((n, i) => {
      const length = (now.ends[i] as number) - (now.starts[i] as number);
      items.push({
        id: String(n),
        label: t("step_n", { n }),
        detail: short(length, "ns"),
        checked: chosen === String(n),
        separator: i === 0,
      });
    });
  } else items.push({ id: "range", label: t("range"), checked: param("from") !== "" });
  const pick = (id: string) => {
    if (id === "range") openLayer("range");
    else if (id === "all") go({ params: WHOLE_TRACE });
    else if (id === "later") setSteps(numbers[1] as number, numbers[numbers.length - 1] as number);
    else if (id === "slowest") {
      const lengths = numbers.map((_, i) => (now.ends[i] as number) - (now.starts[i] as number));
      const n = numbers[lengths.indexOf(largest(lengths, self))] as number;
      setSteps(n, n);
    } else setSteps(Number(id), Number(id));
  };
  const range = parseSteps(chosen, now.numbers);
  const label = !range
    ? param("from")
      ? t("part")
      : whole
    : range[0] === range[1]
      ? t("step_n", { n: range[0] })
      : t("steps_range", { a: range[0], b: range[1] });
  return <Menu class="steps-menu" name={t("window")} label={label} items={items} onChoose={pick} filter={t("filter")} />;
}

function paint(canvas: HTMLCanvasElement, now: Tape, width: number, blocks: StepBlocks | undefined): void {
  const ratio = devicePixelRatio || 1;
  canvas.width = width * ratio;
  canvas.height = 15 * ratio;
  const g = canvas.getContext("2d");
  if (!g) return;
  g.scale(ratio, ratio);
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue(name);
  if (now.device.length === 0 && blocks) {
    paintSteps(g, now, width, blocks, color);
    return;
  }
  const row = (values: ArrayLike<number>, fill: string, y: number) => {
    g.fillStyle = fill;
    const w = width / now.width;
    for (let i = 0; i < values.length; i++) {
      const v = values[i] as number;
      if (v === 0) continue;
      g.globalAlpha = 0.25 + 0.75 * (v / 255);
      g.fillRect(i * w, y, w + 0.4, 7);
    }
    g.globalAlpha = 1;
  };
  row(now.device, color("--kernel"), 0);
  row(now.communication, color("--communication"), 0);
  row(now.host, color("--cpu_exec"), 8);
  row(now.data, color("--data_loader"), 8);
}

type StepBlocks = { step: number; parts: number[] }[];

function paintSteps(
  g: CanvasRenderingContext2D,
  now: Tape,
  width: number,
  blocks: StepBlocks,
  color: (n: string) => string,
): void {
  const x = (t: number) => ((t - now.from) / (now.to - now.from)) * width;
  for (const b of blocks) {
    const i = Array.from(now.numbers).indexOf(b.step);
    if (i < 0) continue;
    const [from, to] = [x(now.starts[i] as number), x(now.ends[i] as number)];
    const sum = b.parts.reduce((a, c) => a + c, 0) || 1;
    let at = from;
    b.parts.forEach((p, k) => {
      const w = (p / sum) * (to - from);
      g.fillStyle = k === CATEGORIES.length - 1 ? color("--line-strong") : color(`--${CATEGORIES[k]}`);
      g.fillRect(at, 0, w, 15);
      at += w;
    });
  }
}

function TapeStrip({ tape: now }: { tape: Tape }) {
  const [box, width] = useWidth(900);
  const canvas = useRef<HTMLCanvasElement>(null);
  const version = themeVersion.value;
  const asked = now.device.length === 0 ? analysis("overview", { ...oneWorker(), ...WHOLE_TRACE }, "tape-steps") : undefined;
  const steps = asked?.old ? undefined : asked?.value?.tables.steps; // those of another run have the same numbers
  useEffect(() => {
    const blocks = rowsOf(steps).map((r) => ({ step: r.step ?? 0, parts: CATEGORIES.map((c) => r[c] ?? 0) }));
    if (canvas.current) paint(canvas.current, now, width, blocks);
  }, [now.device, width, version, steps]);
  const range = windowRange(now);
  const x = (time: number) => ((time - now.from) / (now.to - now.from)) * width;
  const drag = useTapeDrag(now, width, range);
  // A view of everything needs no box.
  const seen = viewport.value;
  const show = seen && seen.to - seen.from < (now.to - now.from) * 0.98 ? seen : undefined;
  const chosenSteps = parseSteps(param("step"), now.numbers);
  const numbered = numberedSteps(now.numbers, (i) => x(now.starts[i] as number), 34);
  // A number that would be outside is left out, unless it is the only one.
  for (const i of numbered)
    if (numbered.size > 1 && x(now.starts[i] as number) + 4 + 7 * String(now.numbers[i]).length > width) numbered.delete(i);
  // One tab stop for all steps: the first chosen one that has a number, arrows go along.
  const shown = Array.from(now.numbers).filter((_, i) => numbered.has(i));
  const stop = shown.find((n) => chosenSteps && n >= chosenSteps[0]) ?? shown[0];
  return (
    <div
      class="tape-strip"
      ref={box}
      onPointerDown={drag}
      onDblClick={() => setWindow(undefined)}
      role="group"
      aria-label={t("tape")}
    >
      {Array.from(now.numbers, (n, i) =>
        numbered.has(i) ? (
          <button
            type="button"
            key={n}
            class="tape-step"
            style={{ left: `${x(now.starts[i] as number)}px` }}
            aria-label={t("step_n", { n })}
            aria-pressed={chosenSteps !== undefined && n >= chosenSteps[0] && n <= chosenSteps[1]}
            tabIndex={n === stop ? 0 : -1}
            onKeyDown={alongSteps}
            onClick={(e) => {
              const chosen = parseSteps(param("step"), now.numbers);
              if (e.shiftKey && chosen) setSteps(Math.min(chosen[0], n), Math.max(chosen[1], n));
              else setSteps(n, n);
            }}
          >
            {n}
          </button>
        ) : null,
      )}
      <canvas ref={canvas} style={{ width: `${width}px` }} aria-hidden="true" />
      <i class="dim" style={{ left: "0", width: `${x(range.from)}px` }} />
      <i class="dim" style={{ left: `${x(range.to)}px`, right: "0" }} />
      <i class="bracket left" style={{ left: `${x(range.from)}px` }} />
      <i class="bracket right" style={{ left: `${x(range.to) - 4}px` }} />
      {hitMarks.value.map((h) => (
        <i key={h} class="hit" style={{ left: `${x(h)}px` }} />
      ))}
      {show ? <ViewportBox left={x(show.from)} right={x(show.to)} width={width} /> : null}
    </div>
  );
}

/** What the timeline shows; its part beyond the tape is cut. */
function ViewportBox({ left, right, width }: { left: number; right: number; width: number }) {
  const from = Math.max(-3, Math.min(width, left));
  const to = Math.min(width + 3, Math.max(0, right));
  return <i class="viewport-box" style={{ left: `${from}px`, width: `${Math.max(3, to - from)}px` }} />;
}

function alongSteps(e: KeyboardEvent): void {
  const by = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
  if (!by || e.altKey) return;
  e.preventDefault();
  e.stopPropagation();
  const all = [...((e.currentTarget as Element).parentElement?.querySelectorAll<HTMLElement>(".tape-step") ?? [])];
  all[all.indexOf(e.currentTarget as HTMLElement) + by]?.focus();
}

/** Drag on the ground sets the window, on an edge moves it, on the viewport box pans the timeline. */
function useTapeDrag(now: Tape, width: number, range: { from: number; to: number }) {
  return (down: PointerEvent) => {
    const strip = down.currentTarget as HTMLElement;
    if (down.button !== 0 || (down.target as Element).closest("button")) return;
    const left = strip.getBoundingClientRect().left;
    const time = (e: PointerEvent) => now.from + (Math.min(width, Math.max(0, e.clientX - left)) / width) * (now.to - now.from);
    const start = time(down);
    const near = (t: number) => Math.abs(start - t) < ((now.to - now.from) / width) * 6;
    const box = viewport.peek();
    const pan = panViewport.peek();
    const panning = box && pan && start >= box.from && start <= box.to;
    const anchor = near(range.from) ? range.to : near(range.to) ? range.from : start;
    let moved = false;
    let begun = false;
    const move = (e: PointerEvent) => {
      if (!moved && Math.abs(e.clientX - down.clientX) < 4) return;
      moved = true;
      const at = time(e);
      if (panning) pan({ from: box.from + at - start, to: box.to + at - start });
      else {
        setWindowBetween(anchor, at, begun); // one entry in the history for one drag
        begun = true;
      }
    };
    const up = () => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", up);
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", up);
  };
}

function setWindowBetween(a: number, b: number, quiet: boolean): void {
  const [from, to] = [Math.round(Math.min(a, b)), Math.round(Math.max(a, b))];
  if (to > from) go({ params: { step: undefined, from: String(from), to: String(to) } }, quiet);
}
