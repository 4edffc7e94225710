// A frame of a call stack. `file(line): function` opens in the editor: VS Code unless set otherwise. Profilers shorten
// paths: what is relative belongs to the source root, which the server is given or the reader types.
import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { inRoot, isBuiltIn, parseFrame } from "../../base/frames.ts";
import { runs } from "../../model/answers.ts";
import { t } from "../../model/language.ts";
import { Menu } from "../../widgets/menu.tsx";

const KEEP_ROOT = "tacho.source-root";
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

function frameLink(file: string, line: number): string {
  const link = isEditorLink(editorLink.value) ? editorLink.value : USUAL;
  return link.replace("{file}", encodeURI(file)).replace("{line}", String(line));
}

/** The reader's own root; empty: the server's. */
const ownRoot = signal(globalThis.localStorage?.getItem(KEEP_ROOT) ?? "");

function setRoot(root: string): void {
  ownRoot.value = root;
  if (root) localStorage.setItem(KEEP_ROOT, root);
  else localStorage.removeItem(KEEP_ROOT);
}

const sourceRoot = (): string => ownRoot.value || (runs.value?.source_root ?? "");

/** A frame as the link that opens it; without a line of source code, its name. */
export function Frames({ frame }: { frame: string }) {
  const found = parseFrame(frame);
  if (!found) return <code class="t3">{frame}</code>;
  return <FrameLink {...found} />;
}

export function FrameLink({ file, line, name }: { file: string; line: number; name: string }) {
  const whole = inRoot(file, sourceRoot());
  return (
    <a class="frame" href={frameLink(whole, line)} title={`${whole}:${line}`}>
      <code>
        {file}:{line} <span class="t3">{name}</span>
      </code>
    </a>
  );
}

/** The way into the editor, in words. */
export function OpenInEditor({ file, line, label }: { file: string; line: number; label: string }) {
  const whole = inRoot(file, sourceRoot());
  return (
    <a class="link" href={frameLink(whole, line)} title={`${whole}:${line}`}>
      {label}
    </a>
  );
}

/** The frames that have a line, innermost first: built-ins have none. */
export const codeFrames = (stack: string): string[] => stack.split(";").filter((f) => !isBuiltIn(f));

interface FieldProps {
  label: string;
  value: string;
  hint?: string;
  wrong?: boolean;
  onInput: (text: string) => void;
  onDone: () => void;
}

const Field = ({ label, value, hint, wrong, onInput, onDone }: FieldProps) => (
  <label class="editor-link">
    {label}
    <input
      type="text"
      class={wrong ? "wrong" : ""}
      value={value}
      placeholder={hint ?? ""}
      spellcheck={false}
      ref={(el) => el?.focus()}
      onInput={(e) => onInput(e.currentTarget.value.trim())}
      onBlur={onDone}
      onKeyDown={(e) => {
        e.stopPropagation();
        if (e.key === "Enter" || e.key === "Escape") onDone();
      }}
    />
  </label>
);

/** Which editor frames open in, and the folder their paths belong to. */
export function EditorMenu() {
  const [typing, setTyping] = useState<"link" | "root" | undefined>(undefined);
  const now = EDITORS.find((e) => e.link === editorLink.value);
  const done = () => setTyping(undefined);
  if (typing === "link") {
    const wrong = !isEditorLink(editorLink.value);
    return <Field label={t("editor_link")} value={editorLink.value} wrong={wrong} onInput={setEditor} onDone={done} />;
  }
  if (typing === "root")
    return (
      <Field
        label={t("source_root")}
        value={ownRoot.value}
        hint={runs.value?.source_root ?? "/home/me/project"}
        onInput={setRoot}
        onDone={done}
      />
    );
  return (
    <Menu
      class="small-menu"
      name={t("editor")}
      value={now?.label ?? t("editor_own")}
      items={[
        ...EDITORS.map((e) => ({ id: e.link as string, label: e.label as string, checked: e === now })),
        { id: "own", label: t("editor_other"), separator: true },
        { id: "root", label: t("source_root"), detail: sourceRoot() || t("source_root_none") },
      ]}
      onChoose={(id) => (id === "own" ? setTyping("link") : id === "root" ? setTyping("root") : setEditor(id))}
    />
  );
}
