// The order of modules that have the same parent.
import { largest, sum } from "../../base/aggregate.ts";
import type { Row } from "../../model/trace.ts";
import { sortKeys } from "../../widgets/sort.ts";

export type Module = Row<"modules", "modules">;

export interface Branch {
  row: Module;
  kids: Branch[];
}

const byNumber = new Intl.Collator("en", { numeric: true });
const nameOf = (b: Branch) => String(b.row.module);

/** What a module is an instance of: `GPT2Block_3` of `GPT2Block`. */
export const classOf = (module: string): string => module.replace(/_\d+$/, "");

/**
 * Without a sorted column: the classes that take the most `time` first, the instances of one class by their numbers, as
 * the program has them. Twelve blocks that take nearly the same time would otherwise be in an order of chance.
 */
export function siblings(kids: readonly Branch[], time: (m: Module) => number | null, sort = ""): Branch[] {
  const key = sortKeys(sort)[0];
  if (key) {
    const sign = key.order === "asc" ? 1 : -1;
    const value = (b: Branch) => b.row[key.name as keyof Module];
    return [...kids].sort((a, b) =>
      key.name === "module"
        ? sign * byNumber.compare(nameOf(a), nameOf(b))
        : sign * (Number(value(a) ?? 0) - Number(value(b) ?? 0)) || byNumber.compare(nameOf(a), nameOf(b)),
    );
  }
  const classes = new Map<string, Branch[]>();
  for (const k of kids) classes.set(classOf(nameOf(k)), [...(classes.get(classOf(nameOf(k))) ?? []), k]);
  const total = (list: readonly Branch[]) => sum(list, (b) => time(b.row)) ?? 0;
  return [...classes.values()]
    .sort((a, b) => total(b) - total(a) || largest(b, (k) => time(k.row), 0) - largest(a, (k) => time(k.row), 0))
    .flatMap((list) => list.sort((a, b) => byNumber.compare(nameOf(a), nameOf(b))));
}
