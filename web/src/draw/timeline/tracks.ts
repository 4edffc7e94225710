// Lanes, groups and slices as the server names them (docs/SERVER.md), as far as drawing needs them.

export type LaneKind =
  | "steps"
  | "stream"
  | "ranges"
  | "work"
  | "calls"
  | "python"
  | "async"
  | "span"
  | "instants"
  | "counter"
  | "utilization"
  | "memory";

export interface Lane {
  id: number;
  kind: LaneKind;
  group: number;
  track: number;
  name: string;
  rows: number;
  slices: number;
  busy?: number;
  closed: boolean;
  device?: number;
  /** What its maker calls it: GPU, NPU, … */
  device_type?: string;
  stream?: number;
  role?: string;
  tid?: string | number;
  series?: string;
  side?: string; // of memory: host or device
  unit?: string;
  max?: number;
}

export interface Group {
  id: number;
  kind: "device" | "process" | string;
  name: string;
  detail?: string;
  device?: number;
  pid?: string | number;
  labels?: string;
  closed: boolean;
}

export interface Tracks {
  trace: { run: string; worker: string; span: string; format: string; duration_ns: number; events: number };
  lanes: Lane[];
  left_out?: number; // lanes of the least busy threads, where there are more than anybody draws
  groups: Group[];
  steps: { total: number; number: number[]; start: number[]; end: number[] };
}

/** A slice another one points to. */
export interface Ref {
  id: number;
  name: string;
  kind: string;
  start: number;
  duration: number;
  track: number;
  lane: number;
  row: number;
}
