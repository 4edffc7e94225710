// Processors while the data was prepared: of the machine, of the process, of an operator of the pipeline.
import { isKnown } from "../../base/aggregate.ts";
import { ABSENT, short } from "../../base/format.ts";
import { type Line, Lines } from "../../draw/charts/lines.tsx";
import { nth } from "../../draw/patterns.tsx";
import { t } from "../../model/language.ts";
import { choice } from "../../model/route.ts";
import { themeVersion } from "../../model/theme.ts";
import { analysis, type Row, rowsOf } from "../../model/trace.ts";
import { Segmented } from "../../widgets/controls.tsx";
import { Menu } from "../../widgets/menu.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { panelFor } from "../shared/table-source.ts";

const KINDS = ["user", "sys", "io", "idle"] as const;

type Use = Pick<Row<"pipeline", "cpu_samples">, "scope" | "operator">;

const isOf = (r: Use, whose: string): boolean =>
  whose === "machine" || whose === "process" ? r.scope === whose : r.scope === "operator" && r.operator === whose;

export function Processors() {
  themeVersion.value;
  const [whose, setWhose] = choice("cpu", "machine");
  const means = rowsOf(analysis("pipeline", { table: "cpu", limit: 0 }, "pipeline-cpu").value?.tables.cpu);
  const asked = analysis("pipeline", { table: "cpu_samples", limit: 0 }, "pipeline-cpu_samples");
  const samples = rowsOf(asked.value?.tables.cpu_samples).filter((r) => isOf(r, whose));
  if (means.length === 0) return null;
  const operators = [...new Set(means.filter((r) => r.scope === "operator").map((r) => String(r.operator)))];
  const shown = KINDS.filter((k) => samples.some((r) => r.kind === k));
  const mean = (k: string) => means.find((r) => isOf(r, whose) && r.kind === k)?.mean;
  const lines = shown.map((k): Line => {
    const own = mean(k);
    return {
      id: k,
      label: `${t(`cpu_kind_${k}`)} ${isKnown(own) ? Number(own.toPrecision(3)) : ABSENT}`,
      color: nth(KINDS.indexOf(k)),
      points: samples.filter((r) => r.kind === k).map((r) => [r.time ?? 0, r.value] as const),
    };
  });
  return (
    <Panel
      name={t("cpu_use")}
      words={t("cpu_words")}
      {...panelFor(asked, "pipeline", "cpu_samples", "scope")}
      height={160}
      controls={
        <>
          {operators.length ? (
            <Menu
              class="small-menu"
              right
              name={t("operator")}
              label={operators.includes(whose) ? whose : t("operator")}
              items={operators.map((o) => ({ id: o, label: o, checked: o === whose }))}
              onChoose={setWhose}
            />
          ) : null}
          <Segmented
            label={t("cpu_use")}
            chosen={whose}
            onChoose={setWhose}
            choices={(["machine", "process"] as const).map((id) => ({ id, label: t(`cpu_${id}`) }))}
          />
        </>
      }
    >
      {lines.length ? (
        <div class="pad">
          <Lines lines={lines} height={160} top={whose === "machine" ? 100 : 1} x={(v) => short(v, "ns")} label={t("cpu_use")} />
        </div>
      ) : (
        <p class="empty">{t("not_recorded")}</p>
      )}
    </Panel>
  );
}
