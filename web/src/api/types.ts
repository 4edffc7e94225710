// The shapes of docs/API.md and docs/SERVER.md that the page reads.
import type { AnalysisName, Tables } from "./tables.ts";

export interface Column {
  name: string;
  type: "int" | "real" | "string" | "bool" | "big";
  unit?: string;
  help?: string;
}

export type Cell = string | number | boolean | null;

/** A table of an answer. `R` is a row of it by the names of its columns; the rows themselves come without names. */
export interface Table<R = object> {
  columns: Column[];
  rows: Cell[][];
  total_rows: number;
  readonly rowType?: R; // never set: only for the type
}

/** The tables of an analysis by name; those that were not asked for are missing. */
export type TableName<N extends AnalysisName> = keyof Tables[N] & string;
export type RowOf<N extends AnalysisName, T extends TableName<N>> = Tables[N][T];

export type Severity = "good" | "info" | "warning" | "critical";

export interface Verdict {
  id: string;
  severity: Severity;
  values: Record<string, number | string>;
  text: { en: string; zh: string };
}

interface Quality {
  events_read: number;
  events_dropped: { cause: string; text: string; count: number }[];
  links: { what: string; linked: number; total: number }[];
  notes: unknown[];
}

export interface Answer<N extends AnalysisName = AnalysisName> {
  schema: string;
  analysis: N;
  trace: {
    path: string | null;
    format: string;
    run: string;
    worker: string;
    span: string;
    start_unix_ns: string | null;
    duration_ns: number;
  };
  quality: Quality;
  verdict?: Verdict;
  tables: { [T in TableName<N>]?: Table<RowOf<N, T>> };
}

export interface ApiError {
  code: string;
  msg: string;
  id: string;
  values: Record<string, unknown>;
  offset: number | null;
}

export type SpanState = "growing" | "waiting" | "loading" | "ready" | "failed" | "resting";

export interface SpanInfo {
  number: number;
  stamp: string | null;
  bytes: number;
  date: string;
  state: SpanState;
  growing: boolean; // still being written
  share: number;
  error: ApiError | null;
  facts: {
    format: string;
    events: number;
    duration: number;
    start_unix_ns: string | null;
    steps: number;
    mean_step: number | null;
    damaged: boolean;
    verdict: Omit<Verdict, "values"> | null;
  } | null;
}

export interface RunInfo {
  name: string;
  path: string;
  date: string;
  ranks: number; // how many of the workers are ranks; they come first
  recording: { processes: number; steps: number } | null; // while tacho records it
  workers: WorkerInfo[];
}

interface WorkerInfo {
  name: string;
  rank: number | null;
  role: "rank" | "trace" | "loader" | "child" | "launcher" | "other";
  owner: string | null; // of loaders and children
  spans: SpanInfo[];
}

export interface Runs {
  version: number;
  path: string;
  source_root: string | null; // folder that relative paths of source code belong to
  loading: { done: number; total: number };
  summaries: { done: number; total: number };
  memory: { used: number; limit: number };
  upload: { used: number; limit: number } | null; // space for dropped files; null: none are taken
  runs: RunInfo[];
  passed: { path: string; what: string; why: string | null }[]; // files that are not read
}
