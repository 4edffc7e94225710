// Sums, means and extremes of what is known. Absent is not zero: it adds nothing, is not averaged, and where nothing is
// known there is no mean. One pass over any number of values; Math.max(...list) breaks above some hundred thousand.

/** A number, or none: not recorded, not applicable, not there yet. */
export type Maybe = number | null | undefined;

export const isKnown = (value: unknown): value is number => typeof value === "number";

/** The sum of the known values; 0 where there are none, for shapes that then have no length. */
export function sum<T>(list: Iterable<T>, of: (item: T) => Maybe): number {
  let all = 0;
  for (const item of list) all += of(item) ?? 0;
  return all;
}

/** The sum for readers: none where nothing is known. */
export function total<T>(list: readonly T[], of: (item: T) => Maybe): number | null {
  return list.some((item) => isKnown(of(item))) ? sum(list, of) : null;
}

/** The mean of the known values; none where there are none. */
export function mean<T>(list: Iterable<T>, of: (item: T) => Maybe): number | null {
  let [all, n] = [0, 0];
  for (const item of list) {
    const value = of(item);
    if (!isKnown(value)) continue;
    all += value;
    n++;
  }
  return n > 0 ? all / n : null;
}

/** The largest known value, at least `least`. */
export function largest<T>(list: Iterable<T>, of: (item: T) => Maybe, least = Number.NEGATIVE_INFINITY): number {
  let most = least;
  for (const item of list) {
    const value = of(item);
    if (isKnown(value) && value > most) most = value;
  }
  return most;
}

/** The smallest known value, at most `most`. */
export function smallest<T>(list: Iterable<T>, of: (item: T) => Maybe, most = Number.POSITIVE_INFINITY): number {
  return -largest(list, (item) => negative(of(item)), -most);
}

const negative = (value: Maybe): Maybe => (isKnown(value) ? -value : value);

/** The part of a whole; none where either is not known or the whole is nothing. */
export const shareOf = (part: Maybe, whole: Maybe): number | null =>
  isKnown(part) && isKnown(whole) && whole > 0 ? part / whole : null;

/** Orders by the largest value first; what has none comes last. */
export const largestFirst =
  <T>(of: (item: T) => Maybe) =>
  (a: T, b: T): number => {
    const [x, y] = [of(a), of(b)];
    if (isKnown(x) && isKnown(y)) return y - x;
    return Number(isKnown(y)) - Number(isKnown(x));
  };

export const self = <T>(item: T): T => item;
