// The sheet that lists the keys. Fetched when it is first opened.
import { type Key, t } from "../../model/language.ts";
import { Dialog } from "../../widgets/dialog.tsx";
import { closeLayer } from "./overlays.ts";

const SHEET: readonly (readonly [string, Key])[] = [
  ["Ctrl K", "key_palette"],
  ["g", "key_views"],
  ["o y l t p k f m e s i v d b c h q r", "key_which"],
  ["1 … 9", "key_steps"],
  ["0", "key_all"],
  ["Alt ← →", "key_step"],
  ["r w", "key_menus"],
  ["/", "key_filter"],
  ["Shift Enter", "key_timeline"],
  ["T", "key_trust"],
  ["L", "key_language"],
  ["Shift D", "key_theme"],
  ["\\", "key_rail"],
  ["?", "keys"],
  ["Esc", "key_back"],
];
const TABLE: readonly (readonly [string, Key])[] = [
  ["↑ ↓", "key_rows"],
  ["Enter", "key_open"],
  ["← →", "key_expand"],
  ["c", "key_copy"],
  ["x", "key_filter_row"],
  ["Shift E", "key_export"],
  ["Shift F10", "key_menu"],
  ["Shift ← →", "key_widen"],
  ["Alt Shift ← →", "key_move"],
  ["=", "key_fit_column"],
];
const TIMELINE: readonly (readonly [string, Key])[] = [
  ["W S", "key_zoom"],
  ["A D", "key_pan"],
  ["F", "key_fit"],
  [". ,", "key_next"],
  ["↑ ↓ ← →", "key_select"],
  ["] [", "key_flow"],
  ["} {", "key_path"],
  ["/ n N", "key_search"],
  ["M P E Q", "key_marks"],
  ["j k", "key_evidence"],
  ["J K", "key_advice"],
  ["b", "key_came"],
  ["Enter", "key_window"],
  ["Alt", "key_others"],
];
const POINTER: readonly (readonly [Key, Key])[] = [
  ["key_drag_keys", "key_drag"],
  ["key_wheel_keys", "key_wheel"],
];

export function KeySheet() {
  const part = (title: string, list: readonly (readonly [string, Key])[]) => (
    <section>
      <h3>{title}</h3>
      <dl>
        {list.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              {keys.split(" ").map((k) => (
                <kbd key={k}>{k}</kbd>
              ))}
            </dt>
            <dd>{t(what)}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
  return (
    <Dialog class="sheet" label={t("keys")} onClose={closeLayer}>
      <header class="drawer-head">
        <h2>{t("keys")}</h2>
        <button type="button" class="keycap" onClick={closeLayer}>
          Esc
        </button>
      </header>
      <div class="sheet-parts">
        {part(t("everywhere"), SHEET)}
        {part(t("tables"), TABLE)}
        {part(t("timeline"), [...TIMELINE, ...POINTER.map(([keys, what]) => [t(keys), what] as const)])}
      </div>
    </Dialog>
  );
}
