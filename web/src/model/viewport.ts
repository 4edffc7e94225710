// What the timeline shows of the trace, for the tape to mark: not the window, which every view obeys.
import { signal } from "@preact/signals";

export interface Range {
  from: number; // ns from the start of the trace
  to: number;
}

export const viewport = signal<Range | undefined>(undefined);
/** The timeline sets this: a drag on the tape's box pans it. */
export const panViewport = signal<((to: Range) => void) | undefined>(undefined);
/** Times of search hits, marked along the lower edge of the tape. */
export const hitMarks = signal<readonly number[]>([]);
