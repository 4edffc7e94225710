// Answers out of the page's own file: a report has no server. A question is found by what makes another answer of it;
// rows are sorted, filtered and cut here. What is not inside is refused at once, with a sentence that says so.
import { arranged } from "./arrange.ts";
import { cutTape, joinTiles } from "./pictures.ts";
import type { Report } from "./report.ts";
import { type Blocks, type Query, RequestFailed, readBlocks, type Transport } from "./transport.ts";
import type { ApiError, Runs, Table } from "./types.ts";

/** Parameters that do not make another answer: whose it is, how its rows are arranged, how fine it is. */
const ASIDE = new Set(
  "run worker span all-workers wait lang evidence roofline sort search filter limit offset width client seq arrivals points map-steps rows tag".split(
    " ",
  ),
);
const KEPT_PARTS = 24;

const textOf = (v: Query[string]): string => (Array.isArray(v) ? v.join(",") : String(v ?? ""));

/** The question without what is aside, its parameters sorted; as src/report/asked.def writes it. */
export function keyOf(route: string, query: Query, without: readonly string[] = []): string {
  const given = Object.entries(query).filter(([k, v]) => !ASIDE.has(k) && !without.includes(k) && textOf(v) !== "");
  const text = given.map(([k, v]) => `${k}=${textOf(v)}`).sort();
  return route + (text.length ? `?${text.join("&")}` : "");
}

export function embedded({ index, unpack }: Report): Transport {
  const kept = new Map<number, Promise<ArrayBuffer>>(); // the last ones, the newest at the end

  function bytes(part: number): Promise<ArrayBuffer> {
    const found = kept.get(part) ?? unpack(String(part));
    kept.delete(part);
    kept.set(part, found);
    for (const old of kept.keys()) if (kept.size > KEPT_PARTS) kept.delete(old);
    return found;
  }

  const words = (query: Query): string => textOf(query.lang) || document.documentElement.lang || "en";

  function refuse(query: Query): never {
    const msg = index.not_inside[words(query)] ?? index.not_inside.en ?? "";
    throw new RequestFailed({ code: "not_in_report", msg, id: "REPORT_NOT_INSIDE", values: {}, offset: null });
  }

  function whose(query: Query): { run: string; worker: string } {
    const run = textOf(query.run) || index.run;
    const worker = query["all-workers"] ? "*" : textOf(query.worker) || index.workers[run]?.[0] || "";
    return { run, worker };
  }

  /** The part that has an answer: of its tables, of all, of the whole trace where the window is that. */
  function find(route: string, query: Query): number {
    const { run, worker } = whose(query);
    const keys = [keyOf(route, query), keyOf(route, query, ["table"])];
    for (const key of keys)
      for (const lang of [words(query), ""]) {
        const part = index.answers[[run, worker, key, lang].join("\n")];
        if (part !== undefined) return part;
      }
    return refuse(query);
  }

  async function parsed(part: number): Promise<Record<string, unknown>> {
    const body = JSON.parse(new TextDecoder().decode(await bytes(part))) as Record<string, unknown>;
    if (body.error) throw new RequestFailed(body.error as ApiError);
    return body;
  }

  async function answer(route: string, query: Query): Promise<unknown> {
    const body = await parsed(find(route, query));
    const tables = body.tables as Record<string, Table> | undefined;
    if (!tables) return body;
    const wanted = textOf(query.table).split(",").filter(Boolean);
    const how = {
      sort: textOf(query.sort),
      search: textOf(query.search),
      filter: textOf(query.filter),
      offset: Number(textOf(query.offset)),
      limit: Number(textOf(query.limit)),
    };
    const chosen = Object.entries(tables).filter(([name]) => !wanted.length || wanted.includes(name));
    return { ...body, tables: Object.fromEntries(chosen.map(([name, table]) => [name, arranged(table, how)])) };
  }

  /** Files that were not read are not waited for: nothing is on its way. */
  async function runs(): Promise<Runs> {
    const list = (await parsed(index.answers["\n\nruns\n"] as number)) as unknown as Runs;
    for (const span of list.runs.flatMap((r) => r.workers).flatMap((w) => w.spans))
      if (span.state !== "failed") Object.assign(span, { state: "ready", share: 1 });
    return { ...list, loading: { done: 0, total: 0 }, summaries: { done: 0, total: 0 } };
  }

  async function slice(query: Query): Promise<unknown> {
    const { run, worker } = whose(query);
    const id = Number(textOf(query.id));
    if (!textOf(query.id)) return refuse(query);
    for (const at of index.slices) {
      if (at.run !== run || at.worker !== worker || id < at.first || id > at.last) continue;
      const list = (await parsed(at.part)) as unknown as { slice: { id: number } }[];
      const found = list.find((s) => s.slice.id === id);
      if (found) return found;
    }
    return refuse(query);
  }

  /** Sums over the whole trace are inside, those of a part are not. */
  async function area(query: Query): Promise<unknown> {
    const { from, to, ...rest } = query;
    const tile = index.tiles.find((t) => t.run === whose(query).run && t.worker === whose(query).worker);
    const whole = Number(textOf(from)) <= 0 && (!textOf(to) || Number(textOf(to)) >= (tile?.to ?? 0));
    return whole ? answer("area", rest) : refuse(query);
  }

  async function viewport(query: Query): Promise<Blocks> {
    const { run, worker } = whose(query);
    const [from, to] = [Number(textOf(query.from)), Number(textOf(query.to))];
    const own = index.tiles.filter((t) => t.run === run && t.worker === worker);
    const inside = own.filter((t) => t.from < to && t.to > from);
    const longest = Math.max(...own.map((t) => t.to - t.from));
    const whole = inside.filter((t) => t.whole);
    const fine = inside.filter((t) => !t.whole && t.to - t.from < longest);
    // The one picture of everything, unless the view is narrow; steps that are inside as a whole lie over the others.
    const ground = to - from > longest / 2 || !fine.length ? inside.filter((t) => t.to - t.from === longest) : fine;
    const [a, b] = [whole[0]?.from ?? to, whole[whole.length - 1]?.to ?? to];
    const useWhole = whole.length > 0 && to - from < 4 * (b - a);
    const pieces = useWhole
      ? [
          ...ground.filter((t) => t.from < a).map((t) => ({ ...t, to: Math.min(t.to, a) })),
          ...whole,
          ...ground.filter((t) => t.to > b).map((t) => ({ ...t, from: Math.max(t.from, b) })),
        ]
      : ground;
    if (!pieces.length) return refuse(query);
    const tiles = await Promise.all(
      pieces.map(async (t) => ({ from: t.from, to: t.to, blocks: readBlocks(await bytes(t.part)) })),
    );
    return joinTiles(tiles, from, to);
  }

  async function tape(query: Query): Promise<Blocks> {
    const { from, to, ...rest } = query;
    const whole = readBlocks(await bytes(find("tape", rest)));
    const all = whole.description as { from: number; to: number };
    return cutTape(whole, Number(textOf(from) || all.from), Number(textOf(to) || all.to), Number(textOf(query.width)));
  }

  return {
    json: async <T>(route: string, query: Query) => {
      if (route === "runs") return (await runs()) as T;
      if (route === "slice") return (await slice(query)) as T;
      if (route === "area") return (await area(query)) as T;
      return (await answer(route, query)) as T;
    },
    blocks: (route, query) => (route === "viewport" ? viewport(query) : tape(query)),
    text: async (_route, query) => refuse(query),
    send: async (_route, query) => refuse(query),
    url: () => "",
    events: () => () => {},
  };
}
