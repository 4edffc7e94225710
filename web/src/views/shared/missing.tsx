// A view without data says why, and how to record it; other runs that have it are a click away.
import { useState } from "preact/hooks";
import type { Answer, RunInfo } from "../../api/types.ts";
import { thousands } from "../../base/format.ts";
import { ask, runs } from "../../model/answers.ts";
import { type Key, t } from "../../model/language.ts";
import { changeTrace } from "../../model/steps.ts";
import { countIn, currentRun, currentWorker, frameworkOf, info, isJob, ranksOf } from "../../model/trace.ts";
import { Segmented } from "../../widgets/controls.tsx";

type Recordable =
  | "code"
  | "operators"
  | "kernels"
  | "roofline"
  | "modules"
  | "memory"
  | "steps"
  | "pipeline"
  | "serving"
  | "distributed"
  | "hang";

// What to write, per producer; the argument that matters is between *.
const PYTORCH: Record<Recordable, string> = {
  code: `with torch.profiler.profile(
        activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
        *with_stack=True*,
        on_trace_ready=tensorboard_trace_handler("./log")) as prof:

# or without changing the program
*tacho record* python3 train.py`,
  memory: `with torch.profiler.profile(
        activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
        *profile_memory=True*, record_shapes=True,
        on_trace_ready=tensorboard_trace_handler("./log")) as prof:`,
  modules: `with torch.profiler.profile(
        activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
        *with_stack=True, with_modules=True*,
        on_trace_ready=tensorboard_trace_handler("./log")) as prof:`,
  kernels: `with torch.profiler.profile(
        activities=[ProfilerActivity.CPU, *ProfilerActivity.CUDA*],
        on_trace_ready=tensorboard_trace_handler("./log")) as prof:`,
  roofline: `with torch.profiler.profile(
        activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
        *record_shapes=True*,
        on_trace_ready=tensorboard_trace_handler("./log")) as prof:

# or, cheaper, an execution trace in the same folder: the two are joined
observer = *ExecutionTraceObserver().register_callback(f"./log/rank{rank}_et.json")*
with torch.profiler.profile(*execution_trace_observer=observer*, ...) as prof:`,
  operators: `with torch.profiler.profile(
        activities=[*ProfilerActivity.CPU*, ProfilerActivity.CUDA],
        on_trace_ready=tensorboard_trace_handler("./log")) as prof:`,
  steps: `for batch in loader:
    train_step(batch)
    *prof.step()*`,
  pipeline: `# the profiler records every batch that a DataLoader hands out
with torch.profiler.profile(activities=[*ProfilerActivity.CPU*, ProfilerActivity.CUDA]) as prof:
    for batch in *torch.utils.data.DataLoader(dataset, num_workers=4)*:
        train_step(batch)
        prof.step()`,
  serving: `# vLLM
*VLLM_TORCH_PROFILER_DIR=./log* vllm serve MODEL
curl -X POST http://localhost:8000/*start_profile*

# SGLang
*SGLANG_TORCH_PROFILER_DIR=./log* python3 -m sglang.launch_server --model-path MODEL
curl -X POST http://localhost:30000/*start_profile*

# a loop of your own: the shapes tell prompts from single tokens
with torch.profiler.profile(activities=[...], *record_shapes=True*) as prof:`,
  distributed: `# every rank writes its own file into one folder
on_trace_ready=tensorboard_trace_handler("./log", worker_name=*f"rank{rank}"*)`,
  hang: `# before the job starts; the dumps of all ranks belong into one folder
export *TORCH_NCCL_TRACE_BUFFER_SIZE=2000*
export *TORCH_NCCL_DUMP_ON_TIMEOUT=1*
export TORCH_NCCL_DEBUG_INFO_TEMP_FILE=/shared/dumps/nccl_trace_rank_`,
};

const PADDLE: Partial<Record<Recordable, string>> = {
  pipeline: `# the profiler records every batch that a DataLoader hands out
with paddle.profiler.Profiler(targets=[*ProfilerTarget.CPU*, ProfilerTarget.GPU]) as profiler:
    for batch in *paddle.io.DataLoader(dataset, num_workers=4)*:
        train_step(batch)
        profiler.step()`,
  memory: "profiler = paddle.profiler.Profiler(*profile_memory=True*)",
  kernels: "profiler = paddle.profiler.Profiler(targets=[ProfilerTarget.CPU, *ProfilerTarget.GPU*])",
  steps: `for batch in loader():
    train_step(batch)
    *profiler.step()*`,
};

const MINDSPORE: Partial<Record<Recordable, string>> = {
  memory: `profiler = mindspore.Profiler(*profile_memory=True*, output_path="./log")`,
  pipeline: `profiler = mindspore.Profiler(*data_process=True*, output_path="./log")`,
  distributed: `profiler = mindspore.Profiler(*profile_communication=True*, output_path="./log")`,
};

const MEGENGINE: Partial<Record<Recordable, string>> = {
  memory: `with Profiler("log", *format="memory_flow.svg"*):`,
  kernels: `with Profiler("log", *profile_device=1*):`,
  modules: `with Profiler("log", *with_scopes=True*):`,
};

const JAX: Partial<Record<Recordable, string>> = {
  steps: `with *jax.profiler.StepTraceAnnotation("train", step_num=i)*:
    train_step(batch)`,
  operators: `*jax.profiler.start_trace("./log")*
train_step(batch)
jax.profiler.stop_trace()`,
  modules: `with *jax.named_scope("hidden")*:
    x = jax.nn.relu(x @ w)`,
};

const TENSORFLOW: Partial<Record<Recordable, string>> = {
  steps: `with *tf.profiler.experimental.Trace("train", step_num=i, _r=1)*:
    train_step(batch)`,
  operators: `*tf.profiler.experimental.start("./log")*
train_step(batch)
tf.profiler.experimental.stop()`,
  modules: `with *tf.name_scope("hidden")*:
    x = tf.nn.relu(x @ w)`,
};

// Profilers of the machine rather than of a framework: one way to record serves several views.
const NSYS = `*nsys profile -t cuda,nvtx,osrt* --cuda-graph-trace=node -o report python3 train.py
*nsys export --type sqlite* report.nsys-rep`;
const NSIGHT: Partial<Record<Recordable, string>> = {
  kernels: NSYS,
  operators: `# ranges of PyTorch's operators
with *torch.autograd.profiler.emit_nvtx()*:
    train_step(batch)

${NSYS}`,
  steps: `*torch.cuda.nvtx.range_push(f"step {i}")*
train_step(batch)
torch.cuda.nvtx.range_pop()`,
};

const ROCM: Partial<Record<Recordable, string>> = {
  kernels: "*rocprofv3 --hip-trace --kernel-trace --memory-copy-trace --marker-trace --rccl-trace* -d out -- python3 train.py",
};

const NPU = `with torch_npu.profiler.profile(
        activities=[*torch_npu.profiler.ProfilerActivity.CPU, torch_npu.profiler.ProfilerActivity.NPU*],
        on_trace_ready=torch_npu.profiler.tensorboard_trace_handler("./log")) as prof:`;
const TORCH_NPU: Partial<Record<Recordable, string>> = {
  kernels: NPU,
  operators: NPU,
  roofline: NPU.replace("        on_trace_ready", "        *record_shapes=True*,\n        on_trace_ready"),
  memory: NPU.replace("        on_trace_ready", "        *profile_memory=True*,\n        on_trace_ready"),
  steps: PYTORCH.steps,
};

const PRODUCERS = [
  { id: "pytorch", label: "PyTorch", code: PYTORCH as Partial<Record<Recordable, string>> },
  { id: "paddle", label: "Paddle", code: PADDLE },
  { id: "mindspore", label: "MindSpore", code: MINDSPORE },
  { id: "megengine", label: "MegEngine", code: MEGENGINE },
  { id: "jax", label: "JAX", code: JAX },
  { id: "tensorflow", label: "TensorFlow", code: TENSORFLOW },
  { id: "torch_npu", label: "torch_npu", code: TORCH_NPU },
  { id: "nsight", label: "Nsight Systems", code: NSIGHT },
  { id: "rocprof", label: "ROCm", code: ROCM },
];

// Kinds of events a view is made of.
const KINDS: Record<Recordable, readonly string[]> = {
  code: ["python"],
  operators: ["op"],
  kernels: ["kernel"],
  roofline: [],
  modules: ["module"],
  memory: ["memory"],
  steps: ["step"],
  pipeline: [],
  serving: [],
  distributed: [],
  hang: [],
};
const MOST_ASKED = 12;

/** Runs that are loaded and have what this one lacks, with how much of it. Nothing is loaded to find out. */
/** Is it a view that a recording may have nothing for? */
export const isRecordable = (name: string): name is Recordable => name in KINDS;

function othersWith(name: Recordable): { run: RunInfo; n: number }[] {
  const ready = (r: RunInfo) => r.workers[0]?.spans.some((s) => s.state === "ready");
  const others = (runs.value?.runs ?? []).filter((r) => r !== currentRun.value && ready(r)).slice(0, MOST_ASKED);
  const found = others.map((run) => {
    if (name === "distributed") return { run, n: isJob(run) ? ranksOf(run) : 0 };
    if (KINDS[name].length === 0) return { run, n: 0 };
    const asked = ask<Answer<"info">>(`missing-${run.name}`, "info", { run: run.name, table: "events", limit: 0 });
    return { run, n: countIn(asked.value, KINDS[name]) ?? 0 };
  });
  return found.filter((f) => f.n > 0);
}

export function Missing({ name }: { name: Recordable }) {
  const answer = info().value;
  const producers = PRODUCERS.filter((p) => p.code[name]);
  const framework = frameworkOf(answer?.trace.format ?? "");
  const own = PRODUCERS.find((p) => p.label === framework);
  // A profiler that does not belong to a framework.
  const tool = producers.find((p) => answer?.trace.format.startsWith(p.id));
  const [chosen, choose] = useState<string>();
  const producer = producers.find((p) => p.id === (chosen ?? own?.id ?? tool?.id)) ?? producers[0];
  const code = producer?.code[name] ?? "";
  const others = othersWith(name);
  const traces = ranksOf(currentRun.value);
  const apart = name === "distributed" && traces > 1;
  const without = own !== undefined && !own.code[name]; // nothing to write for this framework
  return (
    <div class="missing">
      <h1>{apart ? t("missing_distributed_apart", { n: traces }) : t(`missing_${name}`)}</h1>
      <p class="facts">
        {apart
          ? t("missing_why_apart")
          : t(`missing_why_${name}`, {
              worker: currentWorker.value?.name ?? "",
              n: thousands(answer?.quality.events_read),
            })}{" "}
        {name === "pipeline" && without ? t("missing_not_by", { framework }) : t("missing_rest")}
      </p>
      {without ? null : (
        <section class="panel w12 padded">
          <h2>{t("missing_next")}</h2>
          <Segmented label={t("producer")} choices={producers} chosen={producer?.id ?? ""} onChoose={choose} />
          <pre>{code.split("*").map((part, i) => (i % 2 === 1 ? <em key={i}>{part}</em> : part))}</pre>
          <p class="t3">{t(`missing_cost_${name}` as Key)}</p>
        </section>
      )}
      {others.length ? (
        <section class="panel w12 padded">
          <h2>{t("missing_other_has")}</h2>
          <div class="chips">
            {others.map(({ run, n }) => (
              <button
                type="button"
                class="button"
                key={run.name}
                onClick={() => changeTrace({ run: run.name, worker: undefined, span: undefined })}
              >
                <b>{run.name}</b>{" "}
                <span class="t3">
                  {name === "distributed" ? "" : `${run.workers[0]?.name} · `}
                  {t(`n_${name === "pipeline" || name === "roofline" ? "steps" : name}`, { n: thousands(n) })}
                </span>
              </button>
            ))}
          </div>
        </section>
      ) : null}
    </div>
  );
}
