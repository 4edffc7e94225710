// Files dropped on the page. They are sent to the server, which keeps them until it ends, and open as one run. A server
// that takes none watches a folder: then the page says where to put them.
import { signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { short } from "../../base/format.ts";
import { runs } from "../../model/answers.ts";
import { type Chosen, type Dropped, dropped, forget, openFiles, type Sent } from "../../model/dropped.ts";
import { t } from "../../model/language.ts";
import { Dialog } from "../../widgets/dialog.tsx";
import { SeverityMark } from "../../widgets/icons.tsx";

const over = signal(false);

const carriesFiles = (e: DragEvent) => e.dataTransfer?.types.includes("Files") === true;

const MOST = 256; // files of a dropped folder

/** The files below an entry: a profiler's folder is dropped as a whole. */
async function filesBelow(entry: FileSystemEntry, into: Chosen[]): Promise<void> {
  if (into.length >= MOST || entry.name.startsWith(".")) return;
  if (entry.isFile) {
    const file = await new Promise<File>((done, fail) => (entry as FileSystemFileEntry).file(done, fail));
    into.push({ file, way: entry.fullPath.replace(/^\//, "") });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const next = () => new Promise<FileSystemEntry[]>((done, fail) => reader.readEntries(done, fail));
  for (let part = await next(); part.length > 0; part = await next()) for (const e of part) await filesBelow(e, into);
}

const alone = (file: File): Chosen => ({ file, way: file.name });

async function filesOf(data: DataTransfer): Promise<Chosen[]> {
  // Both lists are empty once the event is over.
  const entries = [...data.items].map((i) => i.webkitGetAsEntry?.() ?? null);
  const plain = [...data.files];
  if (!entries.some((e) => e?.isDirectory)) return plain.map(alone);
  const found: Chosen[] = [];
  for (const e of entries) if (e) await filesBelow(e, found);
  return found;
}

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
    if (e.dataTransfer) void filesOf(e.dataTransfer).then(openFiles);
  });
  return () => stop.abort();
}

const chosen = (file: File): Chosen => ({ file, way: file.webkitRelativePath || file.name });
const isHidden = ({ way }: Chosen): boolean => way.split("/").some((part) => part.startsWith("."));

/** The same by a click, for those who drag nothing: files, or a folder. */
export function OpenFiles({ folder = false, strong = false }: { folder?: boolean; strong?: boolean }) {
  if (!runs.value?.upload) return null;
  return (
    <label class={`button open-files ${strong ? "strong" : ""}`}>
      {t(folder ? "open_folder" : "open_files")}
      <input
        type="file"
        multiple
        {...(folder ? { webkitdirectory: true } : {})}
        onChange={(e) => {
          const files = [...(e.currentTarget.files ?? [])].map(chosen).filter((f) => !isHidden(f));
          void openFiles(files);
          e.currentTarget.value = ""; // the same file may be chosen again
        }}
      />
    </label>
  );
}

const quoted = (path: string) => (/^[\w./+-]+$/.test(path) ? path : `'${path.replace(/'/g, "'\\''")}'`);

/** Where to put what is not sent. */
function Elsewhere({ state }: { state: Dropped }) {
  const names = [...new Set(state.files.map((f) => f.name.split("/")[0] as string))];
  const folder = state.files.some((f) => f.name.includes("/"));
  const command = `cp ${folder ? "-r " : ""}${names.map(quoted).join(" ")} ${quoted(`${runs.value?.path ?? "."}/`)}`;
  const room = runs.value?.upload;
  return (
    <>
      <p class="drop-words">
        {state.refused === "large"
          ? t("drop_large", {
              v: short(
                state.files.reduce((s, f) => s + f.bytes, 0),
                "bytes",
              ),
              left: short((room?.limit ?? 0) - (room?.used ?? 0), "bytes"),
            })
          : t("drop_folder", { name: names.join(", ") })}
      </p>
      <pre class="drop-command">{command}</pre>
      <footer class="range-foot">
        <button type="button" class="button strong" data-first onClick={() => void navigator.clipboard?.writeText(command)}>
          {t("copy")}
        </button>
      </footer>
    </>
  );
}

function FileLine({ file: f }: { file: Sent }) {
  const percent = Math.floor(f.share * 100);
  return (
    <li class="drop-file">
      <span class="cut" title={f.name}>
        {f.name}
      </span>
      <span class="t3">{short(f.bytes, "bytes")}</span>
      {f.error ? (
        <p role="alert">
          <SeverityMark severity="warning" size={13} label={t("sev_warning")} /> {f.error}
        </p>
      ) : (
        <progress max={100} value={percent} aria-label={f.name} />
      )}
    </li>
  );
}

export function DropZone() {
  useLayoutEffect(listen, []);
  if (over.value) return <div class="drop-here">{t("drop_here")}</div>;
  const state = dropped.value;
  if (!state) return null;
  return (
    <Dialog class="sheet range" label={t("drop_title")} onClose={forget}>
      <header class="drawer-head">
        <h2>{t("drop_title")}</h2>
        <button type="button" class="keycap" onClick={forget}>
          Esc
        </button>
      </header>
      {state.empty ? (
        <p class="drop-words" role="alert">
          <SeverityMark severity="warning" size={13} label={t("sev_warning")} />{" "}
          {t("drop_empty", { n: state.files.length, name: state.files[0]?.name.split("/")[0] ?? "" })}
        </p>
      ) : null}
      {state.refused ? (
        <Elsewhere state={state} />
      ) : state.empty ? null : (
        <ul class="drop-files" aria-live="polite">
          {state.files.map((f, i) => (
            <FileLine key={i} file={f} />
          ))}
        </ul>
      )}
    </Dialog>
  );
}
