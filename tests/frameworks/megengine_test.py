"""MegEngine: a small classifier trained under tacho's profiler, used as MegEngine's own."""
import os
import tempfile
import warnings

import megengine as mge
import megengine.data as data
import megengine.functional as F
import megengine.module as M
import numpy as np
from checks import Checks, annotations, kinds, modules, stages
from megengine.autodiff import GradManager
from megengine.core._imperative_rt.core2 import sync
from megengine.data.dataset import ArrayDataset
from megengine.optimizer import SGD

import tacho
from tacho import _native


class Net(M.Module):
    def __init__(self):
        super().__init__()
        self.first = M.Linear(6, 8)
        self.second = M.Linear(8, 3)

    def forward(self, x):
        return self.second(F.relu(self.first(x)))


def test(c, folder):
    set_ = ArrayDataset(np.random.rand(48, 6).astype("float32"), (np.arange(48) % 3).astype("int32"))
    loader = data.DataLoader(set_, data.SequentialSampler(set_, batch_size=8))
    net = Net()
    manager, optimizer = GradManager().attach(net.parameters()), SGD(net.parameters(), lr=0.05)
    profiler = tacho.Profiler(os.path.join(folder, "profile"), formats=["chrome_timeline.json", "memory_flow.svg"],
                              sample_rate=4, profile_device=0, record_shapes=True)
    with profiler:
        for i, (x, y) in enumerate(loader):
            with manager:
                loss = F.nn.cross_entropy(net(mge.Tensor(x)), mge.Tensor(y))
                manager.backward(loss)
            optimizer.step()
            optimizer.clear_grad()
            profiler.step()
            if i == 2:
                break
    trace = profiler.trace()
    c.equal("steps", trace.steps().step, [0, 1, 2])
    c.equal("stages", stages(trace), {"data_loading": 3, "forward": 3, "backward": 3, "optimizer": 3})
    c.equal("modules", modules(trace), [("Net", None, 3), ("first", "Net", 3), ("second", "Net", 3)])
    c.equal("optimizer ranges", kinds(trace)["optimizer"], 6)
    ops = {r["name"]: r["calls"] for r in trace.operators()}
    c.equal("operators", [ops.get(n) for n in ("matmul", "IndexingOneHot")], [6, 3])
    c.true("memory was sampled", kinds(trace).get("counter", 0) > 3, kinds(trace))
    c.equal("optimizer", annotations(trace, "SGD"), ["SGD.clear_grad", "SGD.step"])
    c.equal("damage", trace.info().quality["events_dropped"], [])
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        written = [os.path.basename(p) for p in profiler.dump()]
    c.equal("files", written, [f"{os.getpid()}.chrome_timeline.json", f"{os.getpid()}.memory_flow.svg"])
    c.equal("nothing is left out", [str(w.message) for w in said if "tacho" in str(w.message)], [])
    c.true("the framework is as it was", not hasattr(M.Module.__call__, "__tacho__"))


def memory(c, folder):
    """Each block that the allocator hands out and takes back; it has no totals on the CPU."""
    with tacho.Profiler(path=folder, profile_memory=True) as profiler:
        x = mge.Tensor(np.ones((1000, 1000), "float32"))
        y = x + x
        y.numpy()
        del x, y
        mge.Tensor(np.ones(7, "float32")).numpy()
        sync()
        profiler.step()
    trace = profiler.trace()
    events = trace.memory()["events"]
    c.equal("memory: blocks", [r["bytes"] for r in events], [4000000, 4000000, 28])
    c.true("memory: the large ones went back", all(r["released_at"] for r in events if r["bytes"] > 28))
    c.equal("memory: peak", [r["allocated"] for r in trace.memory()["peaks"]], [8000000])
    c.equal("memory: notes", trace.info().quality["notes"], [])
    c.equal("memory: nobody listens any more", _native.calls.megengine(None, 0), False)


def memory_that_is_not_told(c, folder):
    """The way round: totals after operators, and the trace says so."""
    real = _native.calls.megengine
    _native.calls.megengine = lambda kinds, device: False
    try:
        with tacho.Profiler(path=folder, profile_memory=True) as profiler:
            (mge.Tensor(np.ones(7, "float32")) + 1).numpy()
            profiler.step()
    finally:
        _native.calls.megengine = real
    trace = profiler.trace()
    c.true("memory: totals", kinds(trace).get("counter", 0) >= 2, kinds(trace))
    c.true("memory: said in the trace", any("single blocks" in n for n in trace.info().quality["notes"]))


checks = Checks()
print(f"megengine {mge.__version__}")
with tempfile.TemporaryDirectory() as folder:
    checks.run(test, folder)
    for each in (memory, memory_that_is_not_told):
        checks.run(each, os.path.join(folder, each.__name__))
checks.finish()
