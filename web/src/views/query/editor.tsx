// Where SQL is written: colored as one types, with what the word could become below it.
import { useEffect, useRef, useState } from "preact/hooks";
import { completions, type SchemaColumn, sqlTokens } from "../../base/sql.ts";
import { askSql, q } from "../../model/query.ts";

const TAB = "  ";

/** Tables and columns of the trace, once they are known. */
function useSchema(): SchemaColumn[] {
  const rows = askSql(".schema", "query-schema").value?.tables.schema?.rows ?? [];
  return rows.map(([table, column, type, unit]) => ({
    table: String(table),
    column: String(column),
    what: [type, unit].filter(Boolean).join(", "),
  }));
}

interface EditorProps {
  sql: string;
  onRun: (sql: string) => void;
  onText: (text: string) => void;
}

export function SqlEditor({ sql, onRun, onText }: EditorProps) {
  const [text, setText] = useState(sql);
  const [at, setAt] = useState(0); // of the list
  const [cursor, setCursor] = useState(-1); // where the list is for; -1: closed
  const box = useRef<HTMLTextAreaElement>(null);
  const under = useRef<HTMLPreElement>(null);
  const schema = useSchema();
  useEffect(() => setText(sql), [sql]); // an example, or one step back
  useEffect(() => onText(text), [text]);
  const { list, typed } = cursor < 0 ? { list: [], typed: 0 } : completions(text, cursor, schema);
  const write = (next: string, place: number) => {
    setText(next);
    setCursor(-1);
    queueMicrotask(() => box.current?.setSelectionRange(place, place));
  };
  const accept = (i: number) => {
    const word = list[i]?.text ?? "";
    const from = cursor - typed;
    write(text.slice(0, from) + word + text.slice(cursor), from + word.length);
    box.current?.focus();
  };
  const onKey = (e: KeyboardEvent & { currentTarget: HTMLTextAreaElement }) => {
    const open = list.length > 0;
    if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) {
      setCursor(-1);
      onRun(e.currentTarget.value);
    } else if (e.key === " " && e.ctrlKey) {
      setCursor(e.currentTarget.selectionStart);
      setAt(0);
    } else if (open && (e.key === "ArrowDown" || e.key === "ArrowUp")) {
      setAt((at + (e.key === "ArrowDown" ? 1 : -1) + list.length) % list.length);
    } else if (open && (e.key === "Tab" || e.key === "Enter")) {
      accept(at);
    } else if (open && e.key === "Escape") {
      setCursor(-1);
      e.stopPropagation();
    } else return;
    e.preventDefault();
  };
  const scroll = () => {
    if (!under.current || !box.current) return;
    under.current.scrollLeft = box.current.scrollLeft;
    under.current.scrollTop = box.current.scrollTop;
  };
  const lines = text.slice(0, Math.max(0, cursor - typed)).split("\n");
  const tables = new Set(schema.map((c) => c.table));
  return (
    <div class="sql-editor">
      <pre class="sql-colors" ref={under} aria-hidden="true">
        {sqlTokens(text, tables).map((p, i) => (
          <span key={i} class={`ink-${p.ink}`}>
            {p.text}
          </span>
        ))}
        {"\n"}
      </pre>
      <textarea
        ref={box}
        class="sql-text"
        aria-label={q("sql")}
        aria-autocomplete="list"
        aria-activedescendant={list.length > 0 ? `sql-completion-${at}` : undefined}
        aria-controls="sql-completions"
        spellcheck={false}
        wrap="off"
        rows={Math.min(14, Math.max(3, text.split("\n").length + 1))}
        placeholder={q("placeholder")}
        value={text}
        onInput={(e) => {
          setText(e.currentTarget.value);
          setCursor(e.currentTarget.selectionStart);
          setAt(0);
        }}
        onKeyDown={onKey}
        onScroll={scroll}
        onBlur={() => setTimeout(() => setCursor(-1), 150)}
      />
      <div
        class="sql-completions"
        id="sql-completions"
        role="listbox"
        aria-label={q("completions")}
        hidden={list.length === 0}
        style={{
          left: `calc(11px + ${(lines[lines.length - 1] ?? "").replace(/\t/g, TAB).length}ch)`,
          top: `${11 + lines.length * 20}px`,
        }}
      >
        {list.map((c, i) => (
          <div
            key={c.text}
            id={`sql-completion-${i}`}
            class="sql-completion"
            tabIndex={-1}
            role="option"
            aria-selected={i === at}
            onPointerDown={(e) => {
              e.preventDefault();
              accept(i);
            }}
          >
            <code>{c.text}</code> <span class="t3">{c.detail}</span>
          </div>
        ))}
      </div>
    </div>
  );
}
