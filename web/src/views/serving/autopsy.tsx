// What one request waited for: its latency as parts that add up, and the requests that held it up. Without a choice, the
// slowest.
import { isKnown, largestFirst } from "../../base/aggregate.ts";
import { exact, percent, short } from "../../base/format.ts";
import { Definition } from "../../base/tip.tsx";
import { type Part, Strip } from "../../draw/charts/strip.tsx";
import { go, param } from "../../model/route.ts";
import { type Request, showRequest, w } from "../../model/serving.ts";
import { themeVersion } from "../../model/theme.ts";
import { analysis, csvUrl, rowsOf } from "../../model/trace.ts";
import { Legend } from "../../widgets/controls.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { Table } from "../../widgets/table.tsx";
import { cellsOf, columns, defined, quoted } from "../shared/table-source.ts";

const PARTS = [
  ["prefill", "var(--c4)"],
  ["decode", "var(--kernel)"],
  ["waiting", "var(--critical)"],
  ["scheduler", "url(#blocked)"],
  ["other", "url(#hatch)"],
] as const;

export function Autopsy({ requests }: { requests: readonly Request[] }) {
  const [slowest] = [...requests].sort(largestFirst((r) => r.latency));
  const request = requests.find((r) => r.id === param("request")) ?? slowest;
  if (!request) return null;
  return <OfOne request={request} />;
}

function OfOne({ request }: { request: Request }) {
  themeVersion.value;
  const query = { table: "blocked_by", filter: `request=${quoted(String(request.id))}`, limit: 0 };
  const asked = analysis("requests", query, "requests-blocked");
  const rows = rowsOf(asked.value?.tables.blocked_by);
  const known = isKnown(request.own);
  const parts = partsOf(request);
  const table = asked.value?.tables.blocked_by;
  return (
    <Panel
      span="w4 serving-autopsy"
      name={w("autopsy")}
      words={w("autopsy_words", { id: String(request.id), v: short(request.latency, "ns") })}
      define={defined(asked.value, "blocked_by", "time")}
      csv={csvUrl("requests", "blocked_by", query)}
      asked={asked}
      height={300}
      controls={
        <button type="button" class="link" onClick={() => showRequest(request)}>
          {w("show_request")}
        </button>
      }
    >
      <div class="pad">
        {known ? (
          <>
            <Strip
              parts={parts}
              total={request.latency ?? 0}
              height={28}
              label={parts.map((p) => `${p.id} ${short(p.value, "ns")}`).join(", ")}
            />
            <Legend items={parts.map((p) => ({ label: `${p.label}`, color: p.fill }))} />
          </>
        ) : (
          <p>{w("autopsy_unknown")}</p>
        )}
      </div>
      {rows.length ? (
        <Table
          name={w("waited_for")}
          total={rows.length}
          height={232}
          row={(i) => {
            const r = rows[i] as (typeof rows)[number];
            const label = r.blocker === null ? <span class="t3">{w("others")}</span> : undefined;
            return { key: r.blocker ?? "…", ...(label ? { label } : {}), cell: cellsOf(r) };
          }}
          onRow={(r) => (r.cell("blocker") === null ? undefined : go({ params: { request: r.key } }))}
          columns={columns({ path: "requests.blocked_by", help: (c) => table?.columns.find((x) => x.name === c) }, [
            ["blocker", { title: w("waited_for"), text: true, mono: true, sortable: false, stays: true }],
            ["time", { title: w("waited_time"), sortable: false, width: 90 }],
            ["share", { title: w("waited_share"), sortable: false, width: 130, bar: "var(--critical)" }],
          ])}
        />
      ) : null}
    </Panel>
  );
}

function partsOf(request: Request): (Part & { label: string })[] {
  return PARTS.flatMap(([id, fill]) => {
    const value = request[id];
    if (!value) return [];
    const label = w(`autopsy_${id}`);
    const share = request.latency ? value / request.latency : null;
    const said = `${label} · ${exact(value, "ns")} · ${percent(share)}`;
    return [
      {
        id,
        value,
        fill,
        label,
        short: short(value, "ns"),
        plain: fill.startsWith("url"),
        card: <Definition title={said} />,
      },
    ];
  });
}
