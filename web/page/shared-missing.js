import{a as X}from"./shared-filter.js";import{c as W,d as J,e as K,f as q,g as V,h as B}from"./shared-table.js";import{f as j}from"./shared-scale.js";import{i as G}from"./shared-table-source.js";import{g as $,h as F}from"./shared-save.js";import{E as M,a as C,b as E,c as D,f as k,o as N,t as L,v as I}from"./shared-trace.js";import{m as H,o as v}from"./shared-steps.js";import{d as U,i as O,z as h}from"./shared-answers.js";import{B as o,D as t,a as A,c as w,f as S,s as P}from"./shared-preact.js";var Y=e=>`tacho.columns.${e}`;function ee(e){try{return JSON.parse(localStorage.getItem(Y(e))??"null")??void 0}catch{return}}function Te(e){let s=e.columns[0]?.path??e.name,l=S(null),[p,i]=w(()=>ee(s)),c=(r,n)=>n===0||(p?p.includes(r.name):!e.optional.includes(r.name)),d=e.columns.filter(c).map(r=>e.optional.includes(r.name)?{...r,stays:!0}:r),[T,_]=j(1200),u=d.length-q(K(d,J(W(d))),_).length,b=r=>{let n=d.map(m=>m.name),f=n.includes(r)?n.filter(m=>m!==r):[...n,r];localStorage.setItem(Y(s),JSON.stringify(f)),i(f)},{source:a}=e,g=async()=>{let r=await(await fetch(a.csv)).text();await navigator.clipboard?.writeText(V(r))},y=(r,n="")=>{let f=e.columns.find(m=>m.name===n&&m.text)??e.columns[0];f&&P({params:{q:`${f.name}:${G(String(r.cell(f.name)??""))}`}})};return t("section",{class:"panel w12 main-table","aria-label":e.name,ref:T,children:[t("header",{class:"panel-head tall",children:[t(X,{label:e.filterLabel}),e.groups?t(v,{label:o("group_by"),choices:e.groups,chosen:e.group??"",onChoose:r=>P({params:{group:r,sort:void 0}})}):null,e.more,t("span",{class:"grow"}),t("span",{class:"panel-words","aria-live":"polite",children:o("n_rows",{n:h(a.total)})}),t(M,{class:"small-menu",right:!0,stay:!0,name:o("columns"),label:t(A,{children:[o("columns")," ",t("b",{children:d.length-u}),u>0?t("span",{class:"t3",children:[" +",u]}):null]}),items:e.columns.slice(1).map((r,n)=>({id:r.name,label:r.title,checked:c(r,n+1)})),onChoose:b}),t("button",{type:"button",class:"button",onClick:()=>{g()},children:o("copy")}),t("a",{class:"button",href:a.csv,download:!0,ref:l,children:"CSV"})]}),a.asked.error?t(F,{error:a.asked.error}):a.table?t(B,{name:e.name,columns:d,total:a.total,row:e.row,sort:e.sort,onSort:r=>P({params:{sort:r}}),...e.onRow?{onRow:e.onRow}:{},onEnter:(r,n)=>n?e.onTimeline?.(r):e.onRow?.(r),onFilter:y,...e.onTimeline?{onTimeline:e.onTimeline,timelineLabel:o("show_costliest")}:{},onExport:()=>l.current?.click(),...e.sum?{sum:e.sum,sumLabel:o("total")}:{},height:e.height??"max(420px, calc(100vh - 150px))",old:a.asked.old,empty:o("no_rows")}):t($,{height:420})]})}var Q={memory:`with torch.profiler.profile(
        activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
        *profile_memory=True*, record_shapes=True,
        on_trace_ready=tensorboard_trace_handler("./log")) as prof:`,modules:`with torch.profiler.profile(
        activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
        *with_stack=True, with_modules=True*,
        on_trace_ready=tensorboard_trace_handler("./log")) as prof:`,kernels:`with torch.profiler.profile(
        activities=[ProfilerActivity.CPU, *ProfilerActivity.CUDA*],
        on_trace_ready=tensorboard_trace_handler("./log")) as prof:`,roofline:`with torch.profiler.profile(
        activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
        *record_shapes=True*,
        on_trace_ready=tensorboard_trace_handler("./log")) as prof:

# or, cheaper, an execution trace in the same folder: the two are joined
observer = *ExecutionTraceObserver().register_callback(f"./log/rank{rank}_et.json")*
with torch.profiler.profile(*execution_trace_observer=observer*, ...) as prof:`,operators:`with torch.profiler.profile(
        activities=[*ProfilerActivity.CPU*, ProfilerActivity.CUDA],
        on_trace_ready=tensorboard_trace_handler("./log")) as prof:`,steps:`for batch in loader:
    train_step(batch)
    *prof.step()*`,pipeline:`# the profiler records every batch that a DataLoader hands out
with torch.profiler.profile(activities=[*ProfilerActivity.CPU*, ProfilerActivity.CUDA]) as prof:
    for batch in *torch.utils.data.DataLoader(dataset, num_workers=4)*:
        train_step(batch)
        prof.step()`,distributed:`# every rank writes its own file into one folder
on_trace_ready=tensorboard_trace_handler("./log", worker_name=*f"rank{rank}"*)`,hang:`# before the job starts; the dumps of all ranks belong into one folder
export *TORCH_NCCL_TRACE_BUFFER_SIZE=2000*
export *TORCH_NCCL_DUMP_ON_TIMEOUT=1*
export TORCH_NCCL_DEBUG_INFO_TEMP_FILE=/shared/dumps/nccl_trace_rank_`},re={pipeline:`# the profiler records every batch that a DataLoader hands out
with paddle.profiler.Profiler(targets=[*ProfilerTarget.CPU*, ProfilerTarget.GPU]) as profiler:
    for batch in *paddle.io.DataLoader(dataset, num_workers=4)*:
        train_step(batch)
        profiler.step()`,memory:"profiler = paddle.profiler.Profiler(*profile_memory=True*)",kernels:"profiler = paddle.profiler.Profiler(targets=[ProfilerTarget.CPU, *ProfilerTarget.GPU*])",steps:`for batch in loader():
    train_step(batch)
    *profiler.step()*`},te={memory:'profiler = mindspore.Profiler(*profile_memory=True*, output_path="./log")',pipeline:'profiler = mindspore.Profiler(*data_process=True*, output_path="./log")',distributed:'profiler = mindspore.Profiler(*profile_communication=True*, output_path="./log")'},oe={memory:'with Profiler("log", *format="memory_flow.svg"*):',kernels:'with Profiler("log", *profile_device=1*):',modules:'with Profiler("log", *with_scopes=True*):'},ie={steps:`with *jax.profiler.StepTraceAnnotation("train", step_num=i)*:
    train_step(batch)`,operators:`*jax.profiler.start_trace("./log")*
train_step(batch)
jax.profiler.stop_trace()`,modules:`with *jax.named_scope("hidden")*:
    x = jax.nn.relu(x @ w)`},ne={steps:`with *tf.profiler.experimental.Trace("train", step_num=i, _r=1)*:
    train_step(batch)`,operators:`*tf.profiler.experimental.start("./log")*
train_step(batch)
tf.profiler.experimental.stop()`,modules:`with *tf.name_scope("hidden")*:
    x = tf.nn.relu(x @ w)`},Z=`*nsys profile -t cuda,nvtx,osrt* --cuda-graph-trace=node -o report python3 train.py
*nsys export --type sqlite* report.nsys-rep`,ae={kernels:Z,operators:`# ranges of PyTorch's operators
with *torch.autograd.profiler.emit_nvtx()*:
    train_step(batch)

${Z}`,steps:`*torch.cuda.nvtx.range_push(f"step {i}")*
train_step(batch)
torch.cuda.nvtx.range_pop()`},se={kernels:"*rocprofv3 --hip-trace --kernel-trace --memory-copy-trace --marker-trace --rccl-trace* -d out -- python3 train.py"},R=`with torch_npu.profiler.profile(
        activities=[*torch_npu.profiler.ProfilerActivity.CPU, torch_npu.profiler.ProfilerActivity.NPU*],
        on_trace_ready=torch_npu.profiler.tensorboard_trace_handler("./log")) as prof:`,le={kernels:R,operators:R,roofline:R.replace("        on_trace_ready",`        *record_shapes=True*,
        on_trace_ready`),memory:R.replace("        on_trace_ready",`        *profile_memory=True*,
        on_trace_ready`),steps:Q.steps},z=[{id:"pytorch",label:"PyTorch",code:Q},{id:"paddle",label:"Paddle",code:re},{id:"mindspore",label:"MindSpore",code:te},{id:"megengine",label:"MegEngine",code:oe},{id:"jax",label:"JAX",code:ie},{id:"tensorflow",label:"TensorFlow",code:ne},{id:"torch_npu",label:"torch_npu",code:le},{id:"nsight",label:"Nsight Systems",code:ae},{id:"rocprof",label:"ROCm",code:se}],x={operators:["op"],kernels:["kernel"],roofline:[],modules:["module"],memory:["memory"],steps:["step"],pipeline:[],distributed:[],hang:[]},ce=12,Ne=e=>e in x;function de(e){let s=i=>i.workers[0]?.spans.some(c=>c.state==="ready");return(O.value?.runs??[]).filter(i=>i!==C.value&&s(i)).slice(0,ce).map(i=>{if(e==="distributed")return{run:i,n:D(i)?k(i):0};if(x[e].length===0)return{run:i,n:0};let c=U(`missing-${i.name}`,"info",{run:i.name,table:"events",limit:0});return{run:i,n:I(c.value,x[e])??0}}).filter(i=>i.n>0)}function Le({name:e}){let s=N().value,l=z.filter(r=>r.code[e]),p=L(s?.trace.format??""),i=z.find(r=>r.label===p),c=l.find(r=>s?.trace.format.startsWith(r.id)),[d,T]=w(),_=l.find(r=>r.id===(d??i?.id??c?.id))??l[0],u=_?.code[e]??"",b=de(e),a=k(C.value),g=e==="distributed"&&a>1,y=i!==void 0&&!i.code[e];return t("div",{class:"missing",children:[t("h1",{children:g?o("missing_distributed_apart",{n:a}):o(`missing_${e}`)}),t("p",{class:"facts",children:[g?o("missing_why_apart"):o(`missing_why_${e}`,{worker:E.value?.name??"",n:h(s?.quality.events_read)})," ",e==="pipeline"&&y?o("missing_not_by",{framework:p}):o("missing_rest")]}),y?null:t("section",{class:"panel w12 padded",children:[t("h2",{children:o("missing_next")}),t(v,{label:o("producer"),choices:l,chosen:_?.id??"",onChoose:T}),t("pre",{children:u.split("*").map((r,n)=>n%2===1?t("em",{children:r},n):r)}),t("p",{class:"t3",children:o(`missing_cost_${e}`)})]}),b.length?t("section",{class:"panel w12 padded",children:[t("h2",{children:o("missing_other_has")}),t("div",{class:"chips",children:b.map(({run:r,n})=>t("button",{type:"button",class:"button",onClick:()=>H({run:r.name,worker:void 0,span:void 0}),children:[t("b",{children:r.name})," ",t("span",{class:"t3",children:[e==="distributed"?"":`${r.workers[0]?.name} · `,o(`n_${e==="pipeline"||e==="roofline"?"steps":e}`,{n:h(n)})]})]},r.name))})]}):null]})}export{Te as a,Ne as b,Le as c};
