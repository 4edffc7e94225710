// The rail: views in their groups. A view without data stays in place, gray, with a hollow dot.
import { theReport } from "../../api/report.ts";
import { versionWord } from "../../base/version.ts";
import { deviceWords } from "../../model/device.ts";
import { type Key, t } from "../../model/language.ts";
import { narrowRail, turnRail } from "../../model/rail.ts";
import { go, type View, view } from "../../model/route.ts";
import {
  allChosen,
  allRanks,
  allWorkers,
  analysis,
  currentRun,
  factIn,
  frameworkOf,
  hasData,
  info,
  isDump,
  isServer,
  isSummary,
  rowsOf,
  workersWithoutEvents,
} from "../../model/trace.ts";
import { Icon } from "../../widgets/icons.tsx";

const GROUPS: readonly { title?: Key; views: readonly Exclude<View, "runs">[] }[] = [
  { views: ["overview", "why", "code", "timeline"] },
  { title: "group_time", views: ["operators", "kernels", "roofline", "modules", "memory"] },
  { title: "group_steps", views: ["steps", "pipeline", "serving"] },
  { title: "group_workers", views: ["distributed", "hang"] },
  { title: "group_tools", views: ["compare", "history", "query"] },
];

// What only some traces are of: a job that hangs, a server. Their views are there where these are.
const ONLY: Partial<Record<View, () => boolean>> = { hang: isDump, serving: isServer };
const isOffered = (name: View): boolean => view.value === name || (ONLY[name]?.() ?? true);

export function Rail() {
  return (
    <nav class="rail" aria-label={t("views")}>
      {GROUPS.map((g, i) => (
        <div key={i} class="rail-group">
          {g.title ? <div class="rail-title">{t(g.title)}</div> : null}
          {g.views.filter(isOffered).map((v) => (
            <RailLink key={v} name={v} />
          ))}
        </div>
      ))}
      <span class="grow" />
      <ReportNote />
      {currentRun.value ? <Device /> : null}
      <FoldButton />
    </nav>
  );
}

function FoldButton() {
  const words = t(narrowRail.value ? "rail_wide" : "rail_narrow");
  return (
    <button type="button" class="rail-fold" onClick={turnRail} aria-label={words} title={`${words} (\\)`}>
      {narrowRail.value ? "»" : "«"}
    </button>
  );
}

function RailLink({ name }: { name: Exclude<View, "runs"> }) {
  const without = !currentRun.value;
  const on = view.value === name && !without;
  const has = !without && hasData(name);
  const critical = name === "overview" && currentRun.value ? criticalAdvice() : 0;
  return (
    <a
      class={`rail-link ${has ? "" : "without"}`}
      href={`#/${name}`}
      aria-current={on ? "page" : undefined}
      aria-disabled={without ? "true" : undefined}
      title={without ? t("choose_run") : t(name)}
      onClick={(e) => {
        e.preventDefault();
        if (!without) go({ view: name, params: { sort: undefined, q: undefined } });
      }}
    >
      <Icon name={name} /> <span>{t(name)}</span>
      {critical > 0 ? <b class="rail-count">{critical}</b> : null}
      {has || without ? null : (
        <svg class="hollow" width="8" height="8" role="img" aria-label={t("not_recorded")}>
          <circle cx="4" cy="4" r="3" fill="none" stroke="currentColor" stroke-width="1.2" />
        </svg>
      )}
    </a>
  );
}

function criticalAdvice(): number {
  // What the reader chose, also in a view of one rank.
  const elsewhere = allChosen.value && !allRanks.value;
  const asked = elsewhere ? analysis("advise", allWorkers(), "advise-all") : analysis("advise");
  return rowsOf(asked.value?.tables.advice).filter((r) => r.severity === "critical").length;
}

/** In a report: what is inside, and who knows the rest. */
function ReportNote() {
  const report = theReport();
  if (!report) return null;
  const [first, last] = report.index.detail ?? [];
  const steps = first === last ? String(first) : `${first}..${last}`;
  return (
    <div class="device inside">
      <div class="device-name">{t("inside_title")}</div>
      <div>{first === undefined ? t("inside_overview") : t("inside_detail", { steps })}</div>
      <div>{t("inside_rest")}</div>
    </div>
  );
}

function Device() {
  const answer = info().value;
  if (!answer) return null;
  const device = rowsOf(answer.tables.devices)[0];
  const fact = (key: string) => factIn(answer, key);
  const cuda = fact("cuda_runtime_version");
  const torch = fact("torch_version") ?? fact("pytorch_version");
  const versions = [
    [frameworkOf(answer.trace.format), torch].filter(Boolean).join(" "),
    cuda ? `${Number(cuda) >= 1e7 ? "HIP" : "CUDA"} ${versionWord("cuda_runtime_version", String(cuda))}` : undefined,
  ].filter(Boolean);
  const words = deviceWords();
  const nobody = isSummary() ? t("summary_of", { n: workersWithoutEvents("timeline") }) : t("no_device");
  const facts = [
    device?.memory_bytes ? `${(device.memory_bytes / 2 ** 30).toFixed(1)} GiB` : "",
    device?.sm_count ? `${device.sm_count} ${words.unit}` : "",
  ].filter(Boolean);
  return (
    <div class="device">
      <div class="device-name">{device?.name || words.type || nobody}</div>
      {facts.length ? <div>{facts.join(" · ")}</div> : null}
      <div>{versions.join(" · ")}</div>
    </div>
  );
}
