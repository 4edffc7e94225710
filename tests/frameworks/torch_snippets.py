"""Advice's code for PyTorch runs, with the names a training program has: on a CPU, and what needs one on a GPU.

    python3 tests/frameworks/torch_snippets.py      alone, without tacho
"""
import gc
import os
import socket
import tempfile
from unittest import mock

import snippets
import torch
from checks import Checks

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
ON_A_GPU = {"synchronous_copies", "nccl_missing", "data_parallel", "gpu_unused"}  # what they call ends in an error without one


def work(rank):
    """For a process that torch starts."""
    assert rank == 0


def spawn_here(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """torch.multiprocessing.spawn in this process: a new one would run the program of the test again."""
    for rank in range(nprocs):
        fn(rank, *args)


def names(folder):
    """What the surrounding program would have; folder: where it keeps its files."""
    dataset = torch.utils.data.TensorDataset(torch.randn(8, 3, 8, 8))
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.Flatten(), torch.nn.Linear(144, 1)).to(DEVICE)
    batch = torch.randn(2, 3, 8, 8)
    heads = torch.randn(2, 2, 4, 8)
    return {"torch": torch, "gc": gc, "dataset": dataset, "batch_size": 2, "batches": iter([batch]), "batch": batch,
            "loader": [batch], "model": model, "optimizer": torch.optim.SGD(model.parameters(), lr=0.1), "loss": torch.ones(()), "step": 100, "lr": 0.1, "device": DEVICE,
            "block": torch.nn.Linear(4, 4), "x": torch.randn(2, 4, requires_grad=True), "local_rank": 0,
            "q": heads, "k": heads, "v": heads, "mask": torch.ones(4, 4).tril().bool(), "layer": torch.nn.Linear(4, 4), "parts": [torch.randn(1, 4), torch.randn(3, 4)],
            "passes": 2, "output": torch.randn(2, 4), "labels": torch.tensor([0, 3]), "correct": 0, "path": os.path.join(folder, "saved"),
            "vocab_size": 50257, "shape": (2, 4), "work": work, "n_workers": 1, "write": lambda step: None, "helper": lambda: None, "train": lambda *more: model(batch.to(DEVICE))}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def be_the_only_rank():
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free_port()), RANK="0", WORLD_SIZE="1")


def run(rule, code, folder):
    scope = names(folder)
    if "autocast" in code:  # there the batch is on the device already
        scope["batch"] = scope["batch"].to(DEVICE)
    be_the_only_rank()
    if "torch.utils.data.DistributedSampler" in code or "DistributedDataParallel" in code:
        torch.distributed.init_process_group("nccl" if DEVICE == "cuda" else "gloo")
    try:
        with mock.patch("torch.multiprocessing.spawn", spawn_here):
            exec(compile(code, rule, "exec"), scope)
        if isinstance(scope["loader"], torch.utils.data.DataLoader):
            next(iter(scope["loader"]))
        if "saving" in scope:
            scope["saving"].result()
    finally:
        gc.enable()
        if torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()


def code_of_advice_runs(c, _=None):
    seen = 0
    for rule, code in snippets.of("FOR_PYTORCH", workers=2, module=DEVICE):
        if (rule in ON_A_GPU or "fsdp" in code) and DEVICE == "cpu":
            c.skip(f"code of {rule}: needs a GPU")
            continue
        try:
            with tempfile.TemporaryDirectory() as folder:
                run(rule, code, folder)
            seen += 1
        except Exception as problem:
            c.true(f"code of {rule}", False, f"{type(problem).__name__}: {problem}")
    c.true("code of advice that ran", seen >= 18, seen)


if __name__ == "__main__":
    checks = Checks()
    checks.run(code_of_advice_runs)
    checks.finish()
