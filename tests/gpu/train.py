"""Small GPT models in PyTorch, recorded by tacho and by torch.profiler; what tests/gpu/run judges.

    train.py cost FOLDER    gpt2: GPU-bound. small: launch-bound. In one process, windows of steps take
                            turns (windows.py): not recorded, recorded and, for small, with PyTorch's
                            bare hook and with device records alone. Then not recorded and with
                            torch.profiler. Prints a line for each round: ms for a step.
    train.py dry FOLDER     the same on a CPU with models that mean nothing: do the lines come?
    train.py memory FOLDER  a step with the allocator's events, and what the allocator counted itself.
    train.py graph FOLDER a CUDA graph of 20 kernels, launched five times; recorded by the program that loaded the
    recorder.
    train.py nvtx FOLDER    a step when libtorch does not answer: operators come as ranges of NVTX.
    train.py held FOLDER    a recording that begins while torch.profiler holds CUPTI.
    train.py ops FOLDER     three steps of `small` seen by both tools, one after the other: the recording
                            of tacho, and for each kernel of torch.profiler its operator, in launch order.
"""
import ctypes
import gzip
import json
import os
import sys
import time
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

BUILD = Path(__file__).resolve().parent.parent.parent / "build"
sys.path.insert(0, str(BUILD / "gpu-python"))
import tacho  # noqa: E402
from tacho.hooks import torch_hooks  # noqa: E402
import windows  # noqa: E402

DEVICE = "cpu" if sys.argv[1] == "dry" else "cuda"
LEAD = 2  # steps before a window's clock runs: caches are filled, names known


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        n, length, width = x.shape
        qkv = self.qkv(self.before(x)).view(n, length, 3, self.heads, width // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(n, length, width))
        return x + self.narrow(functional.gelu(self.wide(self.after(x))))


class Gpt(nn.Module):
    def __init__(self, layers, width, heads, words, length):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.last, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, tokens):
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.last(x))


MODELS = {"gpt2": dict(layers=12, width=768, heads=12, words=50257, length=1024, batch=24, half=True),
          "small": dict(layers=6, width=512, heads=8, words=1000, length=64, batch=4, half=False)}
# Steps of a window; rounds of the recorder and of torch.profiler, and after how many seconds no more begin.
# A step of gpt2 takes 108 ms on an H200, one of small 13 ms: 45 s and 130 s there.
PLANS = {"gpt2": dict(steps=5, rounds=32, limit_s=90, torch_rounds=12),
         "small": dict(steps=12, rounds=160, limit_s=170, torch_rounds=24)}
TOOLS = {"gpt2": ("tacho",), "small": ("tacho", "hook", "device")}


def synchronize():
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def make(name):
    torch.manual_seed(1)
    m = dict(MODELS[name])
    batch, half = m.pop("batch"), m.pop("half")
    model = Gpt(**m).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    tokens = torch.randint(0, m["words"], (batch, m["length"] + 1), device=DEVICE)

    def step():
        with torch.autocast(DEVICE, torch.bfloat16, enabled=half):
            logits = model(tokens[:, :-1])
            loss = functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    for _ in range(10):
        step()
    synchronize()
    return step


def window_ms(step, steps, after=lambda: None, lead=0):
    for _ in range(lead):
        step()
        after()
    synchronize()
    start = time.perf_counter()
    for _ in range(steps):
        step()
        after()
    synchronize()
    return (time.perf_counter() - start) * 1e3 / steps


def off_window(step, steps, _folder, lead=0):
    return window_ms(step, steps, lead=lead), 0


def tacho_window(step, steps, folder, lead=0):
    profiler = tacho.Profiler(f"{folder}.tacho")
    profiler.start()
    on = window_ms(step, steps, profiler.step, lead)
    begin = time.perf_counter()
    profiler.stop()
    return on, (time.perf_counter() - begin) * 1e3


def torch_window(step, steps, _folder, lead=0):
    profiler = torch.profiler.profile()
    profiler.start()
    on = window_ms(step, steps, lead=lead)
    begin = time.perf_counter()
    profiler.stop()
    return on, (time.perf_counter() - begin) * 1e3


class Callback(ctypes.Structure):
    """at::RecordFunctionCallback."""
    _fields_ = [("start", ctypes.c_void_p), ("end", ctypes.c_void_p), ("probability", ctypes.c_double),
                ("scopes", ctypes.c_bool * 10), ("inputs", ctypes.c_bool), ("outputs", ctypes.c_bool),
                ("ids", ctypes.c_bool)]


def hook_window(step, steps, _folder, lead=0):
    """PyTorch's hook for operators, backward nodes and ranges, with callbacks that do nothing."""
    empty = ctypes.CDLL(str(BUILD / "gpu-empty.so"))
    lib = ctypes.CDLL("libtorch_cpu.so", mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
    add, remove = lib._ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE, lib._ZN2at14removeCallbackEm
    add.argtypes, add.restype, remove.argtypes = [Callback], ctypes.c_uint64, [ctypes.c_uint64]
    start, end = (ctypes.cast(f, ctypes.c_void_p).value for f in (empty.empty_start, empty.empty_end))
    handles = []
    for scope in (0, 1, 7):
        scopes = (ctypes.c_bool * 10)(*(i == scope for i in range(10)))
        handles.append(add(Callback(start, end, 1.0, scopes, False, False, False)))
    on = window_ms(step, steps, lead=lead)
    for handle in handles:
        remove(handle)
    return on, 0


def device_window(step, steps, folder, lead=0):
    """Only what the GPU did and the calls that launched it."""
    install = torch_hooks.install
    torch_hooks.install = lambda wants: None
    try:
        return tacho_window(step, steps, folder, lead)
    finally:
        torch_hooks.install = install


WINDOWS = {"off": off_window, "tacho": tacho_window, "torch": torch_window, "hook": hook_window,
           "device": device_window}


def take_turns(front, tools, step, plan, folder):
    """Prints a line for each round: ms for a step with each tool, and ms that tacho and torch took to stop."""
    stops = {}

    def window_of(tool):
        def run():
            on, stop = WINDOWS[tool](step, plan["steps"], folder, LEAD)
            if tool in ("tacho", "torch"):
                stops[f"{tool}_stop"] = stop
            return on
        return run

    turns = {tool: window_of(tool) for tool in tools}
    for _ in range(2):  # each loads what it needs
        for run in turns.values():
            run()
    for figures in windows.rounds_of(turns, plan["rounds"], plan["limit_s"]):
        print(windows.line_of(front, {**figures, **stops}), flush=True)


def cost(folder):
    for model, plan in PLANS.items():
        step = make(model)
        take_turns(model, ("off", *TOOLS[model]), step, plan, folder / model)
        # It comes last: what it loads stays, and it keeps CUPTI for a while.
        take_turns(f"{model} beside", ("off", "torch"), step, {**plan, "rounds": plan["torch_rounds"]}, folder / model)


def dry(folder):
    for model, plan in PLANS.items():
        MODELS[model].update(layers=1, width=8, heads=2, words=50, length=8, batch=1)
        plan.update(steps=1, rounds=30, torch_rounds=6)
    cost(folder)


def ops(folder):
    step = make("small")
    tacho_window(step, 1, folder / "ops")  # loads what is needed; written over
    (folder / "ops.tacho").unlink()
    tacho_window(step, 3, folder / "ops")
    torch_window(step, 1, None)
    with torch.profiler.profile() as profiler:
        window_ms(step, 3)
    profiler.export_chrome_trace(str(folder / "torch.json"))
    text = (folder / "torch.json").read_text()
    with gzip.open(folder / "torch.json.gz", "wt") as out:
        out.write(text)
    (folder / "torch.json").unlink()
    print(json.dumps({"torch": torch.__version__, "device": torch.cuda.get_device_name(0)}))


def memory(folder):
    step = make("small")
    torch.cuda.synchronize()
    before = torch.cuda.memory_stats()
    torch.cuda.reset_peak_memory_stats()
    with tacho.profile(path=str(folder / "memory.tacho"), profile_memory=True):
        step()
        torch.cuda.synchronize()
        after = torch.cuda.memory_stats()
    said = {key: after[f"allocation.all.{key}"] - before[f"allocation.all.{key}"] for key in ("allocated", "freed")}
    print(json.dumps({**said, "peak": torch.cuda.max_memory_allocated(), "reserved": torch.cuda.memory_reserved()}))


def graph(_folder):
    x = torch.zeros(1000, device="cuda")
    torch.cuda.synchronize()
    side, whole = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    with torch.cuda.stream(side):
        x.add_(1)
    torch.cuda.synchronize()
    with torch.cuda.graph(whole):
        for _ in range(20):
            x.add_(1)
    for _ in range(5):
        whole.replay()
    torch.cuda.synchronize()
    assert x[0].item() == 101


def nvtx(folder):
    from tacho import _native
    _native.calls.torch = lambda want: 0
    step = make("small")
    with tacho.profile(path=str(folder / "nvtx.tacho")):
        step()
        torch.cuda.synchronize()


def held(folder):
    step = make("small")
    with torch.profiler.profile():
        step()
        with tacho.profile(path=str(folder / "held.tacho")):
            step()
            torch.cuda.synchronize()


if __name__ == "__main__":
    where = Path(sys.argv[2])
    where.mkdir(parents=True, exist_ok=True)
    {f.__name__: f for f in (cost, dry, ops, memory, graph, nvtx, held)}[sys.argv[1]](where)
