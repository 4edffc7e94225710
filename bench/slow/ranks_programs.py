"""PyTorch, two ranks with gloo on the CPU (common.py); starts its ranks itself."""
import os
import socket
import subprocess
import sys
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from common import run
from torch_programs import mlp, train

RANKS = 2


def start():
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    return dist.get_rank()


def rank_loads_slowly(bad, steps):
    """One rank reads from a slower disk; the other one waits for it in the exchange of gradients."""
    rank = start()
    model = DistributedDataParallel(mlp(128, 4))
    opt = torch.optim.SGD(model.parameters(), 0.01)
    for _ in steps:
        if bad and rank == 1:
            time.sleep(0.04)  # mistake
        x, y = torch.randn(64, 64), torch.randint(0, 10, (64,))
        train(model, opt, x, y, steps)


def exchange_each(bad, steps):
    """One exchange for each parameter instead of buckets."""
    start()
    plain = mlp(48, 60)
    model = plain if bad else DistributedDataParallel(plain)
    opt = torch.optim.SGD(plain.parameters(), 0.01)
    x, y = torch.randn(64, 64), torch.randint(0, 10, (64,))
    for _ in steps:
        F.cross_entropy(model(x), y).backward()
        if bad:
            for p in plain.parameters():
                dist.all_reduce(p.grad)  # mistake
                p.grad /= RANKS
        opt.step()
        opt.zero_grad()


def exchange_always(bad, steps):
    """Gradients are exchanged after each of the parts they are accumulated from."""
    start()
    model = DistributedDataParallel(mlp(1024, 4))
    opt = torch.optim.SGD(model.parameters(), 0.01)
    x, y = torch.randn(4, 16, 64), torch.randint(0, 10, (4, 16))
    for _ in steps:
        for i in range(4):
            model.require_backward_grad_sync = bad or i == 3  # mistake
            F.cross_entropy(model(x[i]), y[i]).backward()
        opt.step()
        opt.zero_grad()


def main():
    if "RANK" in os.environ:
        run({name: value for name, value in list(globals().items()) if callable(value)})
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ranks = [subprocess.Popen([sys.executable, *sys.argv], env={
        **os.environ, "RANK": str(r), "LOCAL_RANK": str(r), "WORLD_SIZE": str(RANKS), "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port)}) for r in range(RANKS)]
    sys.exit(max(r.wait() for r in ranks))


if __name__ == "__main__":
    main()
