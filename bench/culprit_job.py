"""A training job over gloo in which one rank, or two, are at fault: the job that bench/culprit runs on each rank.

    CULPRIT_JOB='{…}' torchrun --nproc-per-node N culprit_job.py

Work is a sleep inside an operator, so that a few cores are enough for eight ranks; what is planted is a sleep as well,
or real work where the fault is about that (collections, another process, a thread with the lock). The job times itself:
first without the fault, then with it; the difference of the mean steps is the truth about its cost.
Kinds of job: ddp, fsdp (sharded by hand: gather before use, scatter of the gradient), pipe (a stage per rank, send and
recv), tensor (two all-reduces a layer, nothing overlaps), ring (each rank sends to the next after every layer).
"""
import gc
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time

import torch
import torch.distributed as dist

JOB = json.loads(os.environ["CULPRIT_JOB"])
RANK, WORLD = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
KIND, LAYERS, MICRO, WIDTH = JOB["kind"], JOB["layers"], JOB["micro"], 48
WARM, CLEAN, STEPS = 3, 8, JOB["steps"]
dice = random.Random(JOB["seed"] * 131 + RANK)

lib = torch.library.Library("planted", "DEF")
for op in ("layer", "layer_backward"):
    lib.define(f"{op}(Tensor x, float ms) -> Tensor")
    lib.impl(op, lambda x, ms: (time.sleep(max(0.0, ms) / 1e3), x.clone())[1], "CPU")


class State:
    step = 0
    heap = None
    hog = None
    spent = 0.0


def fault_ms(place):
    """How long the fault of this place lasts on this rank in this step."""
    at = State.step - WARM - CLEAN
    if at < 0:
        return 0.0
    return sum(f["ms"] for f in JOB["faults"]
               if f["place"] == place and f["rank"] == RANK and f.get("from", 0) <= at < f.get("until", STEPS)
               and at % f.get("every", 1) == f.get("every", 1) - 1)


def linger(place, part=1.0):
    ms = fault_ms(place) * part
    if ms:
        time.sleep(ms / 1e3)


def tokenize_sample(step):
    linger("loader")
    time.sleep(0.002)
    return torch.ones(max(1, round(8 * (1 + fault_ms("batch") / (LAYERS * (JOB["forward"] + JOB["backward"]))))), WIDTH)


def read_shard():
    """Reading from a slow disk: a pipe that another thread fills late."""
    ms = fault_ms("io")
    if not ms:
        return
    r, w = os.pipe()
    threading.Timer(ms / 1e3, lambda: (os.write(w, b"x"), os.close(w))).start()
    with os.fdopen(r, "rb") as f:
        f.read()


def write_checkpoint(model):
    if fault_ms("checkpoint"):
        class Slow:
            def __init__(self):
                self.first = True

            def write(self, data):
                if self.first:
                    self.first = False
                    linger("checkpoint")
                return len(data)

            def flush(self):
                pass
        torch.save(model.state_dict(), Slow())


class Stage(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, forward_ms, backward_ms):
        ctx.ms = backward_ms
        return torch.ops.planted.layer(x, forward_ms)

    @staticmethod
    def backward(ctx, g):
        return torch.ops.planted.layer_backward(g, ctx.ms), None, None


class Sharded(torch.autograd.Function):
    """A weight in shards: whole while it is used."""
    @staticmethod
    def forward(ctx, x, shard):
        ctx.save_for_backward(shard)
        whole = shard.new_empty(shard.numel() * WORLD)
        dist.all_gather_into_tensor(whole, shard.detach())
        return x + whole[:WIDTH]

    @staticmethod
    def backward(ctx, g):
        (shard,) = ctx.saved_tensors
        part, flat = torch.empty_like(shard), torch.zeros(shard.numel() * WORLD)
        dist.reduce_scatter_tensor(part, flat)
        return g, part


class Summed(torch.autograd.Function):
    """Halves of a matrix on different ranks: their products are added up, forward and backward."""
    @staticmethod
    def forward(ctx, x):
        y = x.clone()
        dist.all_reduce(y)
        return y / WORLD

    @staticmethod
    def backward(ctx, g):
        y = g.clone()
        dist.all_reduce(y)
        return y / WORLD


class Ring(torch.autograd.Function):
    """Everyone gives to the next."""
    @staticmethod
    def swap(x):
        y = torch.empty_like(x)
        wait = dist.isend(x.contiguous(), (RANK + 1) % WORLD)
        dist.recv(y, (RANK - 1) % WORLD)
        wait.wait()
        return y

    @staticmethod
    def forward(ctx, x):
        return Ring.swap(x)

    @staticmethod
    def backward(ctx, g):
        return Ring.swap(g)


class Layer(torch.nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number
        if KIND == "fsdp":
            self.shard = torch.nn.Parameter(torch.zeros(WIDTH * 8))
        else:
            self.linear = torch.nn.Linear(WIDTH, WIDTH, bias=False)

    def pad_inputs(self):
        linger("python", 1 / parts())

    def clip(self, g):
        linger("backward", 1 / parts())
        return g

    def forward(self, x):
        last = self.number == LAYERS - 1
        slow = 1 + fault_ms("host") / (LAYERS * (JOB["forward"] + JOB["backward"]))
        more = x.shape[0] / 8 if KIND not in ("pipe", "ring") else 1
        noise = dice.gauss(1, JOB["noise"])
        ahead, back = (JOB[k] * slow * more * noise / parts() for k in ("forward", "backward"))
        x = Sharded.apply(x, self.shard) if KIND == "fsdp" else self.linear(x)
        if last:
            self.pad_inputs()
            ahead += fault_ms("forward") / parts()
        x = Stage.apply(x, ahead, back)
        if last and x.requires_grad:
            x.register_hook(self.clip)
        if KIND == "tensor" and x.requires_grad:
            x = Summed.apply(x[:8])
        if KIND == "ring" and x.requires_grad:
            x = Ring.apply(x)
        return torch.tanh(x)


def parts():
    return MICRO if KIND == "pipe" else 1


def train_pipe(model, x):
    kept = []
    for _ in range(MICRO):
        inner = x[:4].clone() if RANK == 0 else torch.empty(4, WIDTH)
        if RANK:
            dist.recv(inner, RANK - 1)
        inner.requires_grad_(True)
        y = model(inner)
        kept.append((inner, y))
        if RANK + 1 < WORLD:
            dist.send(y.detach(), RANK + 1)
    for inner, y in kept if JOB["seed"] % 2 else reversed(kept):
        g = torch.ones_like(y)
        if RANK + 1 < WORLD:
            dist.recv(g, RANK + 1)
        y.backward(g)
        if RANK:
            dist.send(inner.grad, RANK - 1)
    linger("bubble")
    norm = torch.ones(1)
    dist.all_reduce(norm)


def hold_lock(stop):
    rows = list(range(200000))
    while not stop.is_set():
        ms, until = fault_ms("lock"), time.thread_time()
        while ms and time.thread_time() < until + ms / 1e3:
            sorted(rows, key=str)
        time.sleep(0.004)


def begin_faults():
    if fault_ms("gc") and State.heap is None:
        gc.collect()
        gc.freeze()
        State.heap, took = [], 0.0
        while took < fault_ms("gc"):
            for _ in range(20000):
                a = [{}]
                a[0]["self"] = a
                State.heap.append(a)
            began = time.thread_time()
            gc.collect()
            took = (time.thread_time() - began) * 1e3
    ms = fault_ms("quota")
    if ms and State.hog is None:
        script = f"while kill -STOP {os.getpid()}; do sleep {ms / 1e3}; kill -CONT {os.getpid()}; sleep 0.07; done"
        State.hog = subprocess.Popen(["/bin/sh", "-c", script], env={"PATH": os.environ["PATH"]})


def end_faults():
    if State.hog:
        State.hog.kill()
        State.hog.wait()
        os.kill(os.getpid(), 18)


def one_step(model, bare, optimizer):
    begin_faults()
    read_shard()
    x = tokenize_sample(State.step)
    optimizer.zero_grad(set_to_none=True)
    if KIND == "pipe":
        train_pipe(model, x)
    else:
        if KIND == "ring":
            x = x[:8]
        loss = model(x).square().mean()
        loss.backward()
    linger("optimizer")
    optimizer.step()
    write_checkpoint(bare)
    if fault_ms("gc"):
        gc.collect()
    linger("log")


def first_to_run():
    """All threads before other programs of the machine, where that is allowed: their noise is not this job's."""
    for thread in os.listdir("/proc/self/task"):
        try:
            os.sched_setscheduler(int(thread), os.SCHED_RR, os.sched_param(1))
        except OSError:
            return


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    bare = torch.nn.Sequential(*[Layer(i) for i in range(LAYERS)])
    model = torch.nn.parallel.DistributedDataParallel(bare, bucket_cap_mb=0.005) if KIND == "ddp" else bare
    optimizer = torch.optim.SGD(bare.parameters(), lr=1e-3)
    stop, times, profiler = threading.Event(), [], None
    if any(f["place"] == "lock" and f["rank"] == RANK for f in JOB["faults"]):
        threading.Thread(target=hold_lock, args=(stop,), daemon=True).start()
    for State.step in range(WARM + CLEAN + STEPS):
        at = State.step - WARM - CLEAN
        if at == 0 and JOB["record"] == "kineto":
            profiler = torch.profiler.profile(record_shapes=True, with_stack=JOB["stack"],
                                              schedule=lambda n: torch.profiler.ProfilerAction.RECORD,
                                              activities=[torch.profiler.ProfilerActivity.CPU])
            profiler.start()
        if at in (-CLEAN, 0) and not JOB.get("noisy"):
            first_to_run()
        began = time.perf_counter()
        one_step(model, bare, optimizer)
        times.append((time.perf_counter() - began) * 1e3)
        if at == -1:
            dist.barrier()
        if profiler and at < STEPS - 1:
            profiler.step()
    if profiler:
        profiler.stop()
    stop.set()
    end_faults()
    if profiler:
        profiler.export_chrome_trace(os.path.join(JOB["out"], f"rank{RANK}.pt.trace.json"))
    everyone = [None] * WORLD
    dist.all_gather_object(everyone, times)
    if RANK == 0:
        step = [sorted(t)[WORLD // 2] for t in zip(*everyone)]
        clean, faulty = sorted(step[WARM:WARM + CLEAN - 1]), step[WARM + CLEAN:]
        usual = clean[len(clean) // 2]
        truth = {**JOB, "step_ms": sum(faulty) / len(faulty), "clean_ms": usual, "each_ms": faulty,
                 "cost_ms": sum(faulty) / len(faulty) - usual, "clean_spread_ms": clean[-2] - clean[1]}
        with open(os.path.join(JOB["out"], "truth.json"), "w", encoding="utf-8") as f:
            json.dump(truth, f, indent=1)
    dist.destroy_process_group()
    sys.stdout.flush()


main()
