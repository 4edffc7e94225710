// Fuzzy search: letters in order; beginnings of words and neighbors count more.

interface Match {
  score: number;
  at: number[]; // positions of the letters found
}

const isStart = (text: string, i: number) =>
  i === 0 || /[^a-z0-9]/i.test(text[i - 1] as string) || /[A-Z]/.test(text[i] as string);

export function fuzzy(query: string, text: string): Match | undefined {
  const q = query.toLowerCase();
  const low = text.toLowerCase();
  if (q === "") return { score: 0, at: [] };
  const whole = low.indexOf(q);
  if (whole >= 0) {
    const at = Array.from({ length: q.length }, (_, i) => whole + i);
    return { score: 1000 + (isStart(text, whole) ? 200 : 0) - text.length / 10 - whole / 10, at };
  }
  const at: number[] = [];
  let score = 0;
  let from = 0;
  for (const c of q) {
    const i = low.indexOf(c, from);
    if (i < 0) return undefined;
    score += isStart(text, i) ? 12 : i === from ? 6 : 1;
    at.push(i);
    from = i + 1;
  }
  return { score: score - text.length / 20, at };
}

/**
 * What the palette lists: the query as it is, or letters each of which begins a word or follows the one before it. Letters
 * from anywhere would find nearly every long name.
 */
export function abbreviates(query: string, text: string): Match | undefined {
  const low = text.toLowerCase();
  const q = query.toLowerCase();
  if (q === "" || low.includes(q)) return fuzzy(query, text);
  const find = (k: number, last: number): number[] | undefined => {
    if (k === q.length) return [];
    for (let i = last + 1; i < low.length; i++) {
      if (low[i] !== q[k] || (i !== last + 1 && !isStart(text, i)) || (k === 0 && !isStart(text, i))) continue;
      const rest = find(k + 1, i);
      if (rest) return [i, ...rest];
    }
    return undefined;
  };
  const at = find(0, -1);
  return at && { score: 12 * at.filter((i) => isStart(text, i)).length + 6 * at.length - text.length / 20, at };
}
