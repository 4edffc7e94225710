// The rules of a chart whose values go upwards: a thin line at each round number, the number at its left.

interface RulesProps {
  marks: readonly number[]; // in the unit of the labels
  at: (mark: number) => number; // their height
  left: number;
  right: number;
  format?: (mark: number) => string;
}

export function Rules({ marks, at, left, right, format = String }: RulesProps) {
  return (
    <>
      {marks.map((m) => (
        <g key={m}>
          <line x1={left} x2={right} y1={at(m)} y2={at(m)} stroke="var(--line)" />
          <text x={left - 6} y={at(m) + 4} text-anchor="end" class="axis">
            {format(m)}
          </text>
        </g>
      ))}
    </>
  );
}
