// Icons, 15 px, stroke 1.4, in the color of the text around them.
import type { ComponentChildren } from "preact";

const PATHS = {
  overview: "M2.5 11.5a5.7 5.7 0 1 1 10 0M7.5 9l2.6-3.4M5.2 12.3h4.6",
  why: "M5.2 5.4a2.4 2.4 0 1 1 3.4 2.2c-.8.4-1.100.9-1.100 1.800M7.500 12.200h.01",
  code: "M5 4 1.500 7.500 5 11M10 4l3.500 3.500L10 11M8.600 2.600 6.400 12.400",
  timeline: "M2 3.5h6M5 7.5h8M3.5 11.5h5",
  operators: "M2 3.5h11M2 7.5h8M2 11.5h4.5",
  roofline: "M1.8 1.8v11.4h11.4M3.8 11 7.4 5h5.4M9 8.2h.01M11.4 9.6h.01M7.6 10.6h.01",
  kernels: "M4 4h7v7H4zM6.3 6.3h2.4v2.4H6.3zM6 1.8V4M9 1.8V4M6 11v2.2M9 11v2.2M1.8 6H4M1.8 9H4M11 6h2.2M11 9h2.2",
  modules: "M5.5 1.8h4v3.4h-4zM1.6 9.8h4v3.4h-4zM9.4 9.8h4v3.4h-4zM7.5 5.2v2.4M3.6 9.8V7.6h7.8v2.2",
  memory: "M1.8 12.5V9l3.4-5 2.6 3 5.4-2v7.5z",
  steps: "M2 12.8V8h2.6v4.8zM6.2 12.8V3.5h2.6v9.3zM10.4 12.8V6H13v6.8zM1 12.8h13",
  pipeline: "M1.5 7.5h2c2 0 1.6-3.5 3.8-3.5S9 11 11 11c1.4 0 1-3.5 2.5-3.5",
  serving: "M2 3h11v3.500H2zM2 8.500h11V12H2zM4.200 4.750h.01M4.200 10.250h.01M7 4.750h4M7 10.250h4",
  distributed:
    "M2 2.5h3.4v3.4H2zM9.6 2.500H13v3.400H9.600zM2 9.600h3.400V13H2zM9.6 9.600H13V13H9.600zM5.4 5.900l4.2 3.700M9.6 5.9 5.4 9.6",
  hang: "M4 2h7M4 13h7M5 2v2.500l2.500 3 2.500-3V2M5 13v-2.500l2.500-3 2.500 3V13",
  compare: "M2 4h11M2 11h6.500M10.5 9v4M8.500 11h4",
  history: "M2 2v11h11M4 9h3V5h3v2h3",
  query: "M2 3.5h11v8H2zM4.500 6l2 1.500-2 1.500M8 9.500h2.500",
  runs: "M2 3h11v3H2zM2 9h11v3H2z",
  search: "M6.6 11.2a4.6 4.6 0 1 0 0-9.2 4.6 4.6 0 0 0 0 9.200zM10 10l3.3 3.3",
  down: "M4 6l3.5 3.500L11 6",
  right: "M6 4l3.5 3.500L6 11",
  check: "M4.6 7.700l2 2 3.8-4.2",
  close: "M4 4l7 7M11 4l-7 7",
  dots: "M3 7.500h.01M7.5 7.500h.01M12 7.500h.01",
} as const;

type IconName = keyof typeof PATHS;

export function Icon({ name, size = 15 }: { name: IconName; size?: number }) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 15 15" aria-hidden="true">
      <path d={PATHS[name]} fill="none" stroke="currentColor" stroke-width="1.4" stroke-linecap="round" stroke-linejoin="round" />
    </svg>
  );
}

export function Logo() {
  return (
    <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
      <path d="M4.4 15.400a7.6 7.6 0 1 1 11.2 0" fill="none" stroke="var(--t1)" stroke-width="2" stroke-linecap="round" />
      <path d="M10 11.500l3-4" stroke="var(--data_loader)" stroke-width="2" stroke-linecap="round" />
      <circle cx="10" cy="11.5" r="1.6" fill="var(--t1)" />
    </svg>
  );
}

export function ThemeIcon() {
  return (
    <svg class="icon" width="15" height="15" viewBox="0 0 15 15" aria-hidden="true">
      <circle cx="7.5" cy="7.5" r="5.5" fill="none" stroke="currentColor" stroke-width="1.4" />
      <path d="M7.5 2a5.5 5.5 0 0 1 0 11z" fill="currentColor" />
    </svg>
  );
}

type SeverityName = "good" | "info" | "warning" | "critical";

const SHAPES: Record<SeverityName, ComponentChildren> = {
  critical: (
    <>
      <path d="M5.3 1.500h5.400l3.8 3.800v5.400l-3.8 3.800H5.300l-3.8-3.800V5.300z" fill="var(--critical)" />
      <path d="M8 4.600v4.200M8 11.200v.1" stroke="var(--surface)" stroke-width="1.8" stroke-linecap="round" />
    </>
  ),
  warning: (
    <path
      d="M8 2.200l6.3 11.300H1.700zM8 6.400v3.400M8 11.700v.1"
      fill="none"
      stroke="var(--warning)"
      stroke-width="1.5"
      stroke-linejoin="round"
      stroke-linecap="round"
    />
  ),
  info: (
    <path
      d="M8 14.200A6.2 6.2 0 1 0 8 1.800a6.2 6.2 0 0 0 0 12.400zM8 7.400v3.600M8 4.900v.1"
      fill="none"
      stroke="var(--info)"
      stroke-width="1.5"
      stroke-linecap="round"
    />
  ),
  good: (
    <path
      d="M8 14.200A6.2 6.2 0 1 0 8 1.800a6.2 6.2 0 0 0 0 12.400zM5.2 8.200l2 2 3.7-4.2"
      fill="none"
      stroke="var(--good)"
      stroke-width="1.5"
      stroke-linecap="round"
      stroke-linejoin="round"
    />
  ),
};

/** Severity has a shape too: octagon, triangle, circle, tick. */
export function SeverityMark({ severity, size = 16, label }: { severity: SeverityName; size?: number; label?: string }) {
  return (
    <svg class="severity" width={size} height={size} viewBox="0 0 16 16" role="img" aria-label={label ?? severity}>
      {SHAPES[severity]}
    </svg>
  );
}
