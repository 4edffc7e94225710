"""Traces of unusual shapes, made here: a small simulator of a CPU that launches work on streams, and one function for
each shape. A function returns the trace and what is true of it; shapes() lists them all.

    steps       the number of marked steps, or None where nothing marks or repeats
    must, not_  patterns by command: what the sentences must and must not say, in English
    ask         the commands that may be asked, where not all

Times are microseconds."""
from random import Random

LAUNCH_US, LATENCY_US = 5.0, 3.0


class Program:
    """A process with threads, and devices with streams that work in order."""

    def __init__(self, seed=1, pid=4000, device_pid=0, categories=None, torch=True, offset_us=0.0):
        self.events, self.now, self.free, self.random = [], 1_000_000.0, {}, Random(seed)
        self.pid, self.device_pid, self.tid, self.correlation = pid, device_pid, pid, pid * 1000
        self.names = {"kernel": "kernel", "copy": "gpu_memcpy", "runtime": "cuda_runtime", "launch": "cudaLaunchKernel",
                      "copy_call": "cudaMemcpyAsync", "sync": "cudaDeviceSynchronize", "graph": "cudaGraphLaunch", **(categories or {})}
        self.torch, self.offset_us, self.device_name = torch, offset_us, "NVIDIA H100 80GB HBM3"

    def put(self, cat, name, start, dur, pid=None, tid=None, **args):
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": self.pid if pid is None else pid,
                            "tid": self.tid if tid is None else tid, "ts": round(start, 3), "dur": round(max(dur, 0), 3), "args": args})
        return self.events[-1]

    def rest(self, us):
        """Nothing that is recorded."""
        self.now += us

    def op(self, name, us=10.0, inside=None):
        """An operator: half of its own time, what happens inside, the other half."""
        start = self.now
        self.now += us / 2
        if inside:
            inside()
        self.now += us / 2
        self.correlation += 1
        return self.put("cpu_op", name, start, self.now - start, **{"External id": self.correlation, "Sequence number": self.correlation})

    def launch(self, us, name="void gemm_kernel<float>(float*)", stream=7, device=0, after=None, call=None, keep=True, cat=None, **args):
        """A call, and a piece of work that starts when its stream is free and `after` (another stream) is done."""
        self.correlation += 1
        start = self.now
        self.now += LAUNCH_US
        if call != "":
            self.put(self.names["runtime"], call or self.names["launch"], start, LAUNCH_US, correlation=self.correlation, cbid=211)
        begin = max(self.now + LATENCY_US, self.free.get((device, stream), 0.0) + 1.0, self.free.get((device, after), 0.0) if after is not None else 0.0)
        self.free[device, stream] = begin + us
        if keep:
            self.put(cat or self.names["kernel"], name, begin + self.offset_us, us, pid=self.device_pid + device, tid=stream,
                     correlation=self.correlation, device=device, stream=stream, grid=[264, 1, 1], block=[256, 1, 1],
                     **{"blocks per SM": 2.0, "registers per thread": 64, **args})
        return begin + us

    def kernel(self, op, us, **more):
        self.op(op, 8.0, lambda: self.launch(us, **more))

    def sync(self, device=0, name=None):
        """The CPU waits until the device is done."""
        start = self.now
        done = [t for (d, _), t in self.free.items() if d == device]
        self.now = max([self.now + 2, *(t + 2 for t in done)])
        self.correlation += 1
        self.put(self.names["runtime"], name or self.names["sync"], start, self.now - start, correlation=self.correlation, cbid=165)

    def range(self, name, inside, cat="user_annotation"):
        start = self.now
        inside()
        self.put(cat, name, start, self.now - start)

    def trace(self, **more):
        head = {"schemaVersion": 1, "traceEvents": self.meta() + self.events, **more}
        if self.torch:
            head["deviceProperties"] = [{"id": d, "name": self.device_name, "totalGlobalMem": 85e9, "computeMajor": 9, "computeMinor": 0,
                                         "numSms": 132, "maxThreadsPerMultiprocessor": 2048, "warpSize": 32} for d in self.devices()]
            head["with_stack"] = head["record_shapes"] = head["profile_memory"] = 0
        return head

    def devices(self):
        return sorted({d for d, _ in self.free})

    def meta(self):
        out = [{"ph": "M", "name": "process_name", "pid": self.pid, "tid": 0, "ts": 0, "args": {"name": "python"}},
               {"ph": "M", "name": "process_labels", "pid": self.pid, "tid": 0, "ts": 0, "args": {"labels": "CPU"}}]
        return out + [{"ph": "M", "name": "process_labels", "pid": self.device_pid + d, "tid": 0, "ts": 0, "args": {"labels": f"GPU {d}"}} for d in self.devices()]


def layers(p, n=20, us=60.0, pause=4.0):
    """A step of work that keeps a device busy when `us` is large, and late when `pause` is."""
    for i in range(n):
        p.kernel("aten::mm" if i % 2 else "aten::add", us * p.random.uniform(0.9, 1.1),
                 name=f"void {'gemm' if i % 2 else 'add'}_kernel<float>(float*)")
        p.rest(pause)


def steps_of(p, n, body, end_sync=True, first=10):
    for i in range(n):
        start = p.now
        body(i)
        if end_sync:
            p.sync()
        p.put("user_annotation", f"ProfilerStep#{first + i}", start, p.now - start)
        p.rest(2)


def busy():
    p = Program()
    steps_of(p, 6, lambda i: layers(p, us=80))
    return p.trace(), {"steps": 6, "must": {"overview": r"busy 9\d"}, "not_": {"advise": "launches work too late"}}


def late():
    p = Program()
    steps_of(p, 6, lambda i: layers(p, us=4, pause=60))
    return p.trace(), {"steps": 6, "must": {"overview": r"idle 9\d\.\d %"}}


def device_threads_only():
    p = Program()
    steps_of(p, 4, lambda i: layers(p, us=30, pause=20))
    t = p.trace()
    t["traceEvents"] = [e for e in t["traceEvents"] if e.get("cat") in (None, "kernel", "gpu_memcpy")]
    return t, {"steps": None, "not_": {"overview": "CPU launches work too late|in operators", "advise": "CPU launches|the CPU is", "critical": "on the CPU"}}


def no_host_operators():
    p = Program()
    steps_of(p, 4, lambda i: layers(p, us=10, pause=20))
    t = p.trace()
    t["traceEvents"] = [e for e in t["traceEvents"] if e.get("cat") not in ("cpu_op", "user_annotation")]
    return t, {"steps": None, "not_": {"overview": "in operators"}}


def one_kernel():
    p = Program()
    p.kernel("aten::mm", 500.0)
    p.sync()
    return p.trace(), {"steps": None, "not_": {"overview": "each step|of step", "advise": "each .{0,12}step"}}


def one_short_kernel():
    p = Program()
    p.op("aten::randn", 3000)
    p.kernel("aten::mm", 4.0)
    p.sync()
    return p.trace(), {"steps": None, "not_": {"overview": "each step|of step"}}


def in_flight():
    """Work from before runs for 4 of the 12 ms; the recording ends while work runs."""
    p = Program()
    p.free[0, 7] = p.now + 4000
    for _ in range(40):
        p.kernel("aten::mm", 200)
    t = p.trace()
    ends = p.now + 4500
    t["traceEvents"] = [e for e in t["traceEvents"] if e.get("cat") != "kernel" or e["ts"] + e["dur"] < ends]
    return t, {"steps": None, "not_": {"overview": r"idle [2-9]\d", "advise": "launches work too late"}}


def in_flight_steps():
    p = Program()
    p.free[0, 7] = p.now + 5000
    steps_of(p, 5, lambda i: layers(p, us=80), end_sync=False)
    return p.trace(), {"steps": 5, "not_": {"overview": r"idle [2-9]\d", "advise": "launches work too late"}}


def graphs_without_kernels():
    p = Program()

    def body(_):
        for _ in range(3):
            p.launch(1500, call=p.names["graph"], keep=False)
        p.kernel("aten::copy_", 20)
    steps_of(p, 6, body)
    return p.trace(), {"steps": 6, "not_": {"overview": r"idle [2-9]\d", "advise": "launches work too late|torch\\.compile"}}


def graphs_with_kernels():
    p = Program()

    def body(_):
        p.op("aten::copy_", 5)
        start, p.correlation = p.now, p.correlation + 1
        p.now += 12
        p.put("cuda_runtime", "cudaGraphLaunch", start, 12, correlation=p.correlation, cbid=311)
        at = max(p.now + 3, p.free.get((0, 7), 0))
        for i in range(30):
            p.put("kernel", "void gemm_kernel<float>(float*)", at, 40, pid=0, tid=7, correlation=p.correlation, device=0, stream=7, grid=[264, 1, 1],
                  block=[256, 1, 1], **{"graph id": 1, "graph node id": i})
            at += 41
        p.free[0, 7] = at
    steps_of(p, 6, body)
    return p.trace(), {"steps": 6, "must": {"overview": r"busy 9\d"}, "not_": {"advise": "CUDA graphs"}}


def two_devices_one_idle():
    p = Program()

    def body(i):
        layers(p, us=80)
        p.kernel("aten::copy_", 30, device=1, stream=7)
        p.sync(1)
    steps_of(p, 6, body)
    return p.trace(), {"steps": 6}


def two_devices_in_turn():
    """Naive model parallelism: one computes while the other waits."""
    p = Program()

    def body(_):
        for d in (0, 1):
            for _ in range(10):
                p.kernel("aten::mm", 100, device=d)
            p.sync(d)
    steps_of(p, 6, body)
    return p.trace(), {"steps": 6}


def two_processes():
    p, q = Program(pid=4000), Program(pid=5000, device_pid=1, seed=2)
    steps_of(p, 5, lambda i: layers(p, us=80))
    q.now += 300
    steps_of(q, 5, lambda i: layers(q, us=80))
    t = p.trace()
    for e in q.events:
        if e["cat"] == "kernel":
            e["args"]["device"] = 1
    t["traceEvents"] += q.events
    return t, {"steps": 5, "ask": ("advise", "steps"), "not_": {"advise": "much slower"}}


def clock(offset_us):
    def make():
        p = Program(offset_us=offset_us)
        steps_of(p, 6, lambda i: layers(p, us=80))
        return p.trace(), {"steps": 6, "not_": {"advise": "launches work too late", "overview": "launches work too late"}, "clock": True}
    return make


def clock_late(offset_us):
    def make():
        p = Program(offset_us=offset_us)
        steps_of(p, 6, lambda i: layers(p, us=10, pause=40))
        return p.trace(), {"steps": 6, "clock": True}
    return make


def cold_start():
    p = Program()
    start = p.now
    p.op("aten::empty", 10, lambda: p.put("cuda_runtime", "cudaFree", p.now, 2_500_000) and p.rest(2_500_000))
    for _ in range(6):
        layers(p, us=60)
        p.sync()
    p.put("user_annotation", "train", start, p.now - start)
    return p.trace(), {"steps": None, "any_steps": True, "not_": {"overview": "launches work too late|each step.*idle 9", "advise": "torch\\.compile|larger batches"}}


def some_steps_on_host():
    """Every other step only prepares data on the CPU."""
    p = Program()

    def body(i):
        if i % 2:
            layers(p, us=80)
        else:
            p.op("aten::index_select", 900)
    steps_of(p, 8, body)
    return p.trace(), {"steps": 8}


def host_steps_only():
    p = Program()

    def body(_):
        for _ in range(10):
            p.op("aten::mm", 200)
        p.op("aten::add", 30)
    for i in range(6):
        start = p.now
        body(i)
        p.put("user_annotation", f"ProfilerStep#{i}", start, p.now - start)
    return p.trace(), {"steps": 6, "must": {"overview": r"aten::mm"}, "not_": {"overview": "idle"}}


def host_without_steps():
    p = Program()
    for n in range(9):
        p.op("aten::mm" if n % 3 else "aten::svd", 100 + 71 * n)
    return p.trace(), {"steps": None, "not_": {"overview": "a step|each step|idle"}}


def no_repeat():
    p = Program()
    for n in range(25):
        p.kernel(f"custom::op{n}", 50 + 13 * (n * 7 % 11), name=f"kernel_{n}(float*)")
        p.rest(3)
    p.sync()
    return p.trace(), {"steps": None, "not_": {"overview": "each step|of step|a step"}}


def server():
    """A prefill, then 24 decodes that wait for the token."""
    p = Program()

    def model(us, width):
        for _ in range(12):
            p.kernel("aten::mm", us, name=f"void gemm_{width}_kernel<bf16>(bf16*)")
            p.kernel("vllm::unified_attention", us / 2, name="void flash_fwd_splitkv_kernel<bf16>(bf16*)")
        p.launch(3, name="Memcpy DtoH (Device -> Pinned)", cat="gpu_memcpy", call=p.names["copy_call"], bytes=64)
        p.sync(name="cudaStreamSynchronize")
    model(400, "prefill")
    for _ in range(24):
        p.rest(90)
        model(12, "decode")
    return p.trace(), {"steps": None, "any_steps": True, "not_": {"overview": "gradient|data load", "advise": "gradient|no_sync|fused optimizer|data loader|training"}}


def tensor_parallel():
    """A forward pass whose all-reduces block."""
    p = Program()

    def body(_):
        for _ in range(8):
            p.kernel("aten::mm", 60)
            p.op("c10d::allreduce_", 10, lambda: p.launch(
                200, name="ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", stream=20, after=7,
                **{"Collective name": "allreduce", "In msg nelems": 4194304, "dtype": "BFloat16", "Group size": 2, "Process Group Name": "0"}))
            p.free[0, 7] = p.free[0, 20]
    steps_of(p, 5, body)
    t = p.trace(distributedInfo={"backend": "nccl", "rank": 0, "world_size": 2})
    return t, {"steps": 5, "must": {"overview": "communication|collective"}, "not_": {"advise": "gradient|no_sync|bucket", "overview": "gradient"}}


def accumulation():
    """Four micro-batches, an optimizer step after each fourth; steps mark the micro-batches."""
    p = Program()

    def body(i):
        p.range("forward", lambda: layers(p, n=8, us=80))
        for _ in range(8):
            p.kernel("autograd::engine::evaluate_function: MmBackward0", 120)
        if i % 4 == 3:
            p.range("Optimizer.step#AdamW.step", lambda: [p.kernel("aten::_foreach_add_", 100) for _ in range(12)])
    steps_of(p, 12, body)
    return p.trace(), {"steps": 12, "not_": {"advise": "much slower|step times vary"}}


def nested_steps():
    """ProfilerStep inside of ranges of an epoch, and ranges named like steps inside of it."""
    p = Program()

    def epoch(e):
        def body(i):
            for m in range(2):
                p.range(f"micro_step {m}", lambda: layers(p, n=10, us=80))
        steps_of(p, 3, body, first=3 * e)
    for e in range(2):
        p.range(f"epoch {e}", lambda e=e: epoch(e))
    return p.trace(), {"steps": 6}


def two_streams():
    """Two streams that work at the same time; together they are always busy."""
    p = Program()

    def body(_):
        for i in range(20):
            p.kernel("aten::mm", 90, stream=7 if i % 2 else 13)
    steps_of(p, 6, body)
    return p.trace(), {"steps": 6, "must": {"overview": r"busy 9\d"}}


def maker(categories, device, sync_name=None):
    def make():
        p = Program(categories=categories)
        p.device_name = device
        steps_of(p, 6, lambda i: layers(p, us=8, pause=40))
        return p.trace(), {"steps": 6, "must": {"overview": r"idle [789]\d"}, "not_": {"advise": "NVIDIA" if device != "NVIDIA" else "$^"}}
    return make


amd = maker({"runtime": "cuda_runtime", "launch": "hipLaunchKernel", "sync": "hipDeviceSynchronize", "copy_call": "hipMemcpyWithStream"}, "AMD Instinct MI300X")
xpu = maker({"runtime": "xpu_runtime", "launch": "urEnqueueKernelLaunch", "sync": "urQueueFinish", "copy_call": "urEnqueueUSMMemcpy"}, "Intel(R) Data Center GPU Max 1550")
mtia = maker({"runtime": "mtia_runtime", "launch": "runFunction", "sync": "MTIA Synchronize", "kernel": "mtia_ccp_events"}, "MTIA")
npu = maker({"runtime": "privateuse1_runtime", "launch": "aclnnLaunch", "sync": "aclrtSynchronizeDevice", "kernel": "privateuse1_device"}, "Ascend910B")


def overlapping_ranges():
    p = Program()

    def body(_):
        start = p.now
        layers(p, n=10, us=80)
        mid = p.now
        layers(p, n=10, us=80)
        p.put("user_annotation", "load and compute", start, mid - start + 100)
        p.put("user_annotation", "compute and save", mid - 50, p.now - mid + 50)
    steps_of(p, 5, body)
    return p.trace(), {"steps": 5, "must": {"overview": r"busy 9\d"}, "not_": {"advise": "data load"}}


def without_autograd_thread():
    """The forward pass of the main thread is recorded; the backward pass runs on a thread that is not in the file."""
    p = Program()

    def body(_):
        layers(p, n=10, us=40)
        start = p.now
        before = len(p.events)
        for _ in range(20):
            p.kernel("autograd::engine::evaluate_function: MmBackward0", 100)
        del p.events[before:]
        p.now = max(p.now, p.free[0, 7])
        p.put("user_annotation", "backward", start, p.now - start)
    steps_of(p, 5, body)
    return p.trace(), {"steps": 5, "not_": {"advise": "logging|checkpoint|sleep", "overview": "pauses between|too late"}}


def autograd_thread():
    """As usual: the main thread waits while the autograd thread launches the backward pass."""
    p = Program()

    def body(_):
        layers(p, n=20, us=3, pause=20)
        main = p.tid
        p.tid = main + 7
        for _ in range(20):
            p.kernel("autograd::engine::evaluate_function: MmBackward0", 3)
            p.rest(30)
        p.tid = main
    steps_of(p, 5, body)
    return p.trace(), {"steps": 5, "must": {"overview": r"idle [89]\d"}, "not_": {"overview": "pauses between"}}


def sleeping():
    """The program sleeps for half of each step, after waiting for the device."""
    p = Program()

    def body(_):
        layers(p, us=80)
        p.sync()
        p.rest(1800)
    steps_of(p, 6, body, end_sync=False)
    return p.trace(), {"steps": 6, "must": {"overview": r"idle [45]\d", "advise": r"pause|nothing (was|is) recorded"}}


def loader():
    p = Program()

    def body(_):
        start = p.now
        p.rest(3000)
        p.put("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", start, 3000)
        layers(p, us=80)
    steps_of(p, 6, body)
    return p.trace(), {"steps": 6, "must": {"overview": "data load|loads the data", "advise": "data"}}


def copies_only():
    p = Program()
    for _ in range(30):
        p.op("aten::copy_", 10, lambda: p.launch(400, name="Memcpy HtoD (Pageable -> Device)", cat="gpu_memcpy", call="cudaMemcpyAsync", bytes=4_000_000))
        p.sync(name="cudaStreamSynchronize")
    return p.trace(), {"steps": None, "any_steps": True, "not_": {"overview": "in the kernels", "idle": "in the kernels"}}


def zero_durations():
    p = Program()
    steps_of(p, 5, lambda i: layers(p, us=0, pause=10))
    return p.trace(), {"steps": 5}


def one_step():
    p = Program()
    steps_of(p, 1, lambda i: layers(p, us=10, pause=50))
    return p.trace(), {"steps": 1, "not_": {"overview": "each step", "advise": "each .{0,12}step"}}


def slow_step():
    """One of ten steps takes three times as long: a checkpoint on the CPU."""
    p = Program()

    def body(i):
        layers(p, us=80)
        if i == 6:
            p.sync()
            p.op("checkpoint::save", 6000)
    steps_of(p, 10, body)
    return p.trace(), {"steps": 10}


def small_in_large():
    """A recording that is mostly idle before and after the work: an excerpt that nothing divides."""
    p = Program()
    p.op("aten::zeros", 10)
    p.rest(80_000)
    layers(p, us=80)
    p.sync()
    p.rest(60_000)
    p.op("aten::zeros", 10)
    return p.trace(), {"steps": None, "not_": {"overview": "each step|of step"}}


def many_threads():
    """Four threads of a server launch on separate streams, all at the same time."""
    p = Program()
    main, start = p.tid, p.now
    for th in range(4):
        p.tid, p.now = main + th, start + 37 * th
        for _ in range(30):
            p.kernel("aten::mm", 100, stream=20 + th)
            p.rest(90)
        p.sync(name="cudaStreamSynchronize")
    return p.trace(), {"steps": None, "any_steps": True}


def shapes():
    made = [busy, late, device_threads_only, no_host_operators, one_kernel, one_short_kernel, in_flight, in_flight_steps, graphs_without_kernels,
            graphs_with_kernels, two_devices_one_idle, two_devices_in_turn, two_processes, cold_start, some_steps_on_host, host_steps_only,
            host_without_steps, no_repeat, server, tensor_parallel, accumulation, nested_steps, two_streams, overlapping_ranges,
            without_autograd_thread, autograd_thread, sleeping, loader, copies_only, zero_durations, one_step, slow_step, small_in_large, many_threads]
    out = {f.__name__: f for f in made}
    out.update({"amd": amd, "xpu": xpu, "mtia": mtia, "npu": npu, "clock_ahead_3ms": clock(3000), "clock_behind_3ms": clock(-3000),
                "clock_ahead_1ms_late": clock_late(1000), "clock_behind_1ms_late": clock_late(-1000), "clock_ahead_200ms": clock(200_000)})
    return out
