// How far ranks are apart in something: from the one that spent least to the one that spent most; and the way to a rank.
import { isKnown, type Maybe } from "../../base/aggregate.ts";
import { ABSENT, short } from "../../base/format.ts";
import { changeTrace } from "../../model/steps.ts";

interface Props {
  least: Maybe;
  middle: Maybe;
  most: Maybe;
}

/** From the shortest to the longest, with a mark at the median, over zero to the longest. */
export function RankRange({ least, middle, most }: Props) {
  if (!isKnown(least) || !isKnown(middle) || !isKnown(most) || most === 0) return <>{ABSENT}</>;
  const x = (v: number) => `${(v / most) * 100}%`;
  const label = `${short(least, "ns")} – ${short(middle, "ns")} – ${short(most, "ns")}`;
  return (
    <svg class="spread-range" width="100%" height="10" role="img" aria-label={label}>
      <title>{label}</title>
      <rect y="2" width="100%" height="6" rx="3" fill="var(--track)" />
      <rect x={x(least)} y="2" width={x(most - least)} height="6" fill="var(--accent)" opacity="0.45" />
      <rect x={x(middle)} y="0" width="2" height="10" fill="var(--t1)" transform="translate(-1 0)" />
    </svg>
  );
}

export function RankLink({ worker }: { worker: string }) {
  return (
    <button type="button" class="link" onClick={() => changeTrace({ worker, span: undefined })}>
      {worker}
    </button>
  );
}
