// The slowest requests and what each waited for: the parts add up to its latency.
import { go, param } from "../../model/route.ts";
import { type Request, showRequest, w } from "../../model/serving.ts";
import type { TableRow } from "../../widgets/table-types.ts";
import { TablePanel } from "../shared/table-panel.tsx";
import { defined, source } from "../shared/table-source.ts";

export function SlowRequests() {
  const sort = param("sort") || "latency:desc";
  const s = source("requests", "requests", { sort }, (r) => String(r.cell("id")));
  const row = (i: number): TableRow => {
    const r = s.row(i);
    return { ...r, shows: true, tinted: r.key === param("request") };
  };
  return (
    <TablePanel
      span="w8 serving-slow"
      name={w("requests")}
      words={w("requests_words")}
      define={defined(s.answer, "requests", "waiting")}
      rows={s}
      row={row}
      height={300}
      table={{
        sort,
        height: 330,
        onSort: (next) => go({ params: { sort: next } }),
        onRow: (r) => go({ params: { request: r.key } }),
        onTimeline: (r) => showRequest(placeOf(r)),
        timelineLabel: w("show_request"),
      }}
      list={[
        ["id", { title: w("id"), text: true, mono: true, stays: true, least: 90 }],
        ["latency", { title: w("request_latency"), width: 104, stays: true }],
        ["ttft", { title: w("ttft"), width: 112, leaves: 2 }],
        ["own", { title: w("own"), width: 104, leaves: 1 }],
        ["waiting", { title: w("waiting"), width: 190, bar: "var(--critical)" }],
        ["blocker", { title: w("blocker"), text: true, mono: true, width: 110, leaves: 1 }],
        ["scheduler", { title: w("scheduler"), width: 106, leaves: 3 }],
        ["other", { title: w("other"), width: 84, leaves: 4 }],
        ["prompt_tokens", { title: w("prompt"), width: 74, leaves: 5 }],
        ["output_tokens", { title: w("output"), width: 74, leaves: 6 }],
      ]}
    />
  );
}

function placeOf(r: TableRow): Pick<Request, "id" | "arrival" | "end"> {
  const number = (column: string) => r.cell(column) as number | null;
  return { id: r.key, arrival: number("arrival"), end: number("end") };
}
