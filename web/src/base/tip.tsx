// Definitions on hover or focus: one floating card for the whole page.
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

interface Tip {
  at: DOMRect;
  body: ComponentChildren;
}

const shown = signal<Tip | undefined>(undefined);
let timer: ReturnType<typeof setTimeout> | undefined;

function show(target: EventTarget | null, body: ComponentChildren, delay: number): void {
  clearTimeout(timer);
  if (!(target instanceof Element)) return;
  timer = setTimeout(() => {
    if (target.isConnected) shown.value = { at: target.getBoundingClientRect(), body };
  }, delay);
}

export function hideTip(): void {
  clearTimeout(timer);
  if (shown.peek()) shown.value = undefined;
}

/** Properties that give an element a card. Charts answer at once, words after 350 ms. */
export function tip(body: ComponentChildren, delay = 350) {
  return {
    onMouseEnter: (e: Event) => show(e.currentTarget, body, delay),
    onMouseLeave: hideTip,
    onFocus: (e: Event) => show(e.currentTarget, body, delay),
    onBlur: hideTip,
  };
}

/** A definition: title, the registry's words, the path of the column. */
export function Definition({ title, help, path }: { title: string; help?: string | undefined; path?: string | undefined }) {
  return (
    <>
      <b>{title}</b>
      {help ? <p>{help}</p> : null}
      {path ? <code>{path}</code> : null}
    </>
  );
}

export function TipLayer() {
  const box = useRef<HTMLDivElement>(null);
  const now = shown.value;
  useLayoutEffect(() => {
    const el = box.current;
    if (!el || !now) return;
    const size = el.getBoundingClientRect();
    const left = Math.min(Math.max(8, now.at.left), innerWidth - size.width - 8);
    const below = now.at.bottom + 6;
    el.style.left = `${left}px`;
    el.style.top = `${below + size.height > innerHeight - 8 ? Math.max(8, now.at.top - size.height - 6) : below}px`;
  });
  if (!now) return null;
  return (
    <div class="tip" role="tooltip" ref={box}>
      {now.body}
    </div>
  );
}
