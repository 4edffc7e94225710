// The window of a table.
import { useLayoutEffect, useRef, useState } from "preact/hooks";

/** What scrolls the table: the part of the page around it, or the table itself. */
const scrollerOf = (box: HTMLElement, flows: boolean): HTMLElement => (flows ? (box.closest("main") ?? box) : box);

export interface View {
  width: number;
  height: number; // of what is seen
  top: number; // how far the rows are scrolled
}

/**
 * The part of a table that is seen: its size and how far it is scrolled, followed as they change. A table that `flows` is
 * scrolled with the page, so that there is one bar instead of two.
 */
export function useView(flows: boolean) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState<View>({ width: 0, height: 600, top: 0 });
  useLayoutEffect(() => {
    const el = box.current;
    if (!el) return;
    const scroller = scrollerOf(el, flows);
    const read = () => {
      const top = flows ? scroller.getBoundingClientRect().top - el.getBoundingClientRect().top : el.scrollTop;
      const next = { width: el.clientWidth, height: scroller.clientHeight, top: Math.max(0, top) };
      setView((old) => (old.width === next.width && old.height === next.height && old.top === next.top ? old : next));
    };
    read();
    const watch = new ResizeObserver(read);
    watch.observe(el);
    watch.observe(scroller);
    scroller.addEventListener("scroll", read, { passive: true });
    return () => {
      watch.disconnect();
      scroller.removeEventListener("scroll", read);
    };
  }, [flows]);
  /** Scrolls so far that `y` px of the rows, and the row below it, are seen. */
  const reveal = (y: number, row: number) => {
    const el = box.current;
    if (!el) return;
    const scroller = scrollerOf(el, flows);
    const top = flows ? scroller.getBoundingClientRect().top - el.getBoundingClientRect().top : el.scrollTop;
    if (y < top) scroller.scrollTop += y - top;
    else if (y > top + scroller.clientHeight - 3 * row) scroller.scrollTop += y - top - scroller.clientHeight + 3 * row;
  };
  return { box, reveal, ...view };
}
