"""Paddle on the CPU (common.py)."""
import time

import numpy as np
import paddle
from paddle import nn

from common import run

paddle.set_device("cpu")
paddle.seed(0)


def mlp(width=64, depth=6):
    layers = [nn.Linear(64, width), nn.ReLU()]
    for _ in range(depth - 1):
        layers += [nn.Linear(width, width), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(width, 10))


def train(model, opt, x, y, steps):
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    opt.step()
    opt.clear_grad()
    steps.loss(loss.item())


class Pictures(paddle.io.Dataset):
    def __len__(self):
        return 1 << 14

    def __getitem__(self, i):
        time.sleep(0.004)  # mistake
        return np.full((64,), i % 7, "float32"), np.int64(i % 10)


def slow_reader(bad, steps):
    model = mlp()
    opt = paddle.optimizer.SGD(0.1, model.parameters())
    data = iter(paddle.io.DataLoader(Pictures(), batch_size=16, num_workers=0 if bad else 8,
                                     use_shared_memory=False))
    for _ in steps:
        x, y = next(data)
        train(model, opt, x, y, steps)


def metrics_by_hand(bad, steps):
    model = mlp()
    opt = paddle.optimizer.SGD(0.1, model.parameters())
    x, y = paddle.randn([256, 64]), paddle.randint(0, 10, [256])
    for _ in steps:
        train(model, opt, x, y, steps)
        out = model(x).argmax(-1)
        if bad:
            right = sum(int(out[i]) == int(y[i]) for i in range(256))  # mistake
        else:
            right = int((out == y).sum())
        assert right >= 0


def one_by_one(bad, steps):
    model = mlp()
    model.eval()
    x = paddle.randn([64, 64])
    with paddle.no_grad():
        for _ in steps:
            if bad:
                out = paddle.concat([model(x[i:i + 1]) for i in range(64)])  # mistake
            else:
                out = model(x)
            steps.loss(out.sum().item())


if __name__ == "__main__":
    run({name: value for name, value in list(globals().items()) if callable(value)})
