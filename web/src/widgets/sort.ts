// The order of a table: several columns, the first counts most.

interface SortKey {
  name: string;
  order: "asc" | "desc";
}

/** `a:desc,b:asc` as a list, the first counts most. */
export function sortKeys(sort: string | undefined): SortKey[] {
  if (!sort) return [];
  return sort.split(",").map((part) => {
    const [name = "", order] = part.split(":");
    return { name, order: order === "asc" ? "asc" : "desc" };
  });
}

/** The order after a click on a head: falling first; with Shift the column becomes (or stays) a second key. */
export function nextSort(sort: string | undefined, name: string, shift: boolean): string {
  const keys = sortKeys(sort);
  const at = keys.findIndex((k) => k.name === name);
  const turned: SortKey = { name, order: keys[at]?.order === "desc" ? "asc" : "desc" };
  const next = !shift ? [turned] : at >= 0 ? keys.map((k, i) => (i === at ? turned : k)) : [...keys, turned].slice(-3);
  return next.map((k) => `${k.name}:${k.order}`).join(",");
}
