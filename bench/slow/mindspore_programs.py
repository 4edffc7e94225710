"""MindSpore on the CPU (common.py)."""
import time

import mindspore
import numpy as np
from mindspore import nn, ops

from common import run

mindspore.set_context(device_target="CPU")
mindspore.set_seed(0)


class Net(nn.Cell):
    def __init__(self, depth=8):
        super().__init__()
        self.layers = nn.SequentialCell([nn.Dense(64, 64) for _ in range(depth)])
        self.head = nn.Dense(64, 10)

    def construct(self, x):
        return self.head(ops.relu(self.layers(x)))


def trainer(model):
    loss_fn = nn.CrossEntropyLoss()
    opt = nn.SGD(model.trainable_params(), 0.01)
    grad = mindspore.value_and_grad(lambda x, y: loss_fn(model(x), y), None, opt.parameters)

    def step(x, y):
        loss, grads = grad(x, y)
        opt(grads)
        return loss
    return step


def interpreted(bad, steps):
    mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
    step = trainer(Net(24))
    if not bad:
        step = mindspore.jit(step)
    x, y = mindspore.Tensor(np.ones((16, 64), np.float32)), mindspore.Tensor(np.arange(16) % 10, mindspore.int32)
    for _ in steps:
        steps.loss(step(x, y).asnumpy())  # mistake


def slow_source(bad, steps):
    def read():
        for i in range(1 << 12):
            time.sleep(0.03 if bad else 0)  # mistake
            yield np.full((16, 64), i % 7, np.float32), (np.arange(16) % 10).astype(np.int32)
    mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
    step = trainer(Net())
    data = mindspore.dataset.GeneratorDataset(read, ["x", "y"], shuffle=False, num_parallel_workers=1)
    batches = data.create_tuple_iterator()
    for _ in steps:
        x, y = next(batches)
        steps.loss(step(x, y).asnumpy())


if __name__ == "__main__":
    run({name: value for name, value in list(globals().items()) if callable(value)})
