import{k7e as l,k7f as d,k4b as s,kn as h,kx as f,k13 as t,k14 as r,k16 as p}from"./core.js";var o=e=>JSON.stringify(e),n=e=>/^[\w./+-]+$/.test(e)?e:o(e),m=[{id:"pytorch",label:"PyTorch",code:e=>`from torch.profiler import profile, schedule, tensorboard_trace_handler

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
        prof.step()`},{id:"nsight",label:"Nsight",code:e=>`nsys profile -t cuda,nvtx,osrt --cuda-graph-trace=node -o ${n(`${e}/report`)} python3 train.py
nsys export --type sqlite ${n(`${e}/report.nsys-rep`)}`},{id:"rocm",label:"ROCm",code:e=>`rocprofv3 --hip-trace --kernel-trace --memory-copy-trace --marker-trace --rccl-trace \\
    -d ${n(e)} -- python3 train.py`},{id:"perfetto",label:"Perfetto",code:e=>`# programs that write track events with Perfetto's SDK
tracebox --txt -c - -o ${n(`${e}/run.pftrace`)} <<EOF
buffers { size_kb: 65536 }
data_sources { config { name: "track_event" } }
duration_ms: 10000
EOF`},{id:"record",label:"tacho record",code:e=>`# any program, also in C: no change of its code
tacho record -o ${n(e)} -- python train.py`}];function _(){return r("div",{class:"missing",children:[r("h1",{children:t("local_title")}),r("p",{children:t("local_words")}),r("p",{class:"facts",children:[r(s,{strong:!0})," ",r(s,{folder:!0})]}),r(b,{}),r("section",{class:"panel w12 padded",children:[r("p",{children:t("local_private")}),r("p",{class:"t3",children:t("local_reads")})]})]})}function b(){let e=d.value;if(!e)return null;let{name:a,bytes:c,reason:i}=e;return i!==void 0?r("p",{role:"alert",children:t("local_failed",{name:a,reason:i})}):r("p",{role:"status",children:t("local_fetching",{name:a,v:f(c,"bytes")})})}function P({path:e}){return l?r(_,{}):r(g,{path:e})}function g({path:e}){let[a,c]=p("pytorch"),i=m.find(u=>u.id===a)?.code(e.replace(/\/+$/,""))??"";return r("div",{class:"missing",children:[r("h1",{children:t("no_runs",{path:e})}),r("p",{class:"facts",children:[t("no_runs_watch")," ",r(s,{})]}),r("section",{class:"panel w12 padded",children:[r("h2",{children:t("no_runs_record")}),r(h,{label:t("producer"),choices:m,chosen:a,onChoose:c}),r("pre",{children:i}),r("button",{type:"button",class:"button copy-code",onClick:()=>{navigator.clipboard?.writeText(i)},children:t("copy")})]}),r("section",{class:"panel w12 padded",children:[r("h2",{children:t("no_runs_try")}),r("pre",{children:"tacho demo"})]})]})}export{P as NoRuns};
