// The window of a table.
import { useLayoutEffect, useRef, useState } from "preact/hooks";

/** The part of a table that is seen: its size, followed as it changes, and how far it is scrolled. */
export function useView() {
  const box = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState({ width: 0, height: 600 });
  useLayoutEffect(() => {
    const el = box.current;
    if (!el) return;
    const read = () =>
      setSize((old) =>
        old.width === el.clientWidth && old.height === el.clientHeight ? old : { width: el.clientWidth, height: el.clientHeight },
      );
    read();
    const watch = new ResizeObserver(read);
    watch.observe(el);
    return () => watch.disconnect();
  }, []);
  return { box, ...size };
}
