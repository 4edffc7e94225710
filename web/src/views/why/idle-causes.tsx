// Why the device is idle: the causes of all idle time, as bars that add up. Shown where the answer has them.
import { sum } from "../../base/aggregate.ts";
import { exact, percent, short } from "../../base/format.ts";
import { Definition } from "../../base/tip.tsx";
import { type Part, Strip } from "../../draw/charts/strip.tsx";
import { idleWord } from "../../model/language.ts";
import { themeVersion } from "../../model/theme.ts";
import { analysis, rowsOf } from "../../model/trace.ts";
import { w } from "../../model/why.ts";
import { Legend } from "../../widgets/controls.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { causeFill, causesOf, showCause } from "../shared/idle.ts";

export function IdleCauses() {
  themeVersion.value; // text on fills follows the theme
  const asked = analysis("overview", {}, "overview-why");
  const rows = rowsOf(asked.value?.tables.idle);
  if (rows.length === 0) return null;
  const devices = [...new Set(rows.map((r) => r.device))];
  const longest = Math.max(...devices.map((d) => sum(rows, (r) => (r.device === d ? r.time : 0))));
  const causes = causesOf(rows);
  return (
    <Panel name={w("idle")} words={w("idle_words")} asked={asked} height={90}>
      <div class="pad">
        {devices.map((d) => {
          const own = causesOf(rows.filter((r) => r.device === d));
          const total = sum(own, (c) => c.ns);
          const parts = own.map(
            ({ cause, ns }, i): Part => ({
              id: cause,
              value: ns,
              fill: causeFill(cause, i),
              label: `${idleWord(cause)} ${short(ns, "ns")}`,
              short: percent(ns / (total || 1), 0),
              plain: causeFill(cause, i).startsWith("url"),
              card: <Definition title={`${idleWord(cause)} · ${exact(ns, "ns")} · ${percent(ns / (total || 1))}`} />,
            }),
          );
          const list = own.map((c) => `${idleWord(c.cause)} ${short(c.ns, "ns")}`).join(", ");
          return (
            <div key={String(d)} class="why-idle">
              {devices.length > 1 ? <span class="t2">{w("idle_device", { d: String(d) })}</span> : null}
              <Strip
                parts={parts}
                total={longest}
                height={24}
                label={w("idle_label", { d: String(d), list })}
                onPart={(cause) =>
                  showCause(
                    rows.filter((r) => r.device === d && (r.cause ?? "unknown") === cause),
                    cause,
                  )
                }
              />
              <b>{short(total, "ns")}</b>
            </div>
          );
        })}
        <Legend items={causes.map((c, i) => ({ label: idleWord(c.cause), color: causeFill(c.cause, i) }))} />
      </div>
    </Panel>
  );
}
