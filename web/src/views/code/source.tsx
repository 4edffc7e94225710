// The source of a file with what its lines cost. Only the rows in view exist, so a file of any length scrolls; the
// hottest lines have a mark next to the scroll bar.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { short } from "../../base/format.ts";
import { linesOf, plainTokens, type Token, tokensOf } from "../../base/highlight.ts";
import { Definition, tip } from "../../base/tip.tsx";
import { baseName, chooseLine, type Heat, type Line } from "../../model/code.ts";
import { type CodeColumn, cellShare, cellText } from "./columns.ts";

const ROW = 20; // px
const BEYOND = 12; // rows above and below what is in view

export interface SourceProps {
  file: string;
  text: string;
  lines: ReadonlyMap<number, Line>; // of this file
  columns: readonly CodeColumn[];
  chosen: number | undefined;
  hot: readonly Line[]; // of all files, the hottest first
  heat: Heat;
  words: string; // that are searched for
  onShow: (line: Line) => void;
}

/** The lines of a text that have the words, by number. */
export function matchesIn(lines: readonly string[], words: string): number[] {
  const wanted = words.toLowerCase();
  return wanted ? lines.flatMap((text, i) => (text.toLowerCase().includes(wanted) ? [i + 1] : [])) : [];
}

/** The hot line after or before the chosen one, in the order of their heat; round at the ends. */
export function nextHot(hot: readonly Line[], file: string, line: number | undefined, by: 1 | -1): Line | undefined {
  const at = hot.findIndex((l) => l.file === file && l.line === line);
  if (at < 0) return hot[0];
  return hot[(at + by + hot.length) % hot.length];
}

export function SourceText(props: SourceProps) {
  const { file, text, chosen } = props;
  const lines = useMemo(() => linesOf(text), [text]);
  const parts = useMemo(() => (/\.pyi?$/.test(file) ? tokensOf(lines) : plainTokens(lines)), [lines, file]);
  const found = useMemo(() => new Set(matchesIn(lines, props.words)), [lines, props.words]);
  const longest = useMemo(() => lines.reduce((most, l) => Math.max(most, l.length), 0), [lines]);
  const box = useRef<HTMLDivElement>(null);
  const view = useRows(box, lines.length);
  useLineInView(box, chosen, file);
  const grid = { "--code-columns": props.columns.length, minWidth: `calc(${longest + 2}ch + var(--code-left))` };
  return (
    <div class="code-frame">
      <div
        class="code-scroll"
        ref={box}
        role="listbox"
        tabIndex={0}
        aria-label={baseName(file)}
        aria-activedescendant={chosen && view.has(chosen) ? `code-${chosen}` : undefined}
        onScroll={view.follow}
        onKeyDown={(e) => onKey(e, props, lines.length)}
      >
        <div class="code-page" style={grid}>
          <Head columns={props.columns} />
          <div role="presentation" style={{ height: `${lines.length * ROW}px`, paddingTop: `${view.first * ROW}px` }}>
            {parts.slice(view.first, view.last).map((tokens, i) => {
              const n = view.first + i + 1;
              return <CodeRow key={n} n={n} tokens={tokens} {...props} found={found.has(n)} />;
            })}
          </div>
        </div>
      </div>
      <Marks {...props} total={lines.length} found={found} box={box} />
    </div>
  );
}

/** Which rows exist: those in view and some beyond. */
function useRows(box: { current: HTMLDivElement | null }, total: number) {
  const [at, setAt] = useState({ top: 0, height: 600 });
  const follow = () => {
    const el = box.current;
    if (el) setAt({ top: el.scrollTop, height: el.clientHeight });
  };
  useLayoutEffect(() => {
    follow();
    const watch = new ResizeObserver(follow);
    if (box.current) watch.observe(box.current);
    return () => watch.disconnect();
  }, [total]);
  const first = Math.max(0, Math.min(total, Math.floor(at.top / ROW)) - BEYOND);
  const last = Math.min(total, Math.ceil((at.top + at.height) / ROW) + BEYOND);
  return { first, last, follow, has: (n: number) => n > first && n <= last };
}

/** Scrolls the chosen line into view: to the middle in another file, as little as possible in the same one. */
function useLineInView(box: { current: HTMLDivElement | null }, line: number | undefined, file: string): void {
  const shown = useRef("");
  useEffect(() => {
    const el = box.current;
    if (!el || line === undefined) return;
    const head = el.querySelector<HTMLElement>(".code-head")?.offsetHeight ?? 0;
    const top = (line - 1) * ROW;
    const room = el.clientHeight - head;
    if (shown.current !== file || top < el.scrollTop - room || top > el.scrollTop + 2 * room) el.scrollTop = top - room / 2;
    else if (top < el.scrollTop) el.scrollTop = top;
    else if (top + 2 * ROW > el.scrollTop + room) el.scrollTop = top + 2 * ROW - room;
    shown.current = file;
  }, [line, file]);
}

function onKey(e: KeyboardEvent, props: SourceProps, total: number): void {
  const now = props.chosen ?? 1;
  const page = Math.max(1, Math.floor(((e.currentTarget as HTMLElement).clientHeight - ROW) / ROW) - 2);
  const moves: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -total, End: total };
  const by = moves[e.key];
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (by !== undefined) chooseLine(props.file, Math.min(total, Math.max(1, now + by)), true);
  else if (e.key === "n" || e.key === "N") {
    const next = nextHot(props.hot, props.file, props.chosen, e.key === "n" ? 1 : -1);
    if (next?.file && next.line) chooseLine(next.file, next.line, true);
  } else if (e.key === "Enter") {
    const line = props.lines.get(now);
    if (line) props.onShow(line);
  } else return;
  e.preventDefault();
  e.stopPropagation();
}

const Head = ({ columns }: { columns: readonly CodeColumn[] }) => (
  <div class="code-row code-head" aria-hidden="true">
    <span class="code-left">
      {columns.map((column) => (
        <span key={column.id} class={`code-cell code-${column.id}`}>
          <span class="defined" {...tip(<Definition title={`${column.title}, ${column.scale.unit}`} help={column.help} />)}>
            {column.title}
          </span>
        </span>
      ))}
      <span class="code-number" />
    </span>
  </div>
);

interface RowProps extends SourceProps {
  n: number;
  tokens: readonly Token[];
  found: boolean;
}

function CodeRow({ n, tokens, found, ...props }: RowProps) {
  const line = props.lines.get(n);
  const isHot = line !== undefined && props.hot.some((l) => l.file === props.file && l.line === n);
  const isChosen = n === props.chosen;
  const words = `code-row ${isHot ? "hot" : ""} ${isChosen ? "chosen" : ""} ${found ? "found" : ""}`;
  const pick = (e: MouseEvent) => {
    (e.currentTarget as HTMLElement).closest<HTMLElement>(".code-scroll")?.focus({ preventScroll: true }); // it has the keys
    chooseLine(props.file, n);
  };
  return (
    <div class={words} role="option" tabIndex={-1} id={`code-${n}`} aria-selected={isChosen} onClick={pick}>
      <span class="code-left" {...(line ? tip(<LineCard line={line} columns={props.columns} />) : {})}>
        {props.columns.map((column) => (
          <Cell key={column.id} column={column} line={line} />
        ))}
        <span class="code-number">{n}</span>
      </span>
      <code class="code-text">
        {tokens.map((p, i) =>
          p.ink === "plain" ? (
            p.text
          ) : (
            <span key={i} class={`ink-${p.ink}`}>
              {p.text}
            </span>
          ),
        )}
      </code>
    </div>
  );
}

const Cell = ({ column, line }: { column: CodeColumn; line: Line | undefined }) => {
  const text = cellText(column, line);
  return (
    <span class={`code-cell code-${column.id}`}>
      {text ? (
        <>
          <i style={{ width: `${Math.max(2, cellShare(column, line) * 100)}%`, background: column.fill }} />
          <b>{text}</b>
        </>
      ) : null}
    </span>
  );
};

/** What the numbers of a line are, with their units. */
const LineCard = ({ line, columns }: { line: Line; columns: readonly CodeColumn[] }) => (
  <>
    <b>
      {baseName(line.file ?? "")}:{line.line} {line.function}
    </b>
    {columns.map((column) => (
      <p key={column.id}>
        {short(column.of(line), column.id === "memory" ? "bytes" : "ns")} {column.title}: {column.help}
      </p>
    ))}
  </>
);

interface MarksProps extends SourceProps {
  total: number;
  found: ReadonlySet<number>;
  box: { current: HTMLDivElement | null };
}

/** The whole file next to the scroll bar: hot lines, what was found, the chosen one. */
function Marks({ file, hot, heat, total, found, chosen, box }: MarksProps) {
  const own = hot.filter((l) => l.file === file && l.line);
  const most = own[0]?.[heat] ?? 1;
  const at = (n: number) => `${((n - 0.5) / Math.max(1, total)) * 100}%`;
  const go = (e: MouseEvent) => {
    const area = (e.currentTarget as HTMLElement).getBoundingClientRect();
    if (box.current) box.current.scrollTop = ((e.clientY - area.top) / area.height) * total * ROW - box.current.clientHeight / 2;
  };
  return (
    <div class="code-marks" aria-hidden="true" onClick={go}>
      {[...found].slice(0, 500).map((n) => (
        <i key={`f${n}`} class="found" style={{ top: at(n) }} />
      ))}
      {own.map((l) => (
        <i key={l.line} style={{ top: at(l.line ?? 0), opacity: 0.35 + (0.65 * (l[heat] ?? 0)) / (most || 1) }} />
      ))}
      {chosen ? <i class="now" style={{ top: at(chosen) }} /> : null}
    </div>
  );
}
