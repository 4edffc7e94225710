// The top bar: run, worker, span; palette; trust; language; theme; keys.
import { short, thousands } from "../../base/format.ts";
import { runs } from "../../model/answers.ts";
import { chooseLanguage, language, t } from "../../model/language.ts";
import { go, view } from "../../model/route.ts";
import { changeTrace } from "../../model/steps.ts";
import { nextTheme, theme } from "../../model/theme.ts";
import {
  allChosen,
  currentRun,
  currentSpan,
  currentWorker,
  infoInView,
  isJob,
  ranksOf,
  whoseNumbers,
} from "../../model/trace.ts";
import { Key } from "../../widgets/controls.tsx";
import { Icon, Logo, SeverityMark, ThemeIcon } from "../../widgets/icons.tsx";
import { Menu, type MenuItem } from "../../widgets/menu.tsx";
import { lazy } from "../shared/lazy.tsx";
import { LiveBadge } from "./live.tsx";
import { openLayer } from "./overlays.ts";
import { doubts } from "./quality-drawer.tsx";

const OtherCrumb = lazy(() => import("./other-crumb.tsx").then((m) => m.OtherCrumb), 0);

export function TopBar() {
  const compares = view.value === "compare" && currentRun.value;
  return (
    <header class="top">
      <a class="logo" href="#/runs" aria-label="tacho">
        <Logo /> <span>tacho</span>
      </a>
      <nav class="crumbs" aria-label={t("trace_in_view")}>
        {compares ? <i class="side-mark">A</i> : null}
        <RunMenu />
        <LiveBadge />
        <WorkerMenu />
        <SpanMenu />
        {compares ? <OtherCrumb /> : null}
      </nav>
      <span class="grow" />
      <button type="button" class="palette-field" onClick={() => openLayer("palette")}>
        <Icon name="search" /> <span>{t("search_or_run")}</span> <Key>Ctrl K</Key>
      </button>
      <TrustChip />
      <Languages />
      <button
        type="button"
        class="iconic"
        onClick={nextTheme}
        aria-label={t(`theme_${theme.value}`)}
        title={t(`theme_${theme.value}`)}
      >
        <ThemeIcon />
      </button>
      <button type="button" class="iconic" onClick={() => openLayer("keys")} aria-label={t("keys")} title={t("keys")}>
        <b>?</b>
      </button>
    </header>
  );
}

function RunMenu() {
  const all = runs.value?.runs ?? [];
  const items: MenuItem[] = all.map((r) => {
    const spans = r.workers.flatMap((w) => w.spans);
    const state = spans.find((s) => s.state === "failed" || s.state === "loading")?.state;
    const mean = spans.find((s) => s.facts?.mean_step)?.facts?.mean_step;
    return {
      id: r.name,
      label: r.name,
      checked: r === currentRun.value,
      detail: state ? t(`state_${state}`) : mean ? short(mean, "ns") : `${ranksOf(r)}`,
    };
  });
  if (all.length > 1) items.push({ id: "", label: t("all_runs"), separator: true });
  return (
    <Menu
      class="crumb"
      name={t("run")}
      openKey="r"
      filter={t("filter")}
      label={<b>{currentRun.value?.name ?? t("all_runs")}</b>}
      items={items}
      onChoose={chooseRun}
    />
  );
}

/** Another run keeps the view; no run is the table of all. */
function chooseRun(run: string): void {
  const to = { run: run || undefined, worker: undefined, span: undefined };
  if (run === "") go({ view: "runs", params: { ...to, step: undefined, from: undefined, to: undefined, sel: undefined } });
  else changeTrace(to, view.value === "runs" ? "overview" : view.value);
}

function WorkerMenu() {
  const workers = currentRun.value?.workers ?? [];
  if (workers.length === 0) return null;
  const items: MenuItem[] = workers.map((w) => {
    const facts = w.spans[w.spans.length - 1]?.facts;
    return {
      id: w.name,
      label: w.name,
      checked: !allChosen.value && w === currentWorker.value,
      detail: (
        <>
          {w.role === "loader" || w.role === "child" || w.role === "launcher"
            ? `${t(`role_${w.role}`, { owner: w.owner ?? "" })} `
            : ""}
          {w.rank !== null && !w.name.endsWith(String(w.rank)) ? `${t("rank_n", { n: w.rank })} ` : ""}
          {facts?.damaged ? <span class="dot-warning" title={t("damaged")} /> : null}
          {facts?.mean_step ? short(facts.mean_step, "ns") : ""}
        </>
      ),
    };
  });
  if (isJob(currentRun.value)) items.unshift({ id: "*", label: t("all_ranks"), checked: allChosen.value });
  return (
    <>
      <i class="slash">/</i>
      <Menu
        class="crumb"
        name={t("worker")}
        openKey="w"
        filter={t("filter")}
        label={<b>{whoseNumbers()}</b>}
        items={items}
        onChoose={(id) => changeTrace({ worker: id, span: undefined })}
      />
    </>
  );
}

function SpanMenu() {
  const spans = currentWorker.value?.spans ?? [];
  if (spans.length < 2) return null;
  return (
    <>
      <i class="slash">/</i>
      <Menu
        class="crumb"
        name={t("span")}
        label={
          <>
            <span class="t3">{t("span")}</span> <b>{currentSpan.value?.number}</b>
          </>
        }
        items={spans.map((s) => ({
          id: String(s.number),
          label: String(s.number),
          checked: s === currentSpan.value,
          detail: t(`state_${s.state}`),
        }))}
        onChoose={(id) => changeTrace({ span: id })}
      />
    </>
  );
}

function TrustChip() {
  if (!currentRun.value) return null;
  const answer = infoInView().value;
  if (!answer) return null;
  const n = doubts(answer);
  return (
    <button type="button" class="trust-chip" onClick={() => openLayer("trust")} title={t("trust_title")}>
      <SeverityMark severity={n > 0 ? "warning" : "good"} size={14} label={t("trust_title")} />
      {t("events_chip", { n: thousands(answer.quality.events_read) })}
      {n > 0 ? <span class="warning"> · {n}</span> : null}
    </button>
  );
}

function Languages() {
  return (
    <span class="languages">
      <button type="button" lang="en" aria-pressed={language.value === "en"} onClick={() => chooseLanguage("en")}>
        EN
      </button>
      <button type="button" lang="zh-CN" aria-pressed={language.value === "zh"} onClick={() => chooseLanguage("zh")}>
        中文
      </button>
    </span>
  );
}
