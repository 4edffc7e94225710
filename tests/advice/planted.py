"""Runs with a known cause: what is planted, which rules must find it, which may speak besides.

A rule that must speak and does not is missed; one that speaks and neither must nor may is wrong. What may speak is
what the cause brings about as well: it is named here for each cause, with the reason, and counts for nothing.
"""
import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Callable

BUSY = ("gpu_busy",)
HOST = ("gpu_idle_host", "gpu_idle_unknown")


@dataclass
class Case:
    label: str
    must: tuple
    may: tuple
    verdicts: tuple
    kinds: tuple = ()        # device and mode: whose words are checked
    words: tuple = ()        # of gentrace
    path: Path = None        # or a recorded trace
    write: Callable = None   # or what fills a folder
    cut: float = 0           # of the file that is left
    options: tuple = field(default=())


# cause: (rules that must, rules that may, headlines)
KINETO = {
    "none": ((), (), BUSY),
    "loader_in_process": (("data_loader_no_workers",), (), ("gpu_idle_data_loader",)),
    "loader_slow": (("data_loader_slow",), (), ("gpu_idle_data_loader",)),
    "loader_unmarked": (("data_loader_unmarked",), (), ("gpu_idle_data_loader",)),
    "pause": (("host_pause",), (), ("gpu_idle_unknown",)),
    "host_late": (("host_late",), (), HOST),
    # this many launches are why the CPU launches too late; the same operator launches all of them
    "small_kernels": (("small_kernels", "host_late"), ("repeated_calls",), ("gpu_idle",) + HOST),
    # after the wait the host has other work
    "blocking_sync": (("blocking_sync",), ("host_late",), ("gpu_idle",)),
    "item_sync": (("item_sync",), ("host_late",), ("gpu_idle",)),
    "sync_copy": (("synchronous_copies",), (), ("gpu_busy", "gpu_idle")),
    "pageable_copy": (("pageable_copies",), (), ("gpu_busy", "gpu_idle")),
    # on the stream that computes
    "exposed_copy": (("copies_exposed",), (), BUSY),
    # the first step's calls are the host's
    "allocator": (("allocator_calls",), ("host_late",), ("gpu_idle",)),
    "dependency": (("dependency_wait",), (), ("gpu_idle_dependency",)),
    # 280 launches in a row
    "optimizer_loop": (("optimizer_not_fused",), ("small_kernels", "host_late"), BUSY + HOST),
    # the device waits in that step
    "long_step": (("step_variance",), ("host_late",), BUSY + HOST),
    "first_step": (("first_step",), ("host_late",), BUSY + HOST),
    # frames are all that the host does for a while
    "frames": (("profiler_overhead",), ("host_pause",), ("profiler_overhead",)),
    "small_grid": (("small_grid",), (), BUSY),
    "few_blocks": (("sm_efficiency_low",), (), BUSY),
    "low_occupancy": (("occupancy_low",), (), BUSY),
    "no_tensor_cores": (("tensor_cores_unused",), (), BUSY),
    "tf32": (("float32_matmul",), (), BUSY),
    "odd_dimension": (("odd_dimension",), (), BUSY),
    "layout": (("layout_conversion",), (), BUSY),
    "memory_full": (("memory_near_capacity",), (), BUSY),
    "fragmentation": (("fragmentation",), (), BUSY),
    "data_parallel": (("data_parallel",), (), BUSY),
    "gloo": (("nccl_missing",), (), ("communication_exposed",)),
    "exposed": (("communication_exposed",), (), ("communication_exposed",)),
    # what is missing looks like waiting
    "records_lost": ((), ("dependency_wait", "host_late", "host_pause"), ("device_records_lost",)),
    "setup_before": ((), (), BUSY),
}
# Roctracer records no blocks and no occupancy, and names of its products do not tell what they run on.
NOT_ON_ROCM = ("small_grid", "few_blocks", "low_occupancy", "no_tensor_cores")
ON_NPU = ("none", "loader_in_process", "loader_slow", "loader_unmarked", "pause", "host_late", "small_kernels",
          "blocking_sync", "item_sync", "dependency", "optimizer_loop", "long_step", "first_step", "odd_dimension",
          "layout", "exposed", "setup_before")
ON_CPU = ("none", "loader_in_process", "loader_slow", "loader_unmarked", "pause", "long_step", "first_step", "frames")
IN_GRAPH = ("none", "loader_slow", "loader_unmarked", "host_late", "sync_copy", "dependency", "small_grid", "tf32",
            "no_tensor_cores", "low_occupancy")
IN_INFERENCE = ("none", "loader_slow", "loader_unmarked", "pause", "host_late", "small_kernels", "blocking_sync",
                "item_sync", "sync_copy", "pageable_copy", "exposed_copy", "allocator", "small_grid", "tf32", "no_tensor_cores")
IN_SERVING = ("none", "pause", "host_late", "small_kernels", "blocking_sync", "item_sync", "sync_copy", "small_grid")
SINGLE_LOADER_ON_CPU = ("cpu_data_loader",)


def plant(cause, device="cuda", mode="train", *options, verdicts=None):
    must, may, headlines = KINETO[cause]
    return Case(label=" ".join((cause, device, mode, *options)).replace("--", ""), must=must, may=may,
                verdicts=verdicts or headlines, kinds=(device, mode),
                words=("plant", cause, "--device", device, "--mode", mode, *options))


def simulated():
    for cause in KINETO:
        for seed in ("1", "2", "3"):
            yield plant(cause, "cuda", "train", "--seed", seed)
        yield plant(cause, "cuda", "train", "--seed", "4", "--neighbors")
        if cause not in NOT_ON_ROCM:
            yield plant(cause, "rocm", "train", "--seed", "5")
            yield plant(cause, "rocm", "train", "--seed", "6", "--neighbors")
        yield plant(cause, "cuda", "compiled", "--seed", "7")
    for cause in ON_NPU:
        yield plant(cause, "npu", "train", "--seed", "8")
        yield plant(cause, "npu", "train", "--seed", "9")
    for cause in ON_CPU:
        verdicts = (SINGLE_LOADER_ON_CPU if cause in ("loader_in_process", "loader_slow") else
                    ("profiler_overhead",) if cause == "frames" else ("cpu_only",))
        case = plant(cause, "cpu", "train", "--seed", "10", verdicts=verdicts)
        # products are all that the program computes
        yield replace(case, may=case.may + ("cpu_products", "cpu_operator"))
    for cause in IN_GRAPH:
        yield plant(cause, "cuda", "graph", "--seed", "11")
        if cause in ("none", "host_late", "loader_slow"):
            yield plant(cause, "rocm", "graph", "--seed", "12")
    for cause in IN_INFERENCE:
        yield plant(cause, "cuda", "infer", "--seed", "13")
    for cause in IN_SERVING:
        yield plant(cause, "cuda", "serve", "--seed", "14", verdicts=("serving",))
    # Nothing marks steps: they repeat, and are found; one alone does not.
    for cause in ("none", "setup_before", "loader_unmarked", "host_late"):
        yield plant(cause, "cuda", "train", "--seed", "15", "--no-marks")
    yield Case("setup before one unmarked step", (), ("host_late", "host_pause", "data_loader_unmarked"),
               ("steps_unmarked",), words=("plant", "setup_before", "--no-marks", "--steps", "1"))


# Two at once: both are found, and each moment is saved once.
TOGETHER = (
    "loader_slow,tf32", "loader_in_process,item_sync", "loader_unmarked,host_late", "exposed,no_tensor_cores",
    "host_late,exposed", "item_sync,pageable_copy", "blocking_sync,exposed", "blocking_sync,small_grid",
    "sync_copy,layout", "allocator,fragmentation", "dependency,odd_dimension", "optimizer_loop,loader_slow",
    "exposed,tf32", "gloo,memory_full", "small_kernels,loader_unmarked", "long_step,fragmentation",
    "first_step,tf32", "few_blocks,loader_slow", "pageable_copy,loader_in_process", "exposed_copy,tf32",
    "exposed_copy,loader_slow",
)


def together():
    for pair in TOGETHER:
        for device, seed in (("cuda", "16"), ("cuda", "17")):
            both = [KINETO[c] for c in pair.split(",")]
            yield Case(f"{pair} {device} {seed}", both[0][0] + both[1][0], both[0][1] + both[1][1],
                       both[0][2] + both[1][2], (device, "train"),
                       words=("plant", pair, "--device", device, "--seed", seed))


def damaged():
    """A file that was cut: that is the headline, whatever is in what is left of it."""
    every = tuple({rule for must, may, _ in KINETO.values() for rule in must + may})
    for part in (0.3, 0.6, 0.9):
        yield Case(f"cut to {part}", (), every, ("trace_cut",), words=("plant", "loader_slow"), cut=part)


def cluster():
    """Ranks of one job: nothing wrong, and a rank, a host, a link … that are slow."""
    for seed in ("1", "2", "3"):
        yield Case(f"healthy ranks {seed}", (), ("host_late", "communication_exposed", "small_kernels"),
                   ("workers_busy",), words=("cluster", "--ranks", "16", "--steps", "6", "--seed", seed, "--healthy"))
        # One computes more slowly, one gets its data late: as every step ends with a wait for the device, its host
        # cannot load ahead, so that the wait costs time there as well.
        yield Case(f"late ranks {seed}", ("straggler", "load_imbalance", "data_loader_slow"),
                   ("host_late", "blocking_sync", "communication_exposed", "small_kernels", "step_variance"),
                   ("workers_busy",), words=("cluster", "--ranks", "16", "--steps", "6", "--seed", seed))


def cases():
    yield from simulated()
    yield from together()
    yield from damaged()
    yield from cluster()
    yield from servers()
    yield from on_cpu()
    yield from mindspore()


# ---- servers of language models: iterations of vLLM and SGLang, (name, ms, gap before in ms[, graph[, kernel]])

GEMM = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64"


def server_trace(folder, iterations, log=()):
    """Each iteration launches five kernels, or one graph of five, that fill it."""
    events, at, n = [], 0.0, 0
    for name, ms, gap, *more in iterations:
        graph, kernel = (more + [False, GEMM][len(more):])[:2]
        at += 1000 * gap
        us, piece = 1000 * ms, 200 * ms - 2
        events.append({"ph": "X", "cat": "user_annotation", "name": name, "pid": 1, "tid": 1, "ts": at, "dur": us})
        for i in range(5):
            start = at + 10 + i * (us - 12) / 5
            call = {"ph": "X", "cat": "cuda_runtime", "pid": 1, "tid": 1, "dur": 4, "args": {"correlation": n + (0 if graph else i)}}
            if not graph:
                events.append({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": at + 1 + 6 * i, "dur": 5.5, "args": {"External id": n + i}})
                events.append({**call, "name": "cudaLaunchKernel", "ts": at + 1.5 + 6 * i})
            elif i == 0:
                events.append({**call, "name": "cudaGraphLaunch", "ts": at + 1})
            args = {"correlation": n + (0 if graph else i), "device": 0, "stream": 7, "blocks per SM": 4, "warps per SM": 32,
                    "est. achieved occupancy %": 50, "grid": [528, 1, 1], "block": [256, 1, 1]}
            events.append({"ph": "X", "cat": "kernel", "name": kernel if i == 2 else GEMM, "pid": 0, "tid": 7, "ts": start, "dur": piece, "args": args})
        at, n = at + us, n + 10
    device = {"id": 0, "name": "NVIDIA H200", "computeMajor": 9, "computeMinor": 0, "numSms": 132}
    (folder / "server.pt.trace.json").write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [device], "traceEvents": events}))
    if log:
        (folder / "requests.csv").write_text("request_id,arrival_ms,first_token_ms,end_ms,prompt_tokens,output_tokens\n" +
                                             "".join(",".join(map(str, row)) + "\n" for row in log))


def decodes(n, requests, ms=2.0, gap=0.02, *more):
    return [(f"step[DECODE bs={requests}]", ms, gap, *more)] * n


def server_case(label, must, iterations, log=(), may=()):
    return Case(f"server: {label}", must, may, ("serving",), write=lambda folder: server_trace(folder, iterations, log))


def mixed(n, ms):
    return [("execute_context_1(512)_generation_8(8)", ms, 0.02), *[("execute_context_0(0)_generation_9(9)", 2.0, 0.02)] * 3] * n


def servers():
    yield server_case("sound", (), decodes(24, 8))
    yield server_case("sound, with prompts", (), decodes(12, 8) + [("step[EXTEND bs=1 toks=300]", 4.0, 0.02)] + decodes(24, 9))
    yield server_case("gaps", ("scheduler_gap",), decodes(24, 8, 2.0, 0.8))
    # a prefill may be the first of a request that comes when the server is idle
    yield server_case("idle before prompts", (), [("step[EXTEND bs=1 toks=100]", 2.0, 9.0), *decodes(8, 1)] * 3)
    yield server_case("whole prompts", ("prompts_stall_decodes",),
                      [one for i in range(6) for one in (*decodes(4, 8 + i), ("step[EXTEND bs=1 toks=9000]", 30.0, 0.02))] + decodes(4, 14))
    yield server_case("large chunks", ("prompts_stall_decodes",), mixed(6, 14.0))
    yield server_case("small chunks", (), mixed(6, 4.0))
    # decodes without a graph launch everything before the device is done with it: nothing else is wrong
    yield server_case("graphs of small batches", ("graph_sizes",), decodes(12, 16, 2.0, 0.02, True) + decodes(12, 64, 5.0))
    yield server_case("graphs of all batches", (), decodes(12, 16, 2.0, 0.02, True) + decodes(12, 64, 5.0, 0.02, True))
    yield server_case("graphs but for the small", (), decodes(12, 16, 2.0) + decodes(12, 64, 5.0, 0.02, True))
    waiting = [(f"r{i}", 0, 2.1 + 10 * (i // 4), 10.1 + 10 * (i // 4), 16, 5) for i in range(16)]
    turns = [one for _ in range(4) for one in (("step[EXTEND bs=4 toks=64]", 2.0, 0.02), *decodes(4, 4))]
    yield server_case("a limited batch", ("batch_limit",), turns, log=waiting)
    yield server_case("room in the batch", (), turns, log=[(r, at := first - 2.05, first, end, *rest) for r, _, first, end, *rest in waiting])
    yield server_case("FlashAttention 2", ("old_attention",), decodes(12, 8, 2.0, 0.02, False, "void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 64>>"))
    yield server_case("its kernels for one query", (), decodes(12, 8, 2.0, 0.02, False, "void flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64>>"))


# ---- programs that compute on the CPU: traces of torch.profiler, six steps of 10 ms

def cpu_trace(folder, calls, gpus=()):
    """calls: (name, start µs, µs[, thread[, shapes]]) of every step."""
    events = []
    for step in range(6):
        at = 10_000 * step
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1, "ts": at, "dur": 10_000})
        for name, start, dur, *more in calls:
            thread, shapes = (more + [1, None][len(more):])[:2]
            args = {"Input Dims": shapes, "Input type": ["float"] * len(shapes)} if shapes else {}
            events.append({"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": thread, "ts": at + start, "dur": dur, "args": args})
    devices = [{"id": i, "name": name, "computeMajor": 9, "computeMinor": 0, "numSms": 132} for i, name in enumerate(gpus)]
    (folder / "cpu.pt.trace.json").write_text(json.dumps({"schemaVersion": 1, "deviceProperties": devices, "traceEvents": events}))


def cpu_case(label, must, calls, may=(), gpus=()):
    return Case(f"{label} on the CPU", must, may, ("cpu_only",), write=lambda folder: cpu_trace(folder, calls, gpus))


# Nothing to tell: a dozen operators of equal length, one after the other.
EVEN = [(f"aten::op{i}", 800 * i, 795) for i in range(12)]


def on_cpu():
    yield cpu_case("nothing", (), EVEN)
    yield cpu_case("random numbers", ("cpu_operator",), [("aten::randn", 0, 7000), ("aten::normal_", 10, 6980), ("aten::sum", 7000, 2990)])
    yield cpu_case("a sort", ("cpu_operator",), [("aten::sort", 0, 8000), ("aten::sum", 8000, 1990)])
    yield cpu_case("products", ("cpu_products",), [("aten::mm", 5000 * i, 4990, 1, [[512, 512], [512, 512]]) for i in range(2)])
    yield cpu_case("reorders", ("cpu_reorders",), EVEN[:9] + [("aten::conv2d", 7200, 2700), ("aten::contiguous", 7210, 1500)])
    yield cpu_case("small operators", ("cpu_small_operators", "cpu_repeated_calls"), [("aten::add", 20 * i, 8) for i in range(495)])
    yield cpu_case("threads", ("threads_take_turns",), [(name, start, dur, 1 + i % 2) for i, (name, start, dur) in enumerate(EVEN)])
    yield cpu_case("a GPU that does nothing", ("gpu_unused",), EVEN + [("aten::mkldnn_convolution", 9600, 300)], gpus=("NVIDIA H200",))


# ---- MindSpore: the files its profiler leaves, of a step of 10 ms (times in ticks of 10 ns)

TICKS = 100_000  # in a millisecond


def step_trace(folder, rank=0, interval_ms=0.2, tail_ms=0.5, step_ms=10.0, reduce_ms=0.0):
    """Six steps and their average: interval, forward and backward, tail; one collective in the tail."""
    total, interval, tail = (int(ms * TICKS) for ms in (step_ms, interval_ms, tail_ms))
    name = "stream_7_0_AllReduce-op9"
    lines = ["step_num,start_point,end_point,total,fp_point,bp_point,iteration_interval,fp_and_bp,tail"
             + (f",{name},{name}_start_point,{name}_end_point" if reduce_ms else "")]
    for step in (1, 2, 3, 4, 5, 6, "-"):
        start = 1000 * TICKS + (0 if step == "-" else step - 1) * total
        first, last = start + interval, start + total - tail
        row = [step, start, start + total, total, first, last, interval, last - first, tail]
        if reduce_ms:
            row += [int(reduce_ms * TICKS), last, last + int(reduce_ms * TICKS)]
        lines.append(",".join(map(str, row)))
    (folder / f"step_trace_raw_{rank}_detail_time.csv").write_text("\n".join(lines) + "\n")


def queues(folder, host_empty=0, device_empty=0):
    """Of ten batches so many found the queue of the host, and of the device, empty."""
    host = "".join(f"0 0 {b} 20 {b * 40}\n0 1 {b} 2 {b * 40}\n0 2 {b} 22 {b * 40}\n"
                   f"1 8 {b} {0 if b <= host_empty else 5} {b * 40}\n" for b in range(1, 11))
    (folder / "device_queue_profiling_0.txt").write_text(host)
    device = "".join(f"GetNext_dequeue_wait {1000 + 400 * b} {1001 + 400 * b} {0 if b <= device_empty else 3}\n"
                     for b in range(1, 11))
    (folder / "minddata_aicpu_0.txt").write_text(device)


def pipeline(folder, slow=None, source="TFReader"):
    """Repeat ← Batch ← Map ← Shuffle ← source: full queues, but from the slow operator to the end."""
    lines = ["op_id,op_type,num_workers,output_queue_size,output_queue_average_size,output_queue_length,"
             "output_queue_usage_rate,sample_interval,parent_id,children_id"]
    types = ["Repeat", "Batch", "Map", "Shuffle", source]
    at = types.index(slow) if slow else -1
    for i, kind in enumerate(types):
        size = 0 if i <= at else 15
        child = f"[{i + 1}]" if i + 1 < len(types) else ""
        sizes = f'"[{size}, {size}, {size}, {size}]"'
        queue = f"{sizes},{size}.0,16,{size / 16}" if i else ",,,"
        lines.append(f"{i},{kind},4,{queue},5,{i - 1 if i else ''},{child}")
    (folder / "minddata_pipeline_raw_0.csv").write_text("\n".join(lines) + "\n")


def cpu_use(folder, busy):
    n = 6
    info = {"sampling_interval": 5, "cpu_processor_num": 8, "time_stamp": [5 * (i + 1) for i in range(n)],
            "device_info": {"user_utilization": [busy] * n, "sys_utilization": [0] * n, "io_utilization": [0] * n,
                            "idle_utilization": [100 - busy] * n, "runable_processes": [1] * n,
                            "context_switch_count": [10] * n},
            "process_info": {"user_utilization": [busy] * n, "sys_utilization": [0] * n}, "op_info": []}
    (folder / "minddata_cpu_utilization_0.json").write_text(json.dumps(info))


def device_types(folder, casts_ms=0.1, ai_cpu_ms=0.0):
    rows = (("MatMul", 6.0, 30), ("Conv2D", 3.0, 20), ("Cast", casts_ms, 10))
    text = "".join(f"{name},{ms},{n},{10 * ms:.2f}\n" for name, ms, n in rows)
    (folder / "aicore_intermediate_0_type.csv").write_text("op_type,execution_time,execution_frequency,percent\n" + text)
    ops = ["serial_number,kernel_type,total_time,dispatch_time,execution_time,run_start,run_end",
           "1,GetNext,0.9,0.1,0.2,154907895189,154907895707"]
    if ai_cpu_ms:
        ops.append(f"2,TopK,{ai_cpu_ms},0.1,{ai_cpu_ms},154907896189,154907896989")
    (folder / "aicpu_intermediate_0.csv").write_text("\n".join(ops) + "\n")


def one_device(folder, **what):
    step_trace(folder, interval_ms=what.get("interval_ms", 0.2), tail_ms=what.get("tail_ms", 0.5))
    queues(folder, what.get("host_empty", 0), what.get("device_empty", 0))
    if "slow" in what:
        pipeline(folder, what["slow"], what.get("source", "TFReader"))
    cpu_use(folder, what.get("busy", 30))
    device_types(folder, what.get("casts_ms", 0.1), what.get("ai_cpu_ms", 0))


LATE = {"interval_ms": 3.0, "host_empty": 7}
MINDSPORE = {
    "sound": ({}, ()),
    "sound with a short wait": ({"interval_ms": 0.4, "host_empty": 2}, ()),
    "late data": ({"interval_ms": 3.0}, ("step_interval",)),
    "empty queue of the host": ({**LATE, "slow": None}, ("step_interval", "host_queue_empty")),
    "late transfer": ({"interval_ms": 3.0, "device_empty": 6}, ("step_interval", "data_queue_empty")),
    "busy processors": ({"busy": 93}, ("host_cpu_busy",)),
    "slow reading": ({**LATE, "slow": "TFReader"}, ("step_interval", "host_queue_empty", "pipeline_dataset")),
    "slow generator": ({**LATE, "slow": "GeneratorDataset", "source": "GeneratorDataset"},
                       ("step_interval", "host_queue_empty", "pipeline_generator")),
    "slow map": ({**LATE, "slow": "Map"}, ("step_interval", "host_queue_empty", "pipeline_map")),
    "slow batch": ({**LATE, "slow": "Batch"}, ("step_interval", "host_queue_empty", "pipeline_batch")),
    "slow shuffle": ({**LATE, "slow": "Shuffle"}, ("step_interval", "host_queue_empty", "pipeline_other")),
    "operators on the AI CPU": ({"ai_cpu_ms": 2.0}, ("ai_cpu_operators",)),
    "casts": ({"casts_ms": 2.5}, ("type_conversions",)),
    "long tail": ({"tail_ms": 4.0}, ("long_tail",)),
}


def ranks(folder, n=4, intervals=None, flops=None, links=None, parts=None, stages=1):
    """Each rank's step trace, operations, links to its neighbor and, where given, what it computed and sent."""
    for r in range(n):
        step_trace(folder, r, interval_ms=(intervals or [0.2] * n)[r])
        gflops, gflop = (flops or [(500.0, 3000.0)] * n)[r]
        (folder / f"flops_summary_{r}.json").write_text(
            json.dumps({"FLOPs": gflop, "FLOPS": gflops, "FLOPS_Utilization": 5.0}))
        rate = (links or [8_000_000.0] * n)[r]
        link = {f"{r}-{(r + 1) % n}": {"SDMA": [0.5, rate / 2000, rate]}}
        text = json.dumps(link).replace('"', '""')
        op = json.dumps({"stream_7_0_AllReduce-op9": ["1", 0.5, 0.1, link]}).replace('"', '""')
        (folder / f"hccl_raw_{r}.csv").write_text(
            "step_num,communication_cost,wait_cost,link_info,communication_operator_cost\n"
            + "".join(f'{s},0.5,0.1,"{text}","{op}"\n' for s in range(1, 7)))
        if parts:
            columns, rows = parts
            kind = "pipeline-parallel" if stages > 1 else "data-parallel"
            values = ",".join(f"{v:.4f}" for v in rows[r])
            (folder / f"ascend_cluster_analyse_{kind}_{stages}_{n}_{r}.csv").write_text(
                columns + "\n" + (values + "\n") * 6)


DATA_PARALLEL = "computation_time,communication_alone_time"
STAGED = "computation_time,communication_alone_time,stage_time,receive_alone_time,collective_communication_alone_time"
CLUSTERS = {
    "sound ranks": ({"parts": (DATA_PARALLEL, [(9.0, 0.2)] * 4)}, (), ()),
    "one rank waits for data": ({"intervals": [0.2, 0.2, 2.5, 0.2]}, ("interval_imbalance",), ("step_interval",)),
    "one device is slow": ({"flops": [(500.0, 3000.0), (500.0, 3000.0), (300.0, 3000.0), (500.0, 3000.0)]},
                           ("slow_device",), ()),
    "one link is slow": ({"links": [8e6, 8e6, 3e6, 8e6]}, ("slow_link",), ()),
    "ranks send and wait": ({"parts": (DATA_PARALLEL, [(6.0, 3.0)] * 4)}, ("parallel_communication",), ()),
    "stages wait": ({"stages": 2, "parts": (STAGED, [(6.0, 2.5, 8.0, 2.2, 0.3)] * 4)}, ("stage_receive",), ()),
    "a stage sends": ({"stages": 2, "parts": (STAGED, [(6.0, 3.0, 8.0, 0.3, 2.7)] * 4)}, ("stage_collective",), ()),
    "a stage does more": ({"stages": 2, "parts": (STAGED, [(9.0, 0.3, 9.0, 0.2, 0.1)] * 4),
                           "flops": [(500.0, 4500.0), (500.0, 4500.0), (500.0, 2000.0), (500.0, 2000.0)]},
                          ("stage_flops",), ()),
}
ANY = ("gpu_busy", "cpu_only", "steps_timed_only", "cpu_data_loader", "gpu_idle_data_loader", "gpu_idle_host",
       "gpu_idle_unknown", "gpu_idle", "workers_busy", "workers_on_host")


def mindspore():
    for name, (what, must) in MINDSPORE.items():
        for scale in (1.0, 1.3):
            more = {k: v * scale if k.endswith("_ms") and v > 0.5 else v for k, v in what.items()}
            yield Case(f"MindSpore {name} {scale}", must, (), ANY, ("mindspore",),
                       write=lambda folder, more=more: one_device(folder, **more))
    for name, (what, must, may) in CLUSTERS.items():
        yield Case(f"MindSpore {name}", must, may, ANY, ("mindspore",),
                   write=lambda folder, what=what: ranks(folder, **what))


# Programs that were changed on purpose, recorded on an H200: README_truth.md. All of them are bound by their
# launches, and Python's own work between two operators makes some of their steps differ.
LAUNCHES = ("host_late", "small_kernels")
SOMETIMES = ("step_variance", "first_step", "small_grid", "optimizer_not_fused")
RECORDED = {
    "compare/base_a": (LAUNCHES, SOMETIMES),
    "compare/base_b": (LAUNCHES, SOMETIMES),
    "compare/copies": (LAUNCHES, SOMETIMES),
    "compare/odd_vocab": (LAUNCHES, SOMETIMES + ("odd_dimension",)),  # the step takes as long without it
    "compare/host_sleep": (LAUNCHES + ("host_pause",), SOMETIMES),
    "compare/optimizer_for_loop": (LAUNCHES + ("optimizer_not_fused",), SOMETIMES),
    "compare/batch_8": (LAUNCHES, SOMETIMES),
    "compare/slow_loader": (LAUNCHES + ("data_loader_unmarked",), SOMETIMES),
    "whatif/big_base": ((), SOMETIMES),
    "whatif/launch_base": (LAUNCHES, SOMETIMES),
    "whatif/launch_cuda_graph": ((), SOMETIMES),
    "whatif/launch_loader": (LAUNCHES + ("data_loader_unmarked",), SOMETIMES),
    "serving/generate_batches": (LAUNCHES, SOMETIMES),
    "serving/unmarked_9_steps": (LAUNCHES, SOMETIMES + ("host_pause",)),
}
# Programs with one known mistake (diagnosis/): what names it, and what is true of them besides. GPT-2 of transformers
# has its activation written out.
BESIDES = LAUNCHES + SOMETIMES + ("chain_unfused", "profiler_overhead", "host_pause", "occupancy_low")
MISTAKES = {
    "attention": ("attention_unfused", BUSY),
    "checkpointing": ("forward_again", BUSY),
    "copies": ("pageable_copies", ("gpu_idle", "gpu_busy")),
    "empty_cache": ("allocator_calls", ("gpu_idle",)),
    "gnn": ("repeated_calls", ("gpu_idle", "gpu_busy")),
    "resnet_fp32": ("tensor_cores_unused", BUSY),
    "small_batches": ("small_batches", ("gpu_idle",)),
}


def recorded(data):
    for name, (must, may) in RECORDED.items():
        path = data / f"{name}.pt.trace.json.gz"
        if path.exists():
            graph = ("graph",) if name.endswith("cuda_graph") else ()
            loads = ("gpu_idle_data_loader",) if name.endswith("loader") else ()
            yield Case(name, must, may, BUSY if not must else ("serving",) if "generate" in name else HOST + loads,
                       kinds=("cuda", *graph), path=path)
    for name, (must, verdicts) in MISTAKES.items():
        for ending in ("pt.trace.json.gz", "tacho"):
            path = data / "diagnosis" / f"{name}.{ending}"
            if path.exists():
                yield Case(f"{name} {ending}", (must,), BESIDES, verdicts, kinds=("cuda",), path=path)
