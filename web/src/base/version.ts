// Versions that producers write as one number.

/** Three numbers of the parts of one. */
const parts = (n: number, major: number, minor: number): [number, number, number] => [
  Math.floor(n / major),
  Math.floor((n % major) / minor),
  n % minor,
];

/** `13000` of CUDA is 13.0, `130001` of CUPTI 13.0.1, `60443483` of HIP 6.4.43483; everything else stays as it is. */
export function versionWord(key: string, value: string): string {
  const n = Number(value);
  if (!/_version$/.test(key) || !/^\d{5,}$/.test(value)) return value;
  if (n >= 1e7) return parts(n, 1e7, 1e5).join(".");
  if (n >= 1e5) return parts(n, 1e4, 100).join(".");
  const [major, minor] = parts(n, 1000, 10);
  return `${major}.${minor}`;
}
