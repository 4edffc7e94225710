"""Paddle: a small classifier trained under tacho's profiler, used as Paddle's own."""
import tempfile

import paddle
from checks import Checks, annotations, kinds, modules, stages
from paddle import nn

import tacho


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


def memory(c, folder):
    """Totals of the allocator after each operator, and the trace says what is not told."""
    with tacho.Profiler(path=folder, profile_memory=True) as profiler:
        x = paddle.ones([1000, 1000])
        y = x + x
        del x, y
        paddle.ones([10]) + 1.0
        profiler.step()
    trace = profiler.trace()
    c.true("memory: totals", kinds(trace).get("counter", 0) >= 4, kinds(trace))
    c.true("memory: said in the trace", any("single blocks" in n for n in trace.info().quality["notes"]))


checks = Checks()
print(f"paddle {paddle.__version__}")
with tempfile.TemporaryDirectory() as folder:
    checks.run(test, folder)
    checks.run(memory, folder + "/memory")
checks.finish()
