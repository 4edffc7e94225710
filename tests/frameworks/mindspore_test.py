"""MindSpore: a small classifier trained under tacho's profiler, in PyNative mode by hand and by
Model.train with StopAtStep."""
import os
import tempfile

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from checks import Checks, annotations, modules, stages
from mindspore import nn

import tacho


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = nn.Dense(6, 8)
        self.relu = nn.ReLU()
        self.second = nn.Dense(8, 3)

    def construct(self, x):
        return self.second(self.relu(self.first(x)))


def dataset():
    rows = [(np.full(6, i % 3, np.float32), np.array(i % 3, np.int32)) for i in range(48)]
    return ds.GeneratorDataset(rows, ["x", "y"], shuffle=False).batch(8)


def by_hand(c, folder):
    net, loss = Net(), nn.CrossEntropyLoss()
    optimizer = nn.SGD(net.trainable_params(), 0.05)
    step = ms.value_and_grad(lambda x, y: loss(net(x), y), None, optimizer.parameters)
    with tacho.profile(path=folder, schedule=tacho.schedule(wait=1, warmup=1, active=3, repeat=1),
                       record_shapes=True) as profiler:
        for x, y in dataset().create_tuple_iterator():
            _, gradients = step(x, y)
            optimizer(gradients)
            profiler.step()
    trace = profiler.trace()
    c.equal("steps", trace.steps().step, [2, 3, 4])
    seen = stages(trace)
    c.equal("stages", seen, {"data_loading": 3, "forward": 6, "backward": 3, "optimizer": 3})
    names = {m[0] for m in modules(trace)}
    c.true("modules", {"Net_0", "Dense_0", "Dense_1", "ReLU_0"} <= names, names)
    ops = {r["name"]: r["calls"] for r in trace.operators()}
    c.equal("operators", {n: ops.get(n) for n in ("MatMul", "BiasAdd", "ReLU", "GatherD")},
            {"MatMul": 6, "BiasAdd": 6, "ReLU": 3, "GatherD": 3})
    c.equal("no checks among them", [n for n in ops if not n[0].isupper()], [])
    c.equal("optimizer", annotations(trace, "SGD"), ["SGD.step"])
    c.equal("damage", trace.info().quality["events_dropped"], [])


def by_callback(c, folder):
    net = Net()
    model = ms.train.Model(net, nn.CrossEntropyLoss(), nn.SGD(net.trainable_params(), 0.05))
    callback = tacho.StopAtStep(2, 4, output_path=folder)
    model.train(1, dataset(), callbacks=[callback], dataset_sink_mode=False)
    trace = callback.profiler.trace()
    c.equal("StopAtStep: steps", len(trace.steps()), 3)
    c.true("StopAtStep: analysed", os.path.isfile(os.path.join(folder, "profiler", "operator_types.csv")))


def memory_is_said_to_be_missing(c, folder):
    with tacho.Profiler(path=folder, profile_memory=True) as profiler:
        ms.ops.ones((2, 2)) + 1
        profiler.step()
    notes = profiler.trace().info().quality["notes"]
    c.true("memory: the trace says that there is none", any("memory is not recorded" in n for n in notes), notes)


checks = Checks()
print(f"mindspore {ms.__version__}")
ms.set_context(mode=ms.PYNATIVE_MODE, device_target="CPU")
with tempfile.TemporaryDirectory() as folder:
    checks.run(by_hand, os.path.join(folder, "a"))
    checks.run(by_callback, os.path.join(folder, "b"))
    checks.run(memory_is_said_to_be_missing, os.path.join(folder, "c"))
checks.finish()
