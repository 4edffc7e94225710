// Patterns, once in the page: gray hatch = lost time, stripes = two things at once, waiting = stripes on
// the surface. Charts refer to them by url(#…).

function Stripes({ id, ground, line }: { id: string; ground: string; line: string }) {
  return (
    <pattern id={id} width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
      <rect width="5" height="5" fill={ground} />
      <rect width="1.6" height="5" fill={line} />
    </pattern>
  );
}

export function Patterns() {
  return (
    <svg width="0" height="0" class="patterns" aria-hidden="true">
      <defs id="patterns">
        <Stripes id="hatch" ground="var(--surface)" line="var(--other)" />
        <Stripes id="overlap" ground="var(--kernel)" line="var(--communication)" />
        <Stripes id="blocked" ground="var(--surface)" line="var(--critical)" />
        <Stripes id="waiting" ground="var(--surface)" line="var(--communication)" />
      </defs>
    </svg>
  );
}

export const CATEGORIES = ["kernel", "memcpy", "memset", "communication", "runtime", "data_loader", "cpu_exec", "other"] as const;
export type Category = (typeof CATEGORIES)[number];

/** The fill of a category; what is lost is hatched. */
export const fillOf = (category: string): string =>
  category === "other" || category === "idle" ? "url(#hatch)" : `var(--${category})`;

/** The n-th categorical color. */
export const nth = (i: number): string => `var(--c${(i % 12) + 1})`;
