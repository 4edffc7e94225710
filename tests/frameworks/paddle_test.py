"""Paddle: a small classifier trained under tacho's profiler, used as Paddle's own."""
import json
import os
import tempfile

import paddle
from checks import Checks, annotations, kinds, modules, stages
from paddle import nn

import tacho
from tacho import _native


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 8)
        self.second = nn.Linear(8, 3)

    def forward(self, x):
        return self.second(nn.functional.relu(self.first(x)))


class Data(paddle.io.Dataset):
    def __len__(self):
        return 48

    def __getitem__(self, i):
        return paddle.full([6], float(i % 3)).numpy(), i % 3


def test(c, folder):
    paddle.seed(0)
    net = Net()
    optimizer = paddle.optimizer.Momentum(0.05, parameters=net.parameters())
    loader = paddle.io.DataLoader(Data(), batch_size=8)
    with tacho.Profiler(path=folder, scheduler=[2, 5], record_shapes=True) as profiler:
        for x, y in loader:
            loss = nn.functional.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            profiler.step(num_samples=8)
        info = profiler.step_info("samples")
    trace = profiler.trace()
    c.equal("steps", trace.steps().step, [2, 3, 4])
    c.equal("stages", stages(trace), {"data_loading": 3, "forward": 3, "backward": 3, "optimizer": 3})
    c.equal("modules", modules(trace), [("linear_0", "net_0", 3), ("linear_1", "net_0", 3), ("net_0", None, 3)])
    c.equal("optimizer ranges", kinds(trace)["optimizer"], 6)
    ops = {r["name"]: r["calls"] for r in trace.operators()}
    c.equal("operators", {n: ops.get(n) for n in ("linear", "matmul", "relu") if n in ops},
            {n: 6 if n != "relu" else 3 for n in ("linear", "matmul", "relu") if n in ops})
    c.true("operators have names", ops.get("relu") == 3, ops)
    shapes = [r["shapes"] for r in trace.operators(group_by="name+shape") if r["name"] == "relu"]
    c.equal("shapes", shapes, ["[[8, 8]]"])
    c.equal("optimizer", annotations(trace, "Momentum"), ["Momentum.clear_grad", "Momentum.step"])
    c.true("the reader is timed", "reader_cost" in info and "samples/s" in info, info)
    c.equal("damage and notes", [trace.info().quality[k] for k in ("events_dropped", "notes")], [[], []])
    c.true("the framework is as it was", not hasattr(nn.Layer.__call__, "__tacho__"))


def blocks(trace):
    """Signed bytes and the totals after them, in order."""
    with tempfile.TemporaryDirectory() as folder:
        to = os.path.join(folder, "t.json")
        trace.export("chrome", to)
        with open(to, encoding="utf-8") as file:
            found = [e for e in json.load(file)["traceEvents"] if e["name"] == "[memory]"]
    found.sort(key=lambda e: e["ts"])
    return [(e["args"]["Bytes"], e["args"]["Total Allocated"], e["args"]["Total Reserved"]) for e in found]


def memory(c, folder):
    """Each block that the allocator hands out and takes back, and its own totals."""
    core = paddle.base.core
    before = core.host_memory_stat_current_value("Allocated", 0)
    with tacho.Profiler(path=folder, profile_memory=True) as profiler:
        x = paddle.ones([1000, 1000])
        y = x + x
        del x, y
        paddle.ones([10])
        profiler.step()
    trace = profiler.trace()
    c.equal("memory: blocks", [b for b, _, _ in blocks(trace)], [4000000, 4000000, -4000000, -4000000, 40, -40])
    c.equal("memory: allocated", [a - before for _, a, _ in blocks(trace)], [4000000, 8000000, 4000000, 0, 40, 0])
    c.true("memory: no less is reserved", all(r >= a for _, a, r in blocks(trace)), blocks(trace))
    events = trace.memory()["events"]
    c.equal("memory: operators of blocks", [r["op"] for r in events][:1], ["full"])
    c.equal("memory: notes", trace.info().quality["notes"], [])
    c.equal("memory: nobody listens any more", _native.calls.paddle(None), False)


def memory_as_paddle_s_own_profiler_says(c, folder):
    """Both at once over the same training: the same blocks with the same totals; its file has them by operator."""
    own = paddle.profiler.Profiler(targets=[paddle.profiler.ProfilerTarget.CPU], profile_memory=True,
                                   on_trace_ready=lambda _: None)
    net = Net()
    optimizer = paddle.optimizer.Momentum(0.05, parameters=net.parameters())
    own.start()
    with tacho.Profiler(path=folder, profile_memory=True) as profiler:
        for _ in range(3):
            loss = nn.functional.cross_entropy(net(paddle.ones([8, 6])), paddle.zeros([8], dtype="int64"))
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            profiler.step()
    own.step()
    own.stop()
    to = os.path.join(folder, "theirs.json")
    own.export(to, "json")
    with open(to, encoding="utf-8") as file:
        found = [e["args"] for e in json.load(file)["traceEvents"]
                 if e.get("name") == "[memory]" and e["cat"] in ("Allocate", "Free")]
    theirs = [(e["increase_bytes"], e["current_allocated"]) for e in found]
    ours = [(b, a) for b, a, _ in blocks(profiler.trace())]
    c.true("memory: there are blocks", len(ours) > 60, len(ours))
    c.equal("memory: as Paddle's own profiler says", sorted(ours), sorted(theirs))


def memory_that_is_not_told(c, folder):
    """The way round: totals after operators, and the trace says so."""
    real = _native.calls.paddle
    _native.calls.paddle = lambda before: False
    try:
        with tacho.Profiler(path=folder, profile_memory=True) as profiler:
            paddle.ones([10]) + 1.0
            profiler.step()
    finally:
        _native.calls.paddle = real
    trace = profiler.trace()
    c.true("memory: totals", kinds(trace).get("counter", 0) >= 2, kinds(trace))
    c.true("memory: said in the trace", any("single blocks" in n for n in trace.info().quality["notes"]))


checks = Checks()
print(f"paddle {paddle.__version__}")
with tempfile.TemporaryDirectory() as folder:
    checks.run(test, folder)
    for each in (memory, memory_as_paddle_s_own_profiler_says, memory_that_is_not_told):
        os.mkdir(os.path.join(folder, each.__name__))
        checks.run(each, os.path.join(folder, each.__name__))
checks.finish()
