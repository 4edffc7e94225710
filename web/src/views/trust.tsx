// The trust drawer: what the numbers rest on. Data: the quality of every answer.

import type { Answer } from "../api/types.ts";
import { short, thousands } from "../base/format.ts";
import { analysis, countOf, currentSpan, info, num } from "../model/trace.ts";
import { type Key, t } from "../model/words.ts";
import { Dialog } from "../widgets/dialog.tsx";
import { Icon, SeverityMark } from "../widgets/icons.tsx";
import { closeLayer } from "./layers.ts";

// Causes that lose nothing: the event was kept, in another form.
const KEPT = new Set(["partial_overlap"]);

/** How many things were dropped, unlinked or estimated: what makes the chip amber. */
export function doubts(answer: Answer): number {
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

function inputLines(answer: Answer): Line[] {
  const fact = (key: string) => answer.tables.trace?.rows.find((r) => r[0] === key)?.[1];
  const dropped = answer.quality.events_dropped.filter((d) => !KEPT.has(d.cause));
  const lost = dropped.reduce((s, d) => s + d.count, 0);
  const read = answer.quality.events_read;
  const size = Number(fact("input_bytes") ?? currentSpan.value?.bytes ?? 0);
  return [
    { name: t("trust_format"), value: answer.trace.format },
    { name: t("trust_read"), value: t("n_of_m", { n: thousands(read), m: thousands(read + lost) }) },
    { name: t("trust_dropped"), value: thousands(lost) },
    ...dropped.map((d) => ({ name: `– ${d.text}`, value: thousands(d.count) })),
    { name: t("trust_size"), value: short(size, "bytes") },
  ];
}

export function TrustDrawer() {
  const answer = info().value;
  const overview = analysis("overview").value;
  const links = new Map([...(answer?.quality.links ?? []), ...(overview?.quality.links ?? [])].map((l) => [l.what, l]));
  const notes = [...new Set([answer, overview, analysis("advise").value].flatMap((a) => (a?.quality.notes ?? []).map(String)))];
  const kept = answer?.quality.events_dropped.filter((d) => KEPT.has(d.cause) && d.count > 0) ?? [];
  if (!answer) return null;
  const sums = sumLines(overview);
  const copy = () => {
    const lines = [
      ...inputLines(answer),
      ...[...links.values()].map((l) => ({ name: l.what, value: `${l.linked}/${l.total}` })),
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
      <p class="t3 path">{answer.trace.path?.split("/").pop() ?? answer.trace.worker}</p>
      <Section title={t("trust_input")} lines={inputLines(answer)} />
      <Section
        title={t("trust_links")}
        lines={[...links.values()].map((l) => ({
          name: l.what,
          value: t("n_of_m", { n: thousands(l.linked), m: thousands(l.total) }),
        }))}
      />
      <h3>{t("trust_recorded")}</h3>
      <div class="chips">
        {RECORDED.map((r) => (
          <Recorded key={r.key} name={t(r.key)} has={has(answer, r)} />
        ))}
      </div>
      <h3>{t("trust_doubts")}</h3>
      {notes.length + kept.length === 0 ? <p class="t3">{t("trust_none")}</p> : null}
      {kept.map((d) => (
        <Doubt key={d.cause} text={`${thousands(d.count)}: ${d.text}`} />
      ))}
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

function has(answer: Answer, r: { fact?: string; kinds?: string[] }): boolean {
  if (r.kinds) return (countOf(...r.kinds) ?? 0) > 0;
  return answer.tables.trace?.rows.some((row) => row[0] === r.fact && row[1] !== "0") ?? false;
}

function sumLines(overview: Answer | undefined): Line[] {
  const steps = overview?.tables.steps;
  const parts = (overview?.tables.breakdown?.rows ?? []).reduce((s, r) => s + num(r[1]), 0);
  const mean = steps?.rows.length ? steps.rows.reduce((s, r) => s + num(r[1]), 0) / steps.rows.length : 0;
  if (!mean) return [];
  const same = Math.abs(parts - mean) <= 8;
  return [
    {
      name: t("trust_parts"),
      value: `${t("n_of_m", { n: short(parts, "ns"), m: short(mean, "ns") })} ${same ? "✓" : `(${thousands(parts - mean)} ns)`}`,
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
  return (
    <p class="doubt">
      <SeverityMark severity="info" size={14} label={t("trust_doubts")} /> <span>{text}</span>
    </p>
  );
}
