// A button that opens a list: filter field when long, arrow keys, type-ahead by the filter.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { fuzzy } from "../base/fuzzy.ts";
import { Icon } from "./icons.tsx";

export interface MenuItem {
  id: string;
  label: string;
  detail?: ComponentChildren;
  href?: string; // a link that downloads
  checked?: boolean;
  separator?: boolean; // a line above
}

interface MenuProps {
  name: string; // spoken
  label?: ComponentChildren; // what the button shows, else its name and the value
  value?: ComponentChildren;
  items: readonly MenuItem[];
  onChoose: (id: string) => void;
  filter?: string; // placeholder of the filter field
  class?: string;
  right?: boolean; // opens to the left
  bare?: boolean; // no arrow
  stay?: boolean; // stays open when an item is chosen
  openKey?: string; // data-open, for keys that open it
}

/** Whether the button's words are its name: then it needs no second one. */
const isSaid = ({ label, name }: MenuProps): boolean => typeof label === "string" && label.startsWith(name);

function useOutside(close: () => void) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const away = (e: PointerEvent) => {
      if (!box.current?.contains(e.target as Node)) close();
    };
    document.addEventListener("pointerdown", away);
    return () => document.removeEventListener("pointerdown", away);
  });
  return box;
}

export function Menu(props: MenuProps) {
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const box = useOutside(() => setOpen(false));
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  return (
    <div class={`menu ${props.class ?? ""}`} ref={box}>
      <button
        type="button"
        ref={button}
        class="menu-button"
        aria-haspopup="menu"
        aria-expanded={open}
        data-open={props.openKey}
        onClick={() => setOpen(!open)}
        onKeyDown={(e) => {
          if (e.key !== "ArrowDown" || open) return;
          e.preventDefault();
          setOpen(true);
        }}
      >
        {props.label === undefined ? (
          <>
            {props.name} <b>{props.value}</b>
          </>
        ) : (
          <>
            {isSaid(props) ? null : <span class="spoken">{props.name}: </span>}
            {props.label}
          </>
        )}
        {props.bare ? null : <Icon name="down" size={13} />}
      </button>
      {open ? <MenuList {...props} close={close} /> : null}
    </div>
  );
}

function MenuList(props: MenuProps & { close: () => void }) {
  const [text, setText] = useState("");
  const list = useRef<HTMLDivElement>(null);
  const items = text ? props.items.filter((i) => fuzzy(text, i.label)) : props.items;
  const long = props.filter !== undefined && props.items.length > 6;
  useLayoutEffect(() => {
    const first = long
      ? list.current?.querySelector("input")
      : list.current?.querySelector<HTMLElement>("[aria-checked=true],[role^=menuitem]");
    first?.focus();
  }, [long]);
  const keys = (e: KeyboardEvent) => {
    if (e.key === "Escape") {
      e.stopPropagation();
      props.close();
    }
    if (e.key !== "ArrowDown" && e.key !== "ArrowUp") return;
    e.preventDefault();
    const all = [...(list.current?.querySelectorAll<HTMLElement>("[role^=menuitem]") ?? [])];
    const at = all.indexOf(document.activeElement as HTMLElement);
    all[(at + (e.key === "ArrowDown" ? 1 : -1) + all.length) % all.length]?.focus();
  };
  const choose = (id: string) => {
    if (!props.stay) props.close();
    props.onChoose(id);
  };
  return (
    <div class={`menu-list ${props.right ? "menu-right" : ""}`} ref={list} onKeyDown={keys}>
      {long ? (
        <input
          type="text"
          class="menu-filter"
          placeholder={props.filter}
          aria-label={props.filter}
          value={text}
          onInput={(e) => setText(e.currentTarget.value)}
          onKeyDown={(e) => {
            if (e.key === "Enter" && items[0]) choose(items[0].id);
          }}
        />
      ) : null}
      <div role="menu" aria-label={props.name}>
        {items.map((i) => (
          <Item key={i.id} item={i} choose={choose} />
        ))}
      </div>
    </div>
  );
}

function Item({ item, choose }: { item: MenuItem; choose: (id: string) => void }) {
  const body = (
    <>
      <span class="menu-check">{item.checked ? <Icon name="check" /> : null}</span>
      <span class="menu-text">{item.label}</span>
      {item.detail ? <span class="menu-detail">{item.detail}</span> : null}
    </>
  );
  const line = item.separator ? "menu-item menu-line" : "menu-item";
  if (item.href)
    return (
      <a class={line} role="menuitem" href={item.href} download onClick={() => choose(item.id)}>
        {body}
      </a>
    );
  return (
    <button
      type="button"
      class={line}
      role={item.checked === undefined ? "menuitem" : "menuitemradio"}
      {...(item.checked === undefined ? {} : { "aria-checked": item.checked })}
      onClick={() => choose(item.id)}
    >
      {body}
    </button>
  );
}
