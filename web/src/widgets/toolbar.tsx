// A row of controls that is always one row: what has no room is in a list at its end, those with the highest
// `leaves` first. So nothing below it moves when a control grows or the window shrinks.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon } from "./icons.tsx";

export interface ToolItem {
  id: string;
  node: ComponentChildren; // null: not now
  leaves?: number; // 0 or none: never leaves
  grows?: boolean; // takes what is left
}

const GAP = 8;
const MORE = 34; // px of the button

/** Which items stay, given their widths; those without a known width count as nothing. */
export function staying(items: readonly ToolItem[], widths: ReadonlyMap<string, number>, room: number): ToolItem[] {
  const need = (list: readonly ToolItem[]) => list.reduce((sum, i) => sum + (widths.get(i.id) ?? 0) + GAP, -GAP);
  if (need(items) <= room) return [...items];
  const left = [...items];
  while (need(left) > room - MORE - GAP) {
    const next = left.reduce<ToolItem | undefined>((a, b) => ((b.leaves ?? 0) >= (a?.leaves ?? 1) ? b : a), undefined);
    if (!next) break;
    left.splice(left.indexOf(next), 1);
  }
  return left;
}

interface Props {
  label: string;
  more: string; // spoken, of the button
  items: readonly ToolItem[];
  class?: string;
}

export function Toolbar({ label, more, items, class: kind = "" }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const widths = useRef(new Map<string, number>());
  const [room, setRoom] = useState(Number.POSITIVE_INFINITY);
  const [open, setOpen] = useState(false);
  const there = items.filter((i) => i.node !== null && i.node !== false);
  const shown = staying(there, widths.current, room);
  const rest = there.filter((i) => !shown.includes(i));
  useLayoutEffect(() => {
    const el = box.current;
    if (!el) return;
    const read = () => {
      const style = getComputedStyle(el);
      const inner = el.clientWidth - Number.parseFloat(style.paddingLeft) - Number.parseFloat(style.paddingRight);
      // What grows needs its least width; the others what they have.
      for (const one of el.querySelectorAll<HTMLElement>(":scope > [data-tool]")) {
        const least = Number.parseFloat(getComputedStyle(one).minWidth);
        const grows = one.dataset.grows !== undefined;
        widths.current.set(one.dataset.tool ?? "", grows ? least || 0 : one.scrollWidth);
      }
      setRoom(inner);
    };
    read();
    const watch = new ResizeObserver(read);
    watch.observe(el);
    for (const one of el.children) watch.observe(one);
    return () => watch.disconnect();
  }, [shown.map((i) => i.id).join()]);
  const close = (e: KeyboardEvent) => {
    if (e.key !== "Escape") return;
    e.stopPropagation();
    setOpen(false);
  };
  return (
    <div class={`toolbar ${kind}`} role="toolbar" aria-label={label} ref={box}>
      {shown.map((i) => (
        <div key={i.id} class={i.grows ? "tool grows" : "tool"} data-tool={i.id} {...(i.grows ? { "data-grows": "" } : {})}>
          {i.node}
        </div>
      ))}
      {rest.length ? (
        <div class="menu tool-more">
          <button
            type="button"
            class="menu-button"
            aria-expanded={open}
            aria-label={`${more} +${rest.length}`}
            onClick={() => setOpen(!open)}
          >
            <Icon name="dots" size={13} />
          </button>
          {open ? (
            <div class="menu-list menu-right tool-list" onKeyDown={close}>
              {rest.map((i) => (
                <div key={i.id}>{i.node}</div>
              ))}
            </div>
          ) : null}
        </div>
      ) : null}
    </div>
  );
}
