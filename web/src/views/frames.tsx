// A frame of a call stack. `file(line): function` opens in the editor, VS Code unless set otherwise.
const FRAME = /^(.+?\.pyx?)\((\d+)\): (.+)$/;

const editorLink = (): string => localStorage.getItem("tacho.editor") ?? "vscode://file/{file}:{line}";

export function Frames({ frame }: { frame: string }) {
  const found = frame.match(FRAME);
  if (!found) return <code class="t3">{frame}</code>;
  const [, file = "", line = "", name = ""] = found;
  return (
    <a class="frame" href={editorLink().replace("{file}", file).replace("{line}", line)}>
      <code>
        {file}:{line} <span class="t3">{name}</span>
      </code>
    </a>
  );
}
