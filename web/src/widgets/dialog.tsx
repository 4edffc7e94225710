// Dialogs and drawers: they trap the focus, close on Escape, and give the focus back.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

interface DialogProps {
  class: string;
  label: string;
  children: ComponentChildren;
  onClose: () => void;
}

const FOCUSABLE = "button,a[href],input,select,textarea,[tabindex]:not([tabindex='-1'])";

export function Dialog({ class: name, label, children, onClose }: DialogProps) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    const first = box.current?.querySelector<HTMLElement>("[data-first]") ?? box.current?.querySelector<HTMLElement>(FOCUSABLE);
    (first ?? box.current)?.focus();
    return () => before?.focus();
  }, []);
  const keys = (e: KeyboardEvent) => {
    if (e.key === "Escape") {
      e.stopPropagation();
      onClose();
    }
    if (e.key !== "Tab") return;
    const all = [...(box.current?.querySelectorAll<HTMLElement>(FOCUSABLE) ?? [])];
    const [first, last] = [all[0], all[all.length - 1]];
    if (!first || !last) return;
    const leave = e.shiftKey ? first : last;
    if (document.activeElement === leave || !box.current?.contains(document.activeElement)) {
      e.preventDefault();
      (e.shiftKey ? last : first).focus();
    }
  };
  return (
    <div
      class="veil"
      onPointerDown={(e) => {
        if (e.target === e.currentTarget) onClose();
      }}
    >
      <div class={name} role="dialog" aria-modal="true" aria-label={label} tabIndex={-1} ref={box} onKeyDown={keys}>
        {children}
      </div>
    </div>
  );
}
