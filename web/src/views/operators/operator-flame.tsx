// The flame graph of the operators: in time order from the timeline's answers; merged and bottom-up from the
// stacks of the window with their exact times, on the host or on the device.
import { useMemo } from "preact/hooks";
import { bottomUp, FLAME_ORDERS, type FlameOrder, flameBoxes } from "../../draw/timeline/flame.ts";
import { type StackFile, stackTree } from "../../draw/timeline/stack-flame.ts";
import { ask } from "../../model/answers.ts";
import { t } from "../../model/language.ts";
import { choice, param, traceQuery } from "../../model/route.ts";
import { tape, windowRange } from "../../model/steps.ts";
import { askTracks } from "../../model/timeline/state.ts";
import { Segmented } from "../../widgets/controls.tsx";
import { Failure, Waiting } from "../../widgets/panel.tsx";
import { FlameCanvas, FlameGraph } from "../shared/flame.tsx";

const HEIGHT = 400;

export function OperatorFlame() {
  const [order, setOrder] = choice("flame", "merged");
  const [side, setSide] = choice("side", "host");
  const [python, setPython] = choice("frames", "no");
  const stacks = order !== "time";
  return (
    <div class="tl-flame">
      <div class="flame-bar">
        <Segmented
          label={t("tl_flame")}
          choices={FLAME_ORDERS.map((id) => ({ id, label: t(`tl_flame_${id}`) }))}
          chosen={order}
          onChoose={setOrder}
        />
        {stacks ? (
          <>
            <Segmented label={t("side")} chosen={side} onChoose={setSide} choices={{ host: t("host"), device: t("device") }} />
            <label class="check">
              <input
                type="checkbox"
                checked={python === "yes"}
                onChange={(e) => setPython(e.currentTarget.checked ? "yes" : "no")}
              />
              {t("python_frames")}
            </label>
          </>
        ) : null}
        <span class="t3">{t("flame_hint")}</span>
      </div>
      {stacks ? (
        <StackFlame order={order as FlameOrder} side={side === "device" ? "device" : "host"} python={python === "yes"} />
      ) : (
        <TimeFlame />
      )}
    </div>
  );
}

function TimeFlame() {
  const tracks = askTracks().value;
  const strip = tape();
  if (!tracks || !strip) return <Waiting height={HEIGHT} />;
  const lanes = tracks.lanes.filter((l) => l.kind === "work" && l.slices > 0).map((l) => l.id);
  const { from, to } = windowRange(strip);
  return <FlameGraph from={from} to={to} lanes={lanes} height={HEIGHT} order="time" />;
}

function StackFlame({ order, side, python }: { order: FlameOrder; side: "host" | "device"; python: boolean }) {
  const strip = tape();
  const range = strip && (param("step") || param("from") || param("to")) ? windowRange(strip) : undefined;
  const asked = ask<StackFile>("opflame", "export", {
    ...traceQuery.value,
    form: "speedscope",
    from: range && Math.round(range.from),
    to: range && Math.round(range.to),
  });
  const file = asked.value;
  const drawn = useMemo(() => {
    if (!file) return undefined;
    const tree = stackTree(file, side, python);
    const f = flameBoxes(order === "bottom" ? bottomUp(tree.root) : tree.root);
    return { tree, shown: { boxes: f.boxes, rows: f.rows, unit: f.unit, length: Math.max(1, f.total), nodes: f.nodes } };
  }, [file, side, python, order]);
  if (asked.error) return <Failure error={asked.error} />;
  if (!drawn) return <Waiting height={HEIGHT} />;
  if (drawn.shown.rows.length === 0) return <p class="empty">{t("not_recorded")}</p>;
  return (
    <div class={asked.old ? "old" : ""}>
      <FlameCanvas key={`${order} ${side} ${python}`} named={drawn.tree} shown={drawn.shown} height={HEIGHT} />
    </div>
  );
}
