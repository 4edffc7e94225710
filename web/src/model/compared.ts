// From a row of a comparison that names no event to the one that shows it best: a rank, a quantity that was measured.
import { isKnown, largestFirst, type Maybe } from "../base/aggregate.ts";
import { counted, server } from "./answers.ts";
import { placeIn, type RankRow, type Side, windowOf, workerOf } from "./compare.ts";
import { showPlace, showSlice, showStretch } from "./evidence.ts";
import { type Found, findMoment, rowsFrom } from "./moments.ts";

type Both = readonly [Side, Side];
type Place = ReturnType<typeof placeIn>;

const inWindow = (side: Side) => ({ step: windowOf(side.id) || undefined });

// ---- ranks ----

/** A category of the step in both runs. */
interface Part {
  category: string;
  change: number;
  at: readonly [Found | undefined, Found | undefined];
}

/** The category that changed most from one breakdown to the other; none where nothing did. */
export function mostChanged(a: readonly Found[], b: readonly Found[]): Part | undefined {
  const names = [...new Set([...a, ...b].map((r) => r.category ?? ""))].filter(Boolean);
  const of = (rows: readonly Found[], name: string) => rows.find((r) => r.category === name);
  const parts = names.map((category): Part => {
    const at = [of(a, category), of(b, category)] as const;
    return { category, at, change: (at[1]?.time ?? 0) - (at[0]?.time ?? 0) };
  });
  const [most] = parts.sort(largestFirst((p) => Math.abs(p.change)));
  return most?.change ? most : undefined;
}

const isPlaced = (r: Found | undefined): r is Found => isKnown(r?.slice) || (isKnown(r?.from) && isKnown(r.to));

async function findRank(row: RankRow, both: Both, said: (side: Side, category: string) => string): Promise<void> {
  const ask = (side: Side) => {
    const worker = workerOf(side, row);
    return worker ? rowsFrom("overview", "breakdown", placeIn(side, worker), inWindow(side)) : Promise.resolve([]);
  };
  const parts = await Promise.all(both.map(ask));
  const most = mostChanged(parts[0] ?? [], parts[1] ?? []);
  if (!most) return;
  const i = isPlaced(most.at[1]) ? 1 : 0; // what is gone can only be seen in A
  const [found, side] = [most.at[i], both[i]];
  if (isPlaced(found)) showPlace(found, said(side, most.category), placeIn(side, workerOf(side, row)));
}

/** Shows what a rank spends most of in the category of its step that changed most: in B, in A where only A has it. */
export const showRankIn = (row: RankRow, both: Both, said: (side: Side, category: string) => string): void =>
  void counted(findRank(row, both, said));

// ---- what was measured ----

type Find = (claim: string, side: Side, place: Place) => Promise<void>;

/** The event of the row that has most of a column. */
const most =
  (name: "operators" | "kernels", column: string): Find =>
  async (claim, side, place) => {
    const [row] = await rowsFrom(name, name, place, { ...inWindow(side), sort: `${column}:desc`, limit: 1 });
    if (isKnown(row?.slice)) showSlice(row.slice, claim, place);
  };

const longestStep: Find = async (claim, side, place) => {
  const rows = await rowsFrom("steps", "steps", place, { ...inWindow(side), evidence: undefined });
  const [row] = rows.sort(largestFirst((r) => r.duration));
  if (isKnown(row?.start) && isKnown(row.end)) showStretch(row.start, row.end, claim, place);
};

interface Launches {
  names: { longest: { id: number; duration: number } }[];
}

const longestLaunch: Find = async (claim, _, place) => {
  const query = { run: place.run, worker: place.worker, q: "kind:runtime launch", limit: 1 };
  const { names } = await server().json<Launches>("search", query);
  const [longest] = names.map((n) => n.longest).sort(largestFirst((l) => l.duration));
  if (longest) showSlice(longest.id, claim, place);
};

const memoryPeak: Find = async (claim, _, place) => {
  const [peak] = (await rowsFrom("memory", "peaks", place, {})).sort(largestFirst((r) => r.allocated));
  if (isKnown(peak?.time)) await findMoment(peak.time, peak.device ?? "", claim, place);
};

const FIND: Record<string, Find> = {
  step: longestStep,
  step_for_same_data: longestStep,
  device: most("kernels", "max"),
  host: most("operators", "host_self"),
  host_per_launch: longestLaunch,
  kernels: most("kernels", "calls"),
  memory_peak: memoryPeak,
};

/** Whether a quantity has an event in the side that has it: in B, in A where B has nothing. */
export const tellingSide = (r: { metric: string | null; b: Maybe }, both: Both): Side | undefined =>
  r.metric && r.metric in FIND ? ((r.b ?? 0) > 0 ? both[1] : both[0]) : undefined;

/** Shows where a run has most of what was measured: its longest step, kernel or launch, the moment of its peak. */
export const showMeasuredIn = (metric: string, claim: string, side: Side): void => {
  const find = FIND[metric];
  if (find) void counted(find(claim, side, placeIn(side)));
};
