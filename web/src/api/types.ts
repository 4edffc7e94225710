// The shapes of docs/API.md and docs/SERVER.md that the page reads.

export interface Column {
  name: string;
  type: "int" | "real" | "string" | "bool" | "big";
  unit?: string;
  help?: string;
}

export type Cell = string | number | boolean | null;

export interface Table {
  columns: Column[];
  rows: Cell[][];
  total_rows: number;
}

export type Severity = "good" | "info" | "warning" | "critical";

export interface Verdict {
  id: string;
  severity: Severity;
  values: Record<string, number | string>;
  text: { en: string; zh: string };
}

export interface Quality {
  events_read: number;
  events_dropped: { cause: string; text: string; count: number }[];
  links: { what: string; linked: number; total: number }[];
  notes: unknown[];
}

export interface Answer {
  schema: string;
  analysis: string;
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
  tables: Record<string, Table>;
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
  workers: WorkerInfo[];
}

export interface WorkerInfo {
  name: string;
  rank: number | null;
  role: "rank" | "trace" | "loader" | "child" | "launcher" | "other";
  owner: string | null; // of loaders and children
  spans: SpanInfo[];
}

export interface Runs {
  version: number;
  path: string;
  loading: { done: number; total: number };
  summaries: { done: number; total: number };
  memory: { used: number; limit: number };
  runs: RunInfo[];
  passed: { path: string; what: string; why: string | null }[]; // files that are not read
}
