import{k4a as p,kn as s,k13 as t,k14 as r,k16 as c}from"./core.js";var o=e=>JSON.stringify(e),a=e=>/^[\w./+-]+$/.test(e)?e:o(e),l=[{id:"pytorch",label:"PyTorch",code:e=>`from torch.profiler import profile, schedule, tensorboard_trace_handler

with profile(schedule=schedule(wait=1, warmup=1, active=3),
             on_trace_ready=tensorboard_trace_handler(${o(e)}),
             record_shapes=True, profile_memory=True) as prof:
    for batch in loader:
        train_step(batch)
        prof.step()`},{id:"paddle",label:"Paddle",code:e=>`from paddle import profiler

with profiler.Profiler(scheduler=(2, 5), record_shapes=True,
                       on_trace_ready=profiler.export_chrome_tracing(${o(e)})) as prof:
    for batch in loader():
        train_step(batch)
        prof.step()`},{id:"mindspore",label:"MindSpore",code:e=>`import mindspore

profiler = mindspore.Profiler(output_path=${o(e)}, data_process=True)
model.train(1, dataset)
profiler.analyse()`},{id:"megengine",label:"MegEngine",code:e=>`from megengine.utils.profiler import Profiler

with Profiler(${o(`${e}/run`)}):
    for batch in loader:
        train_step(batch)`},{id:"jax",label:"JAX",code:e=>`import jax

jax.profiler.start_trace(${o(e)})
for i, batch in enumerate(loader):
    with jax.profiler.StepTraceAnnotation("train", step_num=i):
        state = train_step(state, batch)
jax.block_until_ready(state)
jax.profiler.stop_trace()`},{id:"tensorflow",label:"TensorFlow",code:e=>`import tensorflow as tf

tf.profiler.experimental.start(${o(e)})
for i, batch in enumerate(dataset):
    with tf.profiler.experimental.Trace("train", step_num=i, _r=1):
        train_step(batch)
tf.profiler.experimental.stop()`},{id:"ascend",label:"Ascend",code:e=>`import torch_npu
from torch_npu import profiler

config = profiler._ExperimentalConfig(profiler_level=profiler.ProfilerLevel.Level1)
with profiler.profile(schedule=profiler.schedule(wait=1, warmup=1, active=3),
                      on_trace_ready=profiler.tensorboard_trace_handler(${o(e)}),
                      record_shapes=True, profile_memory=True, experimental_config=config) as prof:
    for batch in loader:
        train_step(batch)
        prof.step()`},{id:"nsight",label:"Nsight",code:e=>`nsys profile -t cuda,nvtx,osrt --cuda-graph-trace=node -o ${a(`${e}/report`)} python3 train.py
nsys export --type sqlite ${a(`${e}/report.nsys-rep`)}`},{id:"rocm",label:"ROCm",code:e=>`rocprofv3 --hip-trace --kernel-trace --memory-copy-trace --marker-trace --rccl-trace \\
    -d ${a(e)} -- python3 train.py`},{id:"perfetto",label:"Perfetto",code:e=>`# programs that write track events with Perfetto's SDK
tracebox --txt -c - -o ${a(`${e}/run.pftrace`)} <<EOF
buffers { size_kb: 65536 }
data_sources { config { name: "track_event" } }
duration_ms: 10000
EOF`},{id:"record",label:"tacho record",code:e=>`# any program, also in C: no change of its code
tacho record -o ${a(e)} -- python train.py`}];function b({path:e}){let[i,d]=c("pytorch"),n=l.find(f=>f.id===i)?.code(e.replace(/\/+$/,""))??"";return r("div",{class:"missing",children:[r("h1",{children:t("no_runs",{path:e})}),r("p",{class:"facts",children:[t("no_runs_watch")," ",r(p,{})]}),r("section",{class:"panel w12 padded",children:[r("h2",{children:t("no_runs_record")}),r(s,{label:t("producer"),choices:l,chosen:i,onChoose:d}),r("pre",{children:n}),r("button",{type:"button",class:"button copy-code",onClick:()=>{navigator.clipboard?.writeText(n)},children:t("copy")})]}),r("section",{class:"panel w12 padded",children:[r("h2",{children:t("no_runs_try")}),r("pre",{children:"tacho demo"})]})]})}export{b as NoRuns};
