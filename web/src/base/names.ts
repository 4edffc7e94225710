// Names of kernels and operators, short enough for a cell. The full name stays on hover and copy.

const WRAPPERS = /(^|::)(Kernel2?|device_kernel|kernel_entry)$/;

/** Parts between commas that stand outside every bracket. */
function splitTop(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text[i] as string;
    if ("<({[".includes(c)) depth++;
    else if (">)}]".includes(c) && text[i - 1] !== "-") depth--;
    else if (c === "," && depth === 0) {
      parts.push(text.slice(from, i).trim());
      from = i + 1;
    }
  }
  parts.push(text.slice(from).trim());
  return parts;
}

function closing(text: string, open: number): number {
  let depth = 0;
  for (let i = open; i < text.length; i++) {
    if (text[i] === "<") depth++;
    else if (text[i] === ">" && text[i - 1] !== "-" && --depth === 0) return i;
  }
  return text.length;
}

const lastScope = (text: string) => text.split("::").pop() ?? text;

function simpleArgument(text: string): string {
  const bare = text.replace(/\(anonymous namespace\)::/g, "");
  const end = bare.search(/[<({]/);
  const head = end < 0 ? bare : bare.slice(0, end).replace(/::$/, "");
  return lastScope(head).trim();
}

/** `void at::native::f<A<B>, 4>(int)` becomes `f<A, 4>`; a wrapper gives way to what it wraps. */
export function foldKernel(name: string): string {
  const text = name.replace(/^(void|auto) /, "").replace(/\(anonymous namespace\)::/g, "");
  const open = text.indexOf("<");
  const paren = text.indexOf("(");
  if (open < 0 || (paren >= 0 && paren < open)) return lastScope(paren > 0 ? text.slice(0, paren) : text);
  const base = text.slice(0, open);
  const parts = splitTop(text.slice(open + 1, closing(text, open)));
  if (WRAPPERS.test(base) && parts[0]) return foldKernel(parts[0]);
  const shown = parts
    .slice(0, 2)
    .map(simpleArgument)
    .filter((p) => p !== "");
  return `${lastScope(base)}<${shown.join(", ")}${parts.length > shown.length ? ", …" : ""}>`;
}

/** Cut in the middle, because the ends of names differ. */
export function cutMiddle(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = Math.ceil((limit - 1) / 2);
  return `${text.slice(0, head)}…${text.slice(text.length - (limit - 1 - head))}`;
}

export const kernelLabel = (name: string, limit = 46): string => cutMiddle(foldKernel(name), limit);

/** Without the prefix nearly every name has. */
export const operatorLabel = (name: string): string =>
  name.replace(/^autograd::engine::evaluate_function: /, "").replace(/^aten::/, "");

/** `[[4096, 768], [768, 50257]]` as `[4096, 768] × [768, 50257]`; scalars are left out. */
export function shapesLabel(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    if (!Array.isArray(value)) return text;
    const shapes = value.filter((s) => !Array.isArray(s) || s.length > 0).map((s) => JSON.stringify(s).replace(/,/g, ", "));
    return shapes.length ? shapes.join(" × ") : "[]";
  } catch {
    return text;
  }
}
