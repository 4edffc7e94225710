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
from megengine.data.dataset import ArrayDataset
from megengine.optimizer import SGD

import tacho


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
    c.equal("files", written, [f"{os.getpid()}.chrome_timeline.json"])
    c.true("what cannot be drawn is said", len(said) == 1 and "addresses" in str(said[0].message))
    c.true("the framework is as it was", not hasattr(M.Module.__call__, "__tacho__"))


checks = Checks()
print(f"megengine {mge.__version__}")
with tempfile.TemporaryDirectory() as folder:
    checks.run(test, folder)
checks.finish()
