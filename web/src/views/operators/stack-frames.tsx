// A frame of a call stack. `file(line): function` opens in the editor: VS Code unless set otherwise.
import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { t } from "../../model/language.ts";
import { Menu } from "../../widgets/menu.tsx";

const FRAME = /^(.+?\.\w+)\((\d+)\): (.+)$/;
const KEEP = "tacho.editor";

const EDITORS = [
  { id: "vscode", label: "VS Code", link: "vscode://file/{file}:{line}" },
  { id: "cursor", label: "Cursor", link: "cursor://file/{file}:{line}" },
  { id: "pycharm", label: "PyCharm", link: "pycharm://open?file={file}&line={line}" },
  { id: "idea", label: "IntelliJ IDEA", link: "idea://open?file={file}&line={line}" },
  { id: "sublime", label: "Sublime Text", link: "subl://open?url=file://{file}&line={line}" },
  { id: "emacs", label: "Emacs", link: "org-protocol://open-source?url=file://{file}&line={line}" },
] as const;
const USUAL = EDITORS[0].link;

/** The link a frame becomes; `{file}` and `{line}` are filled in. */
const editorLink = signal(globalThis.localStorage?.getItem(KEEP) ?? USUAL);

function setEditor(link: string): void {
  editorLink.value = link || USUAL;
  if (link && link !== USUAL) localStorage.setItem(KEEP, link);
  else localStorage.removeItem(KEEP);
}

/** Only schemes that lead to a program of this machine: a kept link must not run script. */
const isEditorLink = (link: string): boolean =>
  /^[a-z][a-z0-9+.-]*:\/\//i.test(link) && !/^(javascript|data|https?):/i.test(link);

function frameLink(file: string, line: string): string {
  const link = isEditorLink(editorLink.value) ? editorLink.value : USUAL;
  return link.replace("{file}", encodeURI(file)).replace("{line}", line);
}

export function Frames({ frame }: { frame: string }) {
  const found = frame.match(FRAME);
  if (!found) return <code class="t3">{frame}</code>;
  const [, file = "", line = "", name = ""] = found;
  return (
    <a class="frame" href={frameLink(file, line)} title={`${file}:${line}`}>
      <code>
        {file}:{line} <span class="t3">{name}</span>
      </code>
    </a>
  );
}

/** Which editor frames open in. */
export function EditorMenu() {
  const [typing, setTyping] = useState(false);
  const now = EDITORS.find((e) => e.link === editorLink.value);
  const wrong = !isEditorLink(editorLink.value);
  if (typing)
    return (
      <label class="editor-link">
        {t("editor_link")}
        <input
          type="text"
          class={wrong ? "wrong" : ""}
          value={editorLink.value}
          spellcheck={false}
          ref={(el) => el?.focus()}
          onInput={(e) => setEditor(e.currentTarget.value.trim())}
          onBlur={() => setTyping(false)}
          onKeyDown={(e) => {
            e.stopPropagation();
            if (e.key === "Enter" || e.key === "Escape") setTyping(false);
          }}
        />
      </label>
    );
  return (
    <Menu
      class="small-menu"
      name={t("editor")}
      value={now?.label ?? t("editor_own")}
      items={[
        ...EDITORS.map((e) => ({ id: e.link as string, label: e.label as string, checked: e === now })),
        { id: "own", label: t("editor_other"), separator: true },
      ]}
      onChoose={(id) => (id === "own" ? setTyping(true) : setEditor(id))}
    />
  );
}
