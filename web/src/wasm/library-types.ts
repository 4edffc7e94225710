// The types of the package for node; site.mjs makes its index.d.ts of this file.
export type Parameters = Record<string, string | number | readonly string[] | undefined>;

export interface Reply {
  code: number;
  media: string;
  name: string; // of a file to save; empty: none
  body: Uint8Array;
}

export interface Table {
  columns: { name: string; type: string; unit?: string }[];
  rows: unknown[][];
}

export interface Answer {
  verdict?: { id: string; text: string };
  tables: Record<string, Table>;
}

export interface Trace {
  /** Any route of docs/API.md, and its parameters. */
  ask(route: string, parameters?: Parameters): Answer;
  /** Rows of an SQL question as objects. */
  query(sql: string, parameters?: Parameters): Record<string, unknown>[];
  /** The same as a stream of Arrow. */
  arrow(sql: string, parameters?: Parameters): Uint8Array;
  /** The answer as it is, of any route and format. */
  raw(route: string, parameters?: Parameters): Reply;
}

/** Opens a trace, a run or a folder of runs. Throws with a sentence when it cannot be read. */
export type Open = (path: string) => Promise<Trace>;
