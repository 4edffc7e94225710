// The page without a run: how to open one, where the page has no server; else where traces come from, in the words of each
// framework, to be copied.
import { useState } from "preact/hooks";
import { short } from "../../base/format.ts";
import { t } from "../../model/language.ts";
import { fetched, isInside } from "../../model/opened.ts";
import { Segmented } from "../../widgets/controls.tsx";
import { OpenFiles } from "./drop-zone.tsx";

const quoted = (path: string) => JSON.stringify(path);
/** A path as a shell takes it. */
const word = (path: string) => (/^[\w./+-]+$/.test(path) ? path : quoted(path));

/** What to write so that a trace appears in the folder. */
const RECIPES: readonly { id: string; label: string; code: (folder: string) => string }[] = [
  {
    id: "pytorch",
    label: "PyTorch",
    code: (folder) => `from torch.profiler import profile, schedule, tensorboard_trace_handler

with profile(schedule=schedule(wait=1, warmup=1, active=3),
             on_trace_ready=tensorboard_trace_handler(${quoted(folder)}),
             record_shapes=True, profile_memory=True) as prof:
    for batch in loader:
        train_step(batch)
        prof.step()`,
  },
  {
    id: "paddle",
    label: "Paddle",
    code: (folder) => `from paddle import profiler

with profiler.Profiler(scheduler=(2, 5), record_shapes=True,
                       on_trace_ready=profiler.export_chrome_tracing(${quoted(folder)})) as prof:
    for batch in loader():
        train_step(batch)
        prof.step()`,
  },
  {
    id: "mindspore",
    label: "MindSpore",
    code: (folder) => `import mindspore

profiler = mindspore.Profiler(output_path=${quoted(folder)}, data_process=True)
model.train(1, dataset)
profiler.analyse()`,
  },
  {
    id: "megengine",
    label: "MegEngine",
    code: (folder) => `from megengine.utils.profiler import Profiler

with Profiler(${quoted(`${folder}/run`)}):
    for batch in loader:
        train_step(batch)`,
  },
  {
    id: "jax",
    label: "JAX",
    code: (folder) => `import jax

jax.profiler.start_trace(${quoted(folder)})
for i, batch in enumerate(loader):
    with jax.profiler.StepTraceAnnotation("train", step_num=i):
        state = train_step(state, batch)
jax.block_until_ready(state)
jax.profiler.stop_trace()`,
  },
  {
    id: "tensorflow",
    label: "TensorFlow",
    code: (folder) => `import tensorflow as tf

tf.profiler.experimental.start(${quoted(folder)})
for i, batch in enumerate(dataset):
    with tf.profiler.experimental.Trace("train", step_num=i, _r=1):
        train_step(batch)
tf.profiler.experimental.stop()`,
  },
  {
    id: "ascend",
    label: "Ascend",
    code: (folder) => `import torch_npu
from torch_npu import profiler

config = profiler._ExperimentalConfig(profiler_level=profiler.ProfilerLevel.Level1)
with profiler.profile(schedule=profiler.schedule(wait=1, warmup=1, active=3),
                      on_trace_ready=profiler.tensorboard_trace_handler(${quoted(folder)}),
                      record_shapes=True, profile_memory=True, experimental_config=config) as prof:
    for batch in loader:
        train_step(batch)
        prof.step()`,
  },
  {
    id: "nsight",
    label: "Nsight",
    code: (folder) => `nsys profile -t cuda,nvtx,osrt --cuda-graph-trace=node -o ${word(`${folder}/report`)} python3 train.py
nsys export --type sqlite ${word(`${folder}/report.nsys-rep`)}`,
  },
  {
    id: "rocm",
    label: "ROCm",
    code: (folder) => `rocprofv3 --hip-trace --kernel-trace --memory-copy-trace --marker-trace --rccl-trace \\
    -d ${word(folder)} -- python3 train.py`,
  },
  {
    id: "perfetto",
    label: "Perfetto",
    code: (folder) => `# programs that write track events with Perfetto's SDK
tracebox --txt -c - -o ${word(`${folder}/run.pftrace`)} <<EOF
buffers { size_kb: 65536 }
data_sources { config { name: "track_event" } }
duration_ms: 10000
EOF`,
  },
  {
    id: "record",
    label: "tacho record",
    code: (folder) => `# any program, also in C: no change of its code
tacho record -o ${word(folder)} -- python train.py`,
  },
];

/** A page without a server: what it opens is on the reader's disk. */
function OpenHere() {
  return (
    <div class="missing">
      <h1>{t("local_title")}</h1>
      <p>{t("local_words")}</p>
      <p class="facts">
        <OpenFiles strong /> <OpenFiles folder />
      </p>
      <Fetched />
      <section class="panel w12 padded">
        <p>{t("local_private")}</p>
        <p class="t3">{t("local_reads")}</p>
      </section>
    </div>
  );
}

/** What an address asked for (?url=…), until it is there. */
function Fetched() {
  const state = fetched.value;
  if (!state) return null;
  const { name, bytes, reason } = state;
  if (reason !== undefined) return <p role="alert">{t("local_failed", { name, reason })}</p>;
  return <p role="status">{t("local_fetching", { name, v: short(bytes, "bytes") })}</p>;
}

export function NoRuns({ path }: { path: string }) {
  return isInside ? <OpenHere /> : <NoRunsYet path={path} />;
}

function NoRunsYet({ path }: { path: string }) {
  const [chosen, choose] = useState("pytorch");
  const code = RECIPES.find((r) => r.id === chosen)?.code(path.replace(/\/+$/, "")) ?? "";
  return (
    <div class="missing">
      <h1>{t("no_runs", { path })}</h1>
      <p class="facts">
        {t("no_runs_watch")} <OpenFiles />
      </p>
      <section class="panel w12 padded">
        <h2>{t("no_runs_record")}</h2>
        <Segmented label={t("producer")} choices={RECIPES} chosen={chosen} onChoose={choose} />
        <pre>{code}</pre>
        <button type="button" class="button copy-code" onClick={() => void navigator.clipboard?.writeText(code)}>
          {t("copy")}
        </button>
      </section>
      <section class="panel w12 padded">
        <h2>{t("no_runs_try")}</h2>
        <pre>tacho demo</pre>
      </section>
    </div>
  );
}
