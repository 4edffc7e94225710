// A view whose script is fetched when it is first shown.
import { signal } from "@preact/signals";
import type { ComponentChild } from "preact";
import { useEffect } from "preact/hooks";
import { Waiting } from "../widgets/panel.tsx";

type View = () => ComponentChild;

export function lazy(load: () => Promise<View>): View {
  const loaded = signal<View | undefined>(undefined);
  return function Lazy() {
    useEffect(() => {
      if (!loaded.peek())
        void load().then((v) => {
          loaded.value = v;
        });
    }, []);
    const Loaded = loaded.value;
    return Loaded ? <Loaded /> : <Waiting height={300} />;
  };
}
