// The filter field of a table. Keystrokes change the address without a new entry in the history.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { go, param } from "../../model/route.ts";
import { Icon } from "../../widgets/icons.tsx";

export function Filter({ label, name = "q" }: { label: string; name?: string }) {
  const now = param(name);
  const [text, setText] = useState(now);
  // What this field wrote itself must not come back and overwrite what was typed since.
  const sent = useRef(now);
  useLayoutEffect(() => {
    if (now === sent.current) return;
    sent.current = now;
    setText(now);
  }, [now]);
  useLayoutEffect(() => {
    if (text === now) return;
    const timer = setTimeout(() => {
      sent.current = text;
      go({ params: { [name]: text } }, true);
    }, 160);
    return () => clearTimeout(timer);
  }, [text, now, name]);
  return (
    <label class="filter">
      <Icon name="search" />
      <input
        type="search"
        data-filter
        placeholder={label}
        aria-label={label}
        value={text}
        onInput={(e) => setText(e.currentTarget.value)}
        onKeyDown={(e) => {
          if (e.key !== "Escape") return;
          e.stopPropagation();
          setText("");
          e.currentTarget.blur();
        }}
      />
      <kbd>/</kbd>
    </label>
  );
}
