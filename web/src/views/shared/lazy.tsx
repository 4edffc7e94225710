// A view, or a part of the frame, whose script is fetched when it is first shown.
import { signal } from "@preact/signals";
import type { ComponentChild } from "preact";
import { useEffect } from "preact/hooks";
import { generation, lostError, tries } from "../../model/answers.ts";
import { Failure, Waiting } from "../../widgets/panel.tsx";

type View<P> = (props: P) => ComponentChild;

/** `height`: of the gray bars in its place until then; 0 for none. */
export function lazy<P extends object = object>(load: () => Promise<View<P>>, height = 300): View<P> {
  const loaded = signal<View<P> | undefined>(undefined);
  const failed = signal(false);
  return function Lazy(props: P) {
    // When the server was unreachable, the script is fetched again together with everything else.
    useEffect(() => {
      if (loaded.peek()) return;
      load().then(
        (v) => {
          loaded.value = v;
        },
        () => {
          failed.value = true;
        },
      );
    }, [generation.value, tries.value]);
    const Loaded = loaded.value;
    if (Loaded) return <Loaded {...props} />;
    if (height === 0) return null;
    return failed.value ? <Failure error={lostError()} /> : <Waiting height={height} />;
  };
}
