// A menu where the pointer is, or where the keyboard's cursor is: arrows move, Enter chooses, Escape leaves.
import { useLayoutEffect, useRef } from "preact/hooks";

export interface ContextItem {
  label: string;
  key?: string; // that does the same
  run: () => void;
  separator?: boolean; // a line above
}

export interface MenuAt {
  x: number;
  y: number;
  items: readonly ContextItem[];
}

export function ContextMenu({ at, name, onClose }: { at: MenuAt; name: string; onClose: () => void }) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const el = box.current;
    if (!el) return;
    const size = el.getBoundingClientRect();
    el.style.left = `${Math.max(4, Math.min(at.x, innerWidth - size.width - 4))}px`;
    el.style.top = `${Math.max(4, Math.min(at.y, innerHeight - size.height - 4))}px`;
    el.querySelector("button")?.focus({ preventScroll: true });
    const away = (e: Event) => {
      if (!el.contains(e.target as Node)) onClose();
    };
    document.addEventListener("pointerdown", away);
    addEventListener("scroll", away, true);
    return () => {
      document.removeEventListener("pointerdown", away);
      removeEventListener("scroll", away, true);
    };
  }, [at]);
  const keys = (e: KeyboardEvent) => {
    e.stopPropagation(); // the table below has its own arrows and letters
    if (e.key === "Escape" || e.key === "Tab") {
      e.preventDefault();
      onClose();
    }
    const by = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
    if (!by) return;
    e.preventDefault();
    const all = [...(box.current?.querySelectorAll("button") ?? [])];
    all[(all.indexOf(document.activeElement as HTMLButtonElement) + by + all.length) % all.length]?.focus();
  };
  return (
    <div class="menu-list context-menu" role="menu" aria-label={name} ref={box} onKeyDown={keys}>
      {at.items.map((i) => (
        <button
          type="button"
          key={i.label}
          role="menuitem"
          class={i.separator ? "menu-item menu-line" : "menu-item"}
          onClick={() => {
            onClose();
            i.run();
          }}
        >
          <span class="menu-text">{i.label}</span>
          {i.key ? <kbd>{i.key}</kbd> : null}
        </button>
      ))}
    </div>
  );
}
