// The files of the program as a tree with heat; what is not the program's own is a folder below, closed at first.
import { useState } from "preact/hooks";
import { shareOf, sum } from "../../base/aggregate.ts";
import { percent } from "../../base/format.ts";
import { type Branch, c, chooseLine, type FileRow, type Heat, treeOf } from "../../model/code.ts";
import { type AskedFor, csvUrl } from "../../model/trace.ts";
import { Icon } from "../../widgets/icons.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { defined } from "../shared/table-source.ts";

interface Props {
  asked: AskedFor<"lines">;
  files: readonly FileRow[];
  heat: Heat;
  chosen: string | undefined;
}

const OTHERS = ["package", "stdlib", "unknown"] as const;

export function Files({ asked, files, heat, chosen }: Props) {
  const whole = sum(files, (f) => f[heat]);
  const owned = (owner: string) => files.filter((f) => f.file !== null && (f.owner ?? "unknown") === owner);
  const unknown = sum(files, (f) => (f.file === null ? f[heat] : 0));
  return (
    <Panel
      name={c("files")}
      words={c(`files_words_${heat}`)}
      define={defined(asked.value, "files", heat)}
      csv={csvUrl("lines", "files")}
      asked={asked}
      height={200}
      span="code-files"
    >
      <div class="code-tree">
        <Level branches={treeOf(owned("own"), heat)} whole={whole} chosen={chosen} />
        {OTHERS.map((owner) => (
          <Others key={owner} name={c(owner)} branches={treeOf(owned(owner), heat)} whole={whole} chosen={chosen} />
        ))}
        {unknown > 0 ? (
          <div class="code-rest">
            <span>{c("unknown")}</span> <span>{percent(shareOf(unknown, whole))}</span>
          </div>
        ) : null}
      </div>
    </Panel>
  );
}

interface LevelProps {
  branches: readonly Branch[];
  whole: number;
  chosen: string | undefined;
}

function Level({ branches, whole, chosen }: LevelProps) {
  if (!branches.length) return null;
  return (
    <ul>
      {branches.map((b) =>
        b.file === undefined ? (
          <Folder key={b.path} branch={b} whole={whole} chosen={chosen} />
        ) : (
          <li key={b.path}>
            <button
              type="button"
              class="code-file"
              aria-current={b.file === chosen ? "true" : undefined}
              title={`${b.file} · ${percent(shareOf(b.heat, whole))}`}
              onClick={() => b.file && chooseLine(b.file, undefined)}
            >
              <code>
                <bdi>{b.name}</bdi>
              </code>
              <HeatBar share={shareOf(b.heat, whole) ?? 0} />
            </button>
          </li>
        ),
      )}
    </ul>
  );
}

const holds = (b: Branch, file: string | undefined): boolean => b.file === file || b.kids.some((k) => holds(k, file));

function Folder({ branch, whole, chosen }: { branch: Branch; whole: number; chosen: string | undefined }) {
  const [open, setOpen] = useState(true);
  return (
    <li>
      <button type="button" class="code-file code-folder" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name={open ? "down" : "right"} size={12} />
        <code>
          <bdi>{branch.name}/</bdi>
        </code>
        <HeatBar share={shareOf(branch.heat, whole) ?? 0} />
      </button>
      {open ? <Level branches={branch.kids} whole={whole} chosen={chosen} /> : null}
    </li>
  );
}

interface OthersProps extends LevelProps {
  name: string;
}

/** Files that are not the program's: open when the chosen one is among them. */
function Others({ name, branches, whole, chosen }: OthersProps) {
  const [turned, setOpen] = useState<boolean>();
  const heat = sum(branches, (b) => b.heat);
  const open = turned ?? branches.some((b) => holds(b, chosen));
  if (!branches.length) return null;
  return (
    <div>
      <button type="button" class="code-rest" aria-expanded={open} onClick={() => setOpen(!open)}>
        <span>{name}</span> <span>{percent(shareOf(heat, whole))}</span>
      </button>
      {open ? <Level branches={branches} whole={whole} chosen={chosen} /> : null}
    </div>
  );
}

const HeatBar = ({ share }: { share: number }) => (
  <svg class="code-heat" viewBox="0 0 50 6" preserveAspectRatio="none" role="img" aria-label={percent(share)}>
    <rect width="50" height="6" rx="1" fill="var(--track)" />
    <rect width={share > 0 ? Math.max(1, Math.min(1, share) * 50) : 0} height="6" rx="1" fill="var(--critical)" />
  </svg>
);

/** A file with the folder it is in. */
const shortPath = (file: string): string => file.split("/").slice(-2).join("/");

/** On narrow pages: the same files as a list to choose from. */
export function FileChoice({ files, heat, chosen }: Omit<Props, "asked">) {
  const known = files.filter((f) => f.file !== null).sort((a, b) => (b[heat] ?? 0) - (a[heat] ?? 0));
  return (
    <select
      class="code-choice"
      aria-label={c("files")}
      value={chosen}
      onChange={(e) => chooseLine(e.currentTarget.value, undefined)}
    >
      {known.map((f) => (
        <option key={f.file} value={f.file ?? ""}>
          {shortPath(f.file ?? "")}
        </option>
      ))}
    </select>
  );
}
