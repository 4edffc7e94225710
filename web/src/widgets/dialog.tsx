// Dialogs and drawers. The browser keeps the focus inside, closes on Escape, and gives the focus back.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

interface DialogProps {
  class: string;
  label: string;
  children: ComponentChildren;
  onClose: () => void;
}

/** Whether a press is outside the dialog: there its backdrop is the dialog itself. */
function isBeside(e: PointerEvent): boolean {
  const { left, right, top, bottom } = (e.currentTarget as Element).getBoundingClientRect();
  return e.clientX < left || e.clientX > right || e.clientY < top || e.clientY > bottom;
}

export function Dialog({ class: name, label, children, onClose }: DialogProps) {
  const box = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const dialog = box.current;
    dialog?.showModal();
    dialog?.querySelector<HTMLElement>("[data-first]")?.focus();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      class={name}
      aria-label={label}
      ref={box}
      onCancel={onClose}
      onKeyDown={(e) => {
        if (e.key === "Escape") e.stopPropagation(); // one level at a time
      }}
      onPointerDown={(e) => {
        if (isBeside(e)) onClose();
      }}
    >
      {children}
    </dialog>
  );
}
