// The report the page is in, if it is in one: what its file has in addition to the page.
interface Place {
  run: string;
  worker: string;
  part: number;
}

export interface ReportIndex {
  tacho: string;
  run: string;
  other: string;
  workers: Record<string, string[]>;
  detail?: [number, number]; // steps that are inside as a whole
  not_inside: Record<string, string>;
  answers: Record<string, number>; // by "RUN\nWORKER\nROUTE?PARAMETERS\nLANGUAGE"
  tiles: (Place & { from: number; to: number; whole: boolean })[];
  slices: (Place & { first: number; last: number })[];
}

/** What the file's own script leaves for the page (report.ts). */
export interface Report {
  index: ReportIndex;
  unpack: (part: string) => Promise<ArrayBuffer>;
}

export const theReport = (): Report | undefined => (globalThis as { tachoReport?: Report }).tachoReport;
