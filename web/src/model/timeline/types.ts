// What the timeline reads of docs/SERVER.md.
import type { Table } from "../../api/types.ts";
import type { Ref } from "../../draw/timeline/tracks.ts";

export interface Same {
  count: number;
  total: number;
  mean: number;
  min: number;
  max: number;
  share: number | null;
  percentile: number | null;
  histogram: { from: number; to: number; counts: number[]; own: number; edges?: number[] } | null;
}

export interface SliceAnswer {
  slice: {
    id: number;
    name: string;
    kind: string;
    category?: string;
    start: number;
    duration: number;
    self?: number;
    depth?: number;
    lane: number;
    row: number;
    flags?: string[];
    track?: { id: number; name: string; kind: string; tid?: string | number; device?: number };
    process?: { id: number; name: string; pid: string | number };
    step?: { number: number; offset: number };
  };
  arguments?: Record<string, unknown>;
  stack?: { name: string; file?: string; line?: number }[];
  stack_of?: Ref; // whose stack it is: of backward work, the forward operator
  kernel?: Record<string, unknown>;
  op?: Record<string, unknown>;
  collective?: Record<string, unknown>;
  module?: { name: string; id?: number };
  parent?: Ref;
  children?: Ref[];
  n_children?: number;
  previous?: Ref;
  next?: Ref;
  kernels?: Ref[];
  n_kernels?: number;
  kernel_time?: number;
  why?: (Ref & { role: string; delay?: number })[];
  wait?: { id: string; time: number; behind: Ref | null };
  flows?: (Ref & { direction: "in" | "out"; flow?: string })[];
  same_name?: Same;
}

export interface SearchAnswer {
  q: string;
  total: number;
  names: { name: string; kind: string; count: number; total: number; longest: Ref }[];
  n_names: number;
  index: number;
  hits: Ref[];
  ticks: number[];
  ticks_complete: boolean;
}

/** The tables of `area`, which is a route and no analysis: its columns are not among the generated ones. */
export interface AreaTables {
  area: { name: string } & Record<"kind", string | null> &
    Record<"count" | "total" | "self" | "mean" | "min" | "max" | "share", number | null>;
  tracks: { lane: number; name: string } & Record<"count" | "busy" | "share", number | null>;
  counters: { lane: number; name: string } & Record<"first" | "last" | "min" | "max" | "mean", number | null>;
  idle: { cause: string } & Record<"time" | "share", number | null>;
}

export interface AreaAnswer {
  tables: { [T in keyof AreaTables]?: Table<AreaTables[T]> };
}
