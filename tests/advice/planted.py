"""Runs with a known cause: what is planted, which rules must find it, which may speak besides.

A rule that must speak and does not is missed; one that speaks and neither must nor may is wrong. What may speak is
what the cause brings about as well: it is named here for each cause, with the reason, and counts for nothing.
"""
from dataclasses import dataclass, field
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
    # so many launches are why the host is late
    "small_kernels": (("small_kernels", "host_late"), (), HOST),
    # behind the wait the host has work of its own
    "blocking_sync": (("blocking_sync",), ("host_late",), ("gpu_idle",)),
    "item_sync": (("item_sync",), ("host_late",), ("gpu_idle",)),
    "sync_copy": (("synchronous_copies",), (), ("gpu_busy", "gpu_idle")),
    "pageable_copy": (("pageable_copies",), (), ("gpu_busy", "gpu_idle")),
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
                "item_sync", "sync_copy", "pageable_copy", "allocator", "small_grid", "tf32", "no_tensor_cores")
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
        yield plant(cause, "cpu", "train", "--seed", "10", verdicts=verdicts)
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


def cases():
    yield from simulated()
    yield from damaged()
    yield from cluster()
    yield from mindspore()


def mindspore():
    return ()


# Programs that were changed on purpose, recorded on an H200: README_truth.md. All of them are bound by their
# launches, and Python's own work between two operators makes some of their steps differ.
LAUNCHES = ("host_late", "small_kernels")
SOMETIMES = ("step_variance", "first_step", "small_grid", "optimizer_not_fused")
RECORDED = {
    "compare/base_a": (LAUNCHES, SOMETIMES),
    "compare/base_b": (LAUNCHES, SOMETIMES),
    "compare/copies": (LAUNCHES, SOMETIMES),
    "compare/odd_vocab": (LAUNCHES + ("odd_dimension",), SOMETIMES),
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


def recorded(data):
    for name, (must, may) in RECORDED.items():
        path = data / f"{name}.pt.trace.json.gz"
        if path.exists():
            graph = ("graph",) if name.endswith("cuda_graph") else ()
            yield Case(name, must, may, BUSY if not must else ("serving",) if "generate" in name else HOST,
                       kinds=("cuda", *graph), path=path)
