// The width of an element, followed as it changes.
import { useLayoutEffect, useRef, useState } from "preact/hooks";

export function useWidth(first: number): [{ current: HTMLDivElement | null }, number] {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(first);
  useLayoutEffect(() => {
    const el = box.current;
    if (!el) return;
    const read = () => setWidth(Math.max(40, Math.floor(el.clientWidth)));
    read();
    const watch = new ResizeObserver(read);
    watch.observe(el);
    return () => watch.disconnect();
  }, []);
  return [box, width];
}
