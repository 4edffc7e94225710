// The trust drawer: what the numbers are based on. Data: the quality of every answer.
import type { Answer } from "../../api/types.ts";
import { mean, sum } from "../../base/aggregate.ts";
import { short, thousands } from "../../base/format.ts";
import { ask } from "../../model/answers.ts";
import { type Key, language, t, wordOr } from "../../model/language.ts";
import { traceQuery } from "../../model/route.ts";
import type { AreaAnswer } from "../../model/timeline/types.ts";
import {
  allRanks,
  analysis,
  countOf,
  currentSpan,
  factIn,
  frameworkOf,
  infoInView,
  rowsOf,
  whoseNumbers,
} from "../../model/trace.ts";
import { Dialog } from "../../widgets/dialog.tsx";
import { Icon, SeverityMark } from "../../widgets/icons.tsx";
import { closeLayer } from "./overlays.ts";

// Causes that lose nothing: the event was kept, in another form.
const KEPT = new Set(["partial_overlap"]);

/** How many things were dropped, unlinked or estimated: what makes the chip amber. */
export function doubts(answer: Answer<"info">): number {
  const dropped = answer.quality.events_dropped.filter((d) => !KEPT.has(d.cause) && d.count > 0).length;
  const unlinked = answer.quality.links.filter((l) => l.linked < l.total).length;
  return dropped + unlinked;
}

interface Line {
  name: string;
  value: string;
}

const RECORDED: readonly { key: Key; fact?: string; kinds?: string[] }[] = [
  { key: "rec_shapes", fact: "record_shapes" },
  { key: "rec_memory", kinds: ["memory"] },
  { key: "rec_stacks", fact: "with_stack" },
  { key: "rec_modules", kinds: ["module"] },
  { key: "rec_flops", fact: "with_flops" },
  { key: "rec_kernels", kinds: ["kernel"] },
];

function inputLines(answer: Answer<"info">): Line[] {
  const dropped = answer.quality.events_dropped.filter((d) => !KEPT.has(d.cause));
  const lost = dropped.reduce((s, d) => s + d.count, 0);
  const read = answer.quality.events_read;
  const size = Number(factIn(answer, "input_bytes") ?? currentSpan.value?.bytes ?? 0);
  return [
    { name: t("trust_format"), value: formatOf(answer) },
    { name: t("trust_read"), value: t("n_of_m", { n: thousands(read), m: thousands(read + lost) }) },
    { name: t("trust_dropped"), value: thousands(lost) },
    ...dropped.map((d) => ({ name: `– ${d.text}`, value: thousands(d.count) })),
    { name: t("trust_size"), value: short(size, "bytes") },
  ];
}

/** "Kineto JSON, gzip · schema 1": what the file is, how it is packed, as far as it tells. */
function formatOf(answer: Answer<"info">): string {
  const { format, path } = answer.trace;
  const name = wordOr(`format_${format}`, frameworkOf(format));
  const packed = /\.gz$/.test(path ?? "") ? ", gzip" : /\.zst$/.test(path ?? "") ? ", zstd" : "";
  const schema = factIn(answer, "schemaVersion");
  return `${name}${packed}${schema ? ` · schema ${schema}` : ""}`;
}

/** Sentences the page adds: what, how much, which view it touches. */
function doubtsOf(answer: Answer<"info">): string[] {
  if (allRanks.value) return [];
  const frames = countOf("python") ?? 0;
  const kernels = rowsOf(analysis("kernels", { table: "kernels", limit: 0 }, "trust-kernels").value?.tables.kernels);
  const calls = sum(kernels, (r) => r.calls);
  const blind = sum(kernels, (r) => (r.occupancy === null ? r.calls : 0));
  const overlaps = answer.quality.events_dropped.find((d) => KEPT.has(d.cause))?.count ?? 0;
  return [
    currentSpan.value?.facts?.damaged ? t("trust_damaged") : "",
    frames > 0 ? t("trust_stacks", { n: thousands(frames) }) : "",
    blind > 0 ? t("trust_occupancy", { n: thousands(blind), m: thousands(calls) }) : "",
    overlaps > 0 ? t("trust_overlaps", { n: thousands(overlaps) }) : "",
  ].filter(Boolean);
}

/** Kernel time once by name (the analysis) and once by stream (the timeline): two ways, one sum. */
function kernelSum(): Line | undefined {
  if (allRanks.value) return undefined; // the timeline is of one
  const whole = { ...traceQuery.value, lang: language.value };
  const byName = ask<Answer<"kernels">>("trust-by-name", "kernels", { ...whole, table: "kernels", limit: 0 }).value?.tables
    .kernels;
  const byStream = ask<AreaAnswer>("trust-by-stream", "area", { ...whole, table: "area", limit: 0 }).value?.tables.area;
  if (!byName?.rows.length || !byStream) return undefined;
  const names = sum(rowsOf(byName), (r) => r.total);
  const streams = sum(rowsOf(byStream), (r) => (r.kind === "kernel" ? r.total : 0));
  const shown = (ns: number) => `${(ns / 1e6).toFixed(3)} ms`;
  const value = names === streams ? `${shown(names)} = ${shown(streams)} ✓` : `${shown(names)} ≠ ${shown(streams)}`;
  return { name: t("trust_kernel_sum"), value };
}

const capital = (s: string) => s.charAt(0).toUpperCase() + s.slice(1);

/** The answer names its links in English; they are few and fixed. */
const linkName = (what: string) => wordOr(`linked_${what.replace(/\W+/g, "_")}`, capital(what));

export function TrustDrawer() {
  const answer = infoInView().value;
  const overview = analysis("overview").value;
  const links = new Map([...(answer?.quality.links ?? []), ...(overview?.quality.links ?? [])].map((l) => [l.what, l]));
  const said = [answer, overview, analysis("advise").value].flatMap((a) => (a?.quality.notes ?? []).map(String));
  if (!answer) return null;
  const notes = [...doubtsOf(answer), ...new Set(said.map(capital))];
  const sums = [...sumLines(overview), kernelSum()].filter((l) => l !== undefined);
  const copy = () => {
    const lines = [
      ...inputLines(answer),
      ...[...links.values()].map((l) => ({ name: linkName(l.what), value: `${l.linked}/${l.total}` })),
      ...sums,
    ];
    void navigator.clipboard?.writeText([...lines.map((l) => `${l.name}: ${l.value}`), ...notes].join("\n"));
  };
  return (
    <Dialog class="drawer" label={t("trust_title")} onClose={closeLayer}>
      <header class="drawer-head">
        <h2>{t("trust_title")}</h2>
        <button type="button" class="keycap" onClick={closeLayer} data-first>
          Esc
        </button>
      </header>
      <p class="t3 path">{allRanks.value ? whoseNumbers() : (answer.trace.path?.split("/").pop() ?? answer.trace.worker)}</p>
      <Section title={t("trust_input")} lines={inputLines(answer)} />
      <Section
        title={t("trust_links")}
        lines={[...links.values()].map((l) => ({
          name: linkName(l.what),
          value: t("n_of_m", { n: thousands(l.linked), m: thousands(l.total) }),
        }))}
      />
      {allRanks.value ? null : (
        <>
          <h3>{t("trust_recorded")}</h3>
          <div class="chips">
            {RECORDED.map((r) => (
              <Recorded key={r.key} name={t(r.key)} has={has(answer, r)} />
            ))}
          </div>
        </>
      )}
      <h3>{t("trust_doubts")}</h3>
      {notes.length === 0 ? <p class="t3">{t("trust_none")}</p> : null}
      {notes.map((n) => (
        <Doubt key={n} text={n} />
      ))}
      <Section title={t("trust_sums")} lines={sums} />
      <button type="button" class="link" onClick={copy}>
        {t("copy_text")}
      </button>
    </Dialog>
  );
}

function has(answer: Answer<"info">, r: { fact?: string; kinds?: string[] }): boolean {
  if (r.kinds) return (countOf(...r.kinds) ?? 0) > 0;
  return (factIn(answer, r.fact ?? "") ?? "0") !== "0";
}

function sumLines(overview: Answer<"overview"> | undefined): Line[] {
  const parts = sum(rowsOf(overview?.tables.breakdown), (r) => r.time);
  const step = mean(rowsOf(overview?.tables.steps), (r) => r.total);
  if (!step) return [];
  const same = Math.abs(parts - step) <= 8;
  return [
    {
      name: t("trust_parts"),
      value: `${t("n_of_m", { n: short(parts, "ns"), m: short(step, "ns") })} ${same ? "✓" : `(${thousands(parts - step)} ns)`}`,
    },
  ];
}

function Section({ title, lines }: { title: string; lines: readonly Line[] }) {
  if (lines.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <dl class="facts-list">
        {lines.map((l) => (
          <div key={l.name}>
            <dt>{l.name}</dt>
            <dd>{l.value}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function Recorded({ name, has }: { name: string; has: boolean }) {
  return (
    <span class={has ? "rec" : "rec rec-not"}>
      {has ? <Icon name="check" size={12} /> : null}
      {has ? name : `${name}: ${t("not_recorded")}`}
    </span>
  );
}

function Doubt({ text }: { text: string }) {
  // What it is comes first, up to a colon or a full stop, and stands out.
  const cut = /[:：。.](?=\s|$)|[：。]/.exec(text);
  const head = cut ? text.slice(0, cut.index + 1) : text;
  return (
    <p class="doubt">
      <SeverityMark severity="info" size={14} label={t("trust_doubts")} />{" "}
      <span>
        <b>{head}</b>
        {text.slice(head.length)}
      </span>
    </p>
  );
}
