// A trace dropped on the page. The server takes no files from browsers, it watches a folder, and a page cannot
// know where a dropped file lies: so it says where to put the file; there it opens by itself.
import { signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { runs } from "../../model/answers.ts";
import { t } from "../../model/language.ts";
import { Dialog } from "../../widgets/dialog.tsx";

const over = signal(false);
const dropped = signal("");

const carriesFiles = (e: DragEvent) => e.dataTransfer?.types.includes("Files") === true;

function listen(): () => void {
  const stop = new AbortController();
  const on = (type: "dragover" | "dragleave" | "drop", react: (e: DragEvent) => void) =>
    addEventListener(type, (e) => carriesFiles(e) && react(e), { signal: stop.signal });
  on("dragover", (e) => {
    e.preventDefault(); // the browser would leave the page and show the file itself
    over.value = true;
  });
  on("dragleave", (e) => {
    if (e.relatedTarget === null) over.value = false;
  });
  on("drop", (e) => {
    e.preventDefault();
    over.value = false;
    dropped.value = e.dataTransfer?.files[0]?.name ?? "";
  });
  return () => stop.abort();
}

const quoted = (path: string) => (/^[\w./+-]+$/.test(path) ? path : `'${path.replace(/'/g, "'\\''")}'`);

export function DropZone() {
  useLayoutEffect(listen, []);
  const close = () => {
    dropped.value = "";
  };
  if (over.value) return <div class="drop-here">{t("drop_here")}</div>;
  if (!dropped.value) return null;
  const command = `cp ${quoted(dropped.value)} ${quoted(`${runs.value?.path ?? "."}/`)}`;
  return (
    <Dialog class="sheet range" label={t("drop_title")} onClose={close}>
      <header class="drawer-head">
        <h2>{t("drop_title")}</h2>
        <button type="button" class="keycap" onClick={close}>
          Esc
        </button>
      </header>
      <p class="drop-words">{t("drop_folder", { name: dropped.value })}</p>
      <pre class="drop-command">{command}</pre>
      <footer class="range-foot">
        <button type="button" class="button strong" data-first onClick={() => void navigator.clipboard?.writeText(command)}>
          {t("copy")}
        </button>
      </footer>
    </Dialog>
  );
}
