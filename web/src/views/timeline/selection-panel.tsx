// The selection in three columns: what it is, why it ran, how it compares with similar ones.
import { type ComponentChildren, Fragment } from "preact";
import { isKnown, largest, self } from "../../base/aggregate.ts";
import { exact, short, thousands } from "../../base/format.ts";
import { parseFrame } from "../../base/frames.ts";
import { tokenOfKind } from "../../draw/timeline/colors.ts";
import type { Ref } from "../../draw/timeline/tracks.ts";
import { type Key, t } from "../../model/language.ts";
import { goToHit, search } from "../../model/timeline/search.ts";
import { askDetail, chosen, detail, setTab } from "../../model/timeline/state.ts";
import type { Same, SliceAnswer } from "../../model/timeline/types.ts";
import { EditorMenu, FrameLink, Frames } from "../shared/stack-frames.tsx";
import { InView } from "./in-view.tsx";
import { deviceWord, Jump, whereIs } from "./lane-links.tsx";

export function SelectionPanel() {
  const c = chosen.value;
  if (!c) return <InView />;
  const { error } = askDetail(c);
  const d = detail.value;
  if (error && !d) return <p class="tl-none">{error.msg}</p>;
  if (!d) return <p class="tl-none" aria-busy="true">{`${c.name}  ${short(c.duration, "ns")}`}</p>;
  return (
    <div class="tl-three">
      <Facts d={d} />
      <Why d={d} />
      <Compare d={d} />
    </div>
  );
}

const SHOWN =
  /^(grid|block|registers per thread|shared memory|stream|device|context|correlation|External id|est\. achieved occupancy %|Ev Idx)$/;

function Facts({ d }: { d: SliceAnswer }) {
  const s = d.slice;
  const rest = Object.entries(d.arguments ?? {}).filter(([k]) => !(d.kernel && SHOWN.test(k)));
  return (
    <div class="tl-facts">
      <h2 class="tl-what">
        <i style={{ background: `var(--${tokenOfKind(s.kind)})` }} />
        <code title={s.name}>{s.name}</code>
      </h2>
      <FactList facts={[...sliceFacts(d), ...kernelFacts(d), ...opFacts(d.op), ...otherFacts(d)]} />
      {rest.length ? (
        <>
          <h3>{t("tl_arguments")}</h3>
          <FactList class="tl-arguments" facts={rest.map(([k, v]) => [k, <code key={k}>{text(v)}</code>])} />
        </>
      ) : null}
    </div>
  );
}

/** A name and what is known under it; without a value it is left out. */
type Fact = readonly [name: string, value: ComponentChildren];

function FactList({ facts, class: name = "" }: { facts: readonly Fact[]; class?: string }) {
  return (
    <dl class={name}>
      {facts.map(([k, value]) =>
        value ? (
          <Fragment key={k}>
            <dt>{k}</dt>
            <dd>{value}</dd>
          </Fragment>
        ) : null,
      )}
    </dl>
  );
}

const code = (words: string | undefined) => (words ? <code>{words}</code> : undefined);

function sliceFacts(d: SliceAnswer): Fact[] {
  const s = d.slice;
  const time = (
    <>
      <b title={exact(s.duration, "ns")}>{long(s.duration)}</b> {t("tl_at", { time: long(s.start) })}
      {s.step ? ` · ${t("tl_step_offset", { n: s.step.number, time: long(s.step.offset) })}` : ""}
    </>
  );
  return [
    [t(KIND_WORDS[s.kind] ?? "tl_kind_other"), time],
    [t("tl_self"), s.self !== undefined && s.self !== s.duration ? long(s.self) : undefined],
    [d.kernel ? t("tl_stream_word") : t("tl_track"), placeOf(d)],
  ];
}

function otherFacts(d: SliceAnswer): Fact[] {
  const doubt = (f: string) => (`tl_flag_${f}` in FLAGS ? t(`tl_flag_${f}` as Key) : f);
  return [
    [t("tl_kernels"), d.n_kernels ? `${thousands(d.n_kernels)} · ${short(d.kernel_time, "ns")}` : undefined],
    [t("tl_module"), d.module?.name],
    [t("tl_doubt"), d.slice.flags?.map(doubt).join(" · ")],
    ...Object.entries(d.collective ?? {}).map(([k, v]): Fact => [k, <span key={k}>{text(v)}</span>]),
  ];
}

const FLAGS = { tl_flag_unfinished: 1, tl_flag_clock_suspect: 1, tl_flag_synthetic: 1, tl_flag_overlaps: 1 };

const KIND_WORDS: Record<string, Key> = {
  kernel: "tl_kind_kernel",
  memcpy: "tl_kind_memcpy",
  memset: "tl_kind_memset",
  op: "tl_kind_op",
  runtime: "tl_kind_runtime",
  driver: "tl_kind_runtime",
  python: "tl_kind_python",
  module: "tl_module",
  step: "tl_kind_step",
  collective: "tl_kind_collective",
  data_loading: "tl_kind_data_loading",
  annotation: "tl_kind_annotation",
  backward: "tl_kind_backward",
  forward: "tl_kind_forward",
  optimizer: "tl_kind_optimizer",
};

const list = (v: unknown, sign: string) => (Array.isArray(v) ? v.join(sign) : text(v));
const text = (v: unknown): string => (typeof v === "string" ? v : v === null || v === undefined ? "–" : JSON.stringify(v));
/** Five digits: a selection is looked at closely. */
function long(ns: number): string {
  if (ns < 1000) return `${Math.round(ns)} ns`;
  const [f, u] = ns < 1e6 ? [1e3, "µs"] : ns < 1e9 ? [1e6, "ms"] : [1e9, "s"];
  return `${(ns / (f as number)).toFixed(3).replace(/\B(?<!\.\d*)(?=(\d{3})+(?!\d))/g, ",")} ${u}`;
}

function placeOf(d: SliceAnswer): string {
  const { track, process } = d.slice;
  const lane = whereIs(d.slice.lane);
  if (d.kernel)
    return `${deviceWord(d.slice.lane)} ${d.kernel.device ?? track?.device ?? 0} · ${lane}${d.kernel.context === undefined ? "" : ` · ${t("tl_context", { n: String(d.kernel.context) })}`}`;
  return [process?.name, lane || track?.name].filter(Boolean).join(" · ");
}

function kernelFacts(d: SliceAnswer): Fact[] {
  const k = d.kernel;
  if (!k) return [];
  const source = k.source as { file?: string; line?: number; operators?: string } | undefined;
  const bytes = Number(k.bytes ?? 0);
  const rate = (bytes / Math.max(1, d.slice.duration)) * 1e9;
  const resources = [
    t("tl_registers", { n: String(k.registers) }),
    t("tl_shared", { size: short(known(k.shared_memory), "bytes") }),
  ];
  return [
    [t("tl_source"), code(source?.line === undefined ? source?.file : `${source.file}:${source.line}`)],
    [t("tl_fused"), code(source?.operators)],
    [t("tl_launch"), k.grid ? `grid ${list(k.grid, " × ")} · block ${list(k.block, " × ")}` : undefined],
    [t("tl_resources"), k.registers === undefined || k.registers === null ? undefined : resources.join(" · ")],
    [t("tl_occupancy"), k.grid ? occupancyOf(d) : undefined],
    [t("tl_tensor"), typeof k.tensor_core === "boolean" ? t(k.tensor_core ? "tl_yes" : "tl_no") : (k.tensor_core as string)],
    [t("tl_operator"), k.confidence ? t("tl_inferred", { share: short(Number(k.confidence), "share") }) : undefined],
    [t("tl_bytes"), bytes ? `${short(bytes, "bytes")} · ${short(rate, "bytes_per_s")}` : undefined],
  ];
}

const known = (v: unknown): number | null => (isKnown(v) ? v : null);

/** The occupancy; where the producer wrote one that cannot be trusted, a word says so. */
function occupancyOf(d: SliceAnswer): ComponentChildren {
  const own = d.kernel?.occupancy;
  const written = d.arguments?.["est. achieved occupancy %"];
  if (isKnown(own) && !(own === 0 && Number(written) === 0)) return short(own > 1 ? own / 100 : own, "share");
  return (
    <span class="t3">{written === undefined ? t("tl_occupancy_none") : t("tl_untrusted", { value: `${text(written)} %` })}</span>
  );
}

const opFacts = (op: SliceAnswer["op"]): Fact[] => [
  [t("tl_shapes"), code(op?.shapes ? text(op.shapes) : undefined)],
  [t("tl_types"), code(op?.types ? text(op.types) : undefined)],
  ["FLOP", op?.flops ? short(Number(op.flops), "flops") : undefined],
  [t("tl_sequence"), op?.sequence === undefined || op.sequence === null ? undefined : text(op.sequence)],
];

// ---- why it ran ----

const SIGNS: Record<string, string> = { forward: "⇠", python: "⌂", module: "⌂" };

function waitWords(d: SliceAnswer): string {
  const w = d.wait;
  if (!w) return "";
  if (w.id === "host_pace") return t("tl_wait_host_pace", { time: short(w.time, "ns") });
  if (w.id === "behind") return t("tl_wait_behind", { time: short(w.time, "ns"), name: w.behind?.name.slice(0, 40) ?? "" });
  if (w.id === "dependency") return t("tl_wait_dependency", { time: short(w.time, "ns") });
  return t("tl_wait_unknown");
}

function factOf(w: Ref & { role: string; delay?: number }, d: SliceAnswer): string {
  if (w.role === "launch") return `${whereIs(w.lane)} · ${short(w.duration, "ns")}`;
  if (w.role === "backward")
    return `${t("tl_role_backward")}${d.op?.sequence === undefined ? "" : ` · seq ${text(d.op.sequence)}`}`;
  if (w.role === "forward") return `${t("tl_role_forward")} · ${whereIs(w.lane)}`;
  if (w.role === "python") return "";
  if (w.role === "module") return t("tl_module");
  return `${whereIs(w.lane)} · ${short(w.duration, "ns")}`;
}

function Why({ d }: { d: SliceAnswer }) {
  const chain = d.why ?? [];
  return (
    <div class="tl-why">
      <header>
        <h2>{d.kernel ? t("tl_why") : t("tl_around")}</h2>
        <span title={waitWords(d)}>{waitWords(d)}</span>
      </header>
      <ul>
        {chain.map((w) => (
          <li key={`${w.role} ${w.id}`}>
            <span class="tl-sign">{SIGNS[w.role] ?? "↑"}</span>
            <Jump to={w}>{w.name}</Jump>
            <span class="tl-fact2">{factOf(w, d)}</span>
          </li>
        ))}
        {chain.length === 0 && d.parent ? (
          <li>
            <span class="tl-sign">↑</span>
            <Jump to={d.parent}>{d.parent.name}</Jump>
            <span class="tl-fact2">{t("tl_parent")}</span>
          </li>
        ) : null}
        {(d.kernels ?? []).slice(0, 6).map((k) => (
          <li key={`k${k.id}`}>
            <span class="tl-sign">↓</span>
            <Jump to={k}>{k.name}</Jump>
            <span class="tl-fact2">{`${whereIs(k.lane)} · ${short(k.duration, "ns")}`}</span>
          </li>
        ))}
        {(d.kernels?.length ?? 0) === 0
          ? (d.children ?? []).slice(0, 6).map((k) => (
              <li key={`c${k.id}`}>
                <span class="tl-sign">↳</span>
                <Jump to={k}>{k.name}</Jump>
                <span class="tl-fact2">{short(k.duration, "ns")}</span>
              </li>
            ))
          : null}
      </ul>
      {d.stack?.length ? (
        <ol class="tl-stack" aria-label={t("tl_stack")}>
          <li class="tl-stack-head">
            {d.stack_of && d.why?.some((w) => w.role === "forward") ? t("tl_stack_forward") : t("tl_stack")} <EditorMenu />
          </li>
          {d.stack.map((f, i) => (
            <li key={i}>
              {f.file ? (
                <FrameLink file={f.file} line={f.line ?? 1} name={parseFrame(f.name)?.name ?? f.name} />
              ) : (
                <Frames frame={f.name} />
              )}
            </li>
          ))}
        </ol>
      ) : null}
    </div>
  );
}

// ---- how it compares ----

function Compare({ d }: { d: SliceAnswer }) {
  const s = d.same_name;
  if (!s) return <div class="tl-compare" />;
  return (
    <div class="tl-compare">
      <header>
        <h2>{t("tl_like_this", { n: thousands(s.count) })}</h2>
        <span>{t("tl_mean_of", { time: short(s.mean, "ns") })}</span>
      </header>
      <Histogram same={s} name={d.slice.name} />
      <p>
        {t("tl_total_of", { time: short(s.total, "ns") })}
        {s.share === null || s.share === undefined ? "" : `, ${t("tl_share_of", { share: short(s.share, "share") })}`}
        {s.percentile === null || s.percentile === undefined
          ? ""
          : `; ${t("tl_percentile", { n: Math.round(s.percentile <= 1 ? s.percentile * 100 : s.percentile) })}`}
      </p>
      <button
        type="button"
        class="tl-link"
        onClick={() => {
          search(`"${d.slice.name}"`);
          setTimeout(() => void goToHit(1), 400);
        }}
      >
        {t("tl_find_like")}
      </button>
    </div>
  );
}

function Histogram({ same, name }: { same: Same; name: string }) {
  const h = same.histogram;
  if (!h) return null;
  const [width, height] = [250, 54];
  const most = largest(h.counts, self, 1);
  const step = width / h.counts.length;
  const edge = (i: number) => h.edges?.[i] ?? h.from + ((h.to - h.from) * i) / h.counts.length;
  const brush = (i: number) => {
    search(`"${name}" >${Math.max(0, Math.floor(edge(i)) - 1)}ns <${Math.ceil(edge(i + 1)) + 1}ns`);
    setTab("search");
  };
  return (
    <figure class="tl-histogram" aria-label={`${name}: ${same.count}, ${short(h.from, "ns")} – ${short(h.to, "ns")}`}>
      <svg viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
        {h.counts.map((n, i) => (
          <rect
            key={i}
            x={i * step + 0.5}
            y={height - Math.max(n ? 2 : 0, (n / most) * (height - 4))}
            width={step - 1}
            height={Math.max(n ? 2 : 0, (n / most) * (height - 4))}
            class={i === h.own ? "tl-own" : ""}
          />
        ))}
        {h.counts.map((n, i) => (
          <rect key={`b${i}`} class="tl-bin" x={i * step} y="0" width={step} height={height} onClick={() => brush(i)}>
            <title>{`${short(edge(i), "ns")} – ${short(edge(i + 1), "ns")}: ${n}`}</title>
          </rect>
        ))}
        <line x1="0" x2={width} y1={height - 0.5} y2={height - 0.5} />
      </svg>
      <figcaption>
        <span>{short(h.from, "ns")}</span>
        <span>{short(h.to, "ns")}</span>
      </figcaption>
    </figure>
  );
}
