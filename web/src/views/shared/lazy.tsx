// A view, or a part of the frame, whose script is fetched when it is first shown.
import { signal } from "@preact/signals";
import type { ComponentChild } from "preact";
import { useEffect } from "preact/hooks";
import { Waiting } from "../../widgets/panel.tsx";

type View<P> = (props: P) => ComponentChild;

/** `height`: of the gray bars in its place until then; 0 for none. */
export function lazy<P extends object = object>(load: () => Promise<View<P>>, height = 300): View<P> {
  const loaded = signal<View<P> | undefined>(undefined);
  return function Lazy(props: P) {
    useEffect(() => {
      if (!loaded.peek())
        void load().then((v) => {
          loaded.value = v;
        });
    }, []);
    const Loaded = loaded.value;
    return Loaded ? <Loaded {...props} /> : height ? <Waiting height={height} /> : null;
  };
}
