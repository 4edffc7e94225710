// The difference ramp: seven stops from faster (blue) to slower (orange), the middle one for what did not change.

/** The stop of a change among others, of which `most` is the largest: 0 … 6. The root makes small changes visible. */
export function rampStop(change: number, most: number): number {
  if (!(most > 0)) return 3;
  const away = Math.sqrt(Math.min(1, Math.abs(change) / most));
  return 3 + Math.sign(change) * Math.round(away * 3);
}

export const rampFill = (stop: number): string => `var(--d${stop})`;

export const STOPS = [0, 1, 2, 3, 4, 5, 6] as const;
