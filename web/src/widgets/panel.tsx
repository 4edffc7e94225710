// A panel: title (the noun), gray words (unit, how to use it), controls, and a menu to take it along.
// The words wait for the data: no unit is known before.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { savePng, saveSvg } from "../base/save.ts";
import { Definition, tip } from "../base/tip.tsx";
import { Icon } from "./icons.tsx";
import { Menu, type MenuItem } from "./menu.tsx";

interface ShownError {
  code?: string;
  msg: string;
  offset: number | null;
}

interface PanelWords {
  menu: string;
  rests: string;
  copy: string;
  tryAgain: string;
  copyDetails: string;
  failed: string;
}

/** Set once by the shell; widgets do not know the language. */
export const panelWords: { current: PanelWords } = {
  current: { menu: "", rests: "", copy: "", tryAgain: "", copyDetails: "", failed: "" },
};
export const panelActions: { rests: () => void; tryAgain: () => void } = { rests: () => {}, tryAgain: () => {} };

/** The registry's words for something shown, and the column they belong to. */
export interface Defined {
  help?: string | undefined;
  path?: string | undefined;
}

interface PanelProps {
  name: string; // spoken, and the name of saved files
  title?: ComponentChildren; // when it is more than the name
  words?: ComponentChildren;
  define?: Defined | undefined; // what the title means
  controls?: ComponentChildren;
  csv?: string | undefined; // address of the table as CSV
  span?: string; // class of the grid
  asked?: { value: unknown; old: boolean; error: ShownError | undefined }; // the answer it shows
  busy?: boolean; // nothing to show yet, although there may be an answer
  height?: number; // of the body while busy
  figure?: string | undefined; // the sentence that replaces the picture
  children?: ComponentChildren;
}

export function Panel(props: PanelProps) {
  const box = useRef<HTMLElement>(null);
  const { asked, title = props.name } = props;
  const busy = props.busy ?? (asked !== undefined && asked.value === undefined);
  // While the server is unreachable the last numbers stay; the bar above the page says how old they are.
  const error = asked?.error?.code === "lost" && asked.value !== undefined ? undefined : asked?.error;
  const choose = (id: string) => {
    if (id === "svg" && box.current) saveSvg(box.current, props.name);
    if (id === "png" && box.current) void savePng(box.current, props.name);
    // biome-ignore lint/performance/useDomNodeTextContent: lines and cells stay apart
    if (id === "copy") void navigator.clipboard?.writeText(box.current?.innerText ?? "");
    if (id === "rests") panelActions.rests();
  };
  const items: MenuItem[] = [
    ...(props.csv ? [{ id: "csv", label: "CSV", href: props.csv }] : []),
    { id: "png", label: "PNG" },
    { id: "svg", label: "SVG" },
    { id: "copy", label: panelWords.current.copy },
    { id: "rests", label: panelWords.current.rests, separator: true },
  ];
  return (
    <section class={`panel ${props.span ?? "w12"}`} ref={box} aria-label={props.name} aria-busy={busy && !error}>
      <header class="panel-head">
        <h2>
          {props.define?.help ? (
            <span class="defined" tabIndex={0} {...tip(<Definition title={props.name} {...props.define} />)}>
              {title}
            </span>
          ) : (
            title
          )}
        </h2>
        {props.words && !busy ? <Words words={props.words} /> : null}
        <span class="grow" />
        {props.controls}
        <Menu
          class="panel-menu"
          bare
          right
          name={`${panelWords.current.menu} ${props.name}`}
          label={<Icon name="dots" />}
          items={items}
          onChoose={choose}
        />
      </header>
      {error ? (
        <Failure error={error} />
      ) : busy ? (
        <Waiting height={props.height ?? 120} />
      ) : (
        <div
          class={asked?.old ? "panel-body old" : "panel-body"}
          {...(props.figure ? { role: "figure", "aria-label": props.figure } : {})}
        >
          {props.children}
        </div>
      )}
    </section>
  );
}

const HINT = /(?: · )?\[\[(.*?)\]\]/;

/** What the panel shows and in which unit. `[[how to use it]]` is left out where there is little room, and on paper. */
function Words({ words }: { words: ComponentChildren }) {
  const hint = typeof words === "string" ? HINT.exec(words) : null;
  if (!hint || typeof words !== "string") return <span class="panel-words">{words}</span>;
  const rest = words.replace(HINT, "").replace(/^ · /, "");
  return (
    <span class="panel-words" title={hint[1]}>
      {rest}
      <span class="hint">
        {rest ? " · " : ""}
        {hint[1]}
      </span>
    </span>
  );
}

/** Gray bars of the final height, after 150 ms. */
export function Waiting({ height }: { height: number }) {
  const n = Math.max(1, Math.floor(height / 26));
  return (
    <div class="waiting" style={{ height: `${height}px` }} aria-hidden="true">
      {Array.from({ length: n }, (_, i) => (
        <i key={i} style={{ width: `${90 - ((i * 37) % 50)}%` }} />
      ))}
    </div>
  );
}

const failures = new Set<() => void>(); // each looks again when one comes or goes

/** Whether a panel further up says the same. */
function useSaidAbove(msg: string) {
  const own = useRef<HTMLDivElement>(null);
  const [said, setSaid] = useState(false);
  useLayoutEffect(() => {
    const look = () => {
      const all = [...document.querySelectorAll<HTMLElement>(".failure")];
      setSaid(all.find((e) => e.dataset.msg === msg) !== own.current);
    };
    failures.add(look);
    for (const f of failures) f();
    return () => {
      failures.delete(look);
      for (const f of failures) f();
    };
  }, [msg]);
  return { own, said };
}

/** What failed, where, and what can be done: local to its panel; an error of all of them is shown
 * once. */
export function Failure({ error }: { error: ShownError }) {
  const words = panelWords.current;
  const { own, said } = useSaidAbove(error.msg);
  const isLost = error.code === "lost"; // the server is unreachable: nothing is wrong with this panel
  // Nothing failed and trying again does not help: a report has what it has.
  if (error.code === "not_in_report") return <p class="not-inside">{error.msg}</p>;
  if (said)
    return (
      <div class="failure t3" ref={own} data-msg={error.msg}>
        {isLost ? error.msg : words.failed}
      </div>
    );
  return (
    <div class="failure" role="alert" ref={own} data-msg={error.msg}>
      <p>
        {isLost ? null : <b>{words.failed} </b>}
        {error.msg}
        {error.offset === null || error.offset === undefined ? null : (
          <span class="t3"> · {error.offset.toLocaleString("en")} B</span>
        )}
      </p>
      <button type="button" class="button" onClick={() => panelActions.tryAgain()}>
        {words.tryAgain}
      </button>
      {isLost ? null : (
        <button type="button" class="button" onClick={() => void navigator.clipboard?.writeText(JSON.stringify(error, null, 1))}>
          {words.copyDetails}
        </button>
      )}
    </div>
  );
}
