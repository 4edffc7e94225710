"""A small training program for PyTorch: torch_program.py tacho|torch FOLDER

Trains a convolutional classifier for a few steps under tacho's profiler or under PyTorch's own, with
shapes, memory and stacks. What is recorded of the same program must be the same.
"""
import sys
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

STEPS = 4


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv2d(width, width, 3, padding=1)
        self.norm = nn.BatchNorm2d(width)

    def forward(self, x):
        return torch.relu(self.norm(self.conv(x)) + x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 4, 3)
        self.blocks = nn.Sequential(Block(4), Block(4))
        self.last = nn.Linear(4, 3)

    def forward(self, x):
        x = self.blocks(self.first(x)).mean((2, 3))
        return self.last(torch.cat([x[:, :2], x[:, 2:]], 1))


def train_step(net, loss, optimizer, x, y):
    optimizer.zero_grad()
    value = loss(net(x), y)
    value.backward()
    optimizer.step()


def train(profiler, net, loader):
    loss, optimizer = nn.CrossEntropyLoss(), torch.optim.SGD(net.parameters(), 0.05, momentum=0.9)
    for i, (x, y) in enumerate(loader):
        if i == STEPS:
            break
        train_step(net, loss, optimizer, x, y)
        profiler.step()


def with_tacho(folder):
    import tacho
    return tacho.profile(schedule=tacho.schedule(wait=1, warmup=1, active=2, repeat=1),
                         on_trace_ready=tacho.tensorboard_trace_handler(folder, "tacho"),
                         record_shapes=True, profile_memory=True, with_stack=True, path=folder)


def with_torch(folder):
    from torch.profiler import ProfilerActivity, profile, schedule
    return profile(activities=[ProfilerActivity.CPU], record_shapes=True, profile_memory=True, with_stack=True,
                   schedule=schedule(wait=1, warmup=1, active=2, repeat=1),
                   on_trace_ready=lambda p: p.export_chrome_trace(str(Path(folder) / "torch.json")))


def main(who, folder):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    data = TensorDataset(torch.randn(40, 1, 8, 8), torch.randint(0, 3, (40,)))
    net, loader = Net(), DataLoader(data, batch_size=8)
    with (with_tacho if who == "tacho" else with_torch)(folder) as profiler:
        train(profiler, net, loader)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
