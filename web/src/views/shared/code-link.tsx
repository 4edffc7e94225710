// From a sentence that names a line of code to that line in the Code view.
import { lineIn } from "../../base/frames.ts";
import { t } from "../../model/language.ts";
import { go, view } from "../../model/route.ts";

/** Nothing where the sentence names no line, or the reader is there already. */
export function CodeLink({ text }: { text: string }) {
  const found = lineIn(text);
  if (!found || view.value === "code") return null;
  const show = () => go({ view: "code", params: { file: found.file, line: String(found.line) } });
  return (
    <button type="button" class="link" title={`${found.file}:${found.line}`} onClick={show}>
      {t("show_code")}
    </button>
  );
}
