#!/usr/bin/env python3
"""Small models, recorded with torch.profiler: the truth that tests/truth/fits compares with.

    models.py DIR [MODEL…]

Each model runs at several batches and lengths. DIR/MODEL gets the traces of the first two,
DIR/truth.json the peak of all. The CPU is used unless PyTorch sees a GPU."""
import gzip
import json
import multiprocessing
import sys
import tempfile
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F
from torch.profiler import ProfilerActivity, profile
from torch.utils.checkpoint import checkpoint

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def attend(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        scores = (q @ k.transpose(-2, -1)) * (d // self.heads) ** -0.5
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, n, d))

    def forward(self, x):
        x = x + self.attend(self.norm1(x))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class GPT(nn.Module):
    def __init__(self, again=False, width=48, layers=1, words=211):
        super().__init__()
        self.again = again
        self.token, self.place = nn.Embedding(words, width), nn.Embedding(512, width)
        self.blocks = nn.ModuleList(Block(width, 3) for _ in range(layers))
        self.head = nn.Linear(width, words)

    def forward(self, ids):
        x = self.token(ids) + self.place(torch.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.again else block(x)
        logits = self.head(x)
        return F.cross_entropy(logits.view(-1, logits.shape[-1]), ids.view(-1))

    @staticmethod
    def batch(n, length):
        return torch.randint(0, 211, (n, length), device=DEVICE)


class CNN(nn.Module):
    def __init__(self):
        super().__init__()
        widths = [3, 16, 32, 64]
        layers = []
        for a, b in zip(widths, widths[1:]):
            layers += [nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2)]
        self.features, self.head = nn.Sequential(*layers), nn.Linear(64, 10)

    def forward(self, x):
        return self.head(self.features(x).mean((2, 3))).logsumexp(1).mean()

    @staticmethod
    def batch(n, length):
        return torch.randn(n, 3, length, length, device=DEVICE)


class ViT(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.patch = nn.Conv2d(3, width, 8, 8)
        self.blocks = nn.Sequential(*(Block(width, 3) for _ in range(1)))
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        return self.head(self.blocks(x).mean(1)).logsumexp(1).mean()

    batch = staticmethod(CNN.batch)


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(3, 16, 3, padding=1), nn.Conv2d(16, 32, 3, 2, 1)
        self.c, self.d = nn.Conv2d(32, 32, 3, padding=1), nn.Conv2d(48, 3, 3, padding=1)

    def forward(self, x):
        noise = torch.randn_like(x)
        a = F.silu(self.a(x + noise))
        b = F.silu(self.c(F.silu(self.b(a))))
        up = F.interpolate(b, scale_factor=2)
        return F.mse_loss(self.d(torch.cat([a, up], 1)), noise)

    batch = staticmethod(CNN.batch)


class Contrastive(nn.Module):
    """Its matrix of similarities grows with the square of the batch."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 32))

    def forward(self, x):
        a, b = self.net(x), self.net(x + 1)
        return F.cross_entropy(a @ b.t(), torch.arange(len(x), device=x.device))

    @staticmethod
    def batch(n, length):
        return torch.randn(n, 64, device=DEVICE)


MODELS = {"gpt": GPT, "gpt_checkpoint": lambda: GPT(True), "cnn": CNN, "vit": ViT, "unet": UNet,
          "contrastive": Contrastive}
STEPS = 2
# model, what is recorded, what is only asked about: (batch, length)
SUITE = [
    ("gpt", [(3, 24), (5, 24)], [(13, 24), (40, 24), (3, 40), (16, 128)]),
    ("gpt_checkpoint", [(3, 24), (5, 24)], [(24, 24), (64, 24)]),
    ("cnn", [(3, 32), (5, 32)], [(21, 32), (64, 32)]),
    ("vit", [(3, 32), (5, 32)], [(30, 32), (7, 32)]),
    ("unet", [(3, 32), (5, 32)], [(17, 32), (48, 32)]),
    ("contrastive", [(30, 1), (50, 1)], [(400, 1), (128, 1)]),
]
SHAPES = ("Input Dims", "Input type", "External id", "Sequence number", "Fwd thread id", "Ev Idx")


def record(name, n, length):
    """The profiler's trace of a run, and the most that was allocated in it."""
    torch.manual_seed(0)
    model = MODELS[name]().to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    kinds = [ProfilerActivity.CPU] + [ProfilerActivity.CUDA] * (DEVICE == "cuda")
    with profile(activities=kinds, profile_memory=True, record_shapes=True) as p:
        for step in range(STEPS):
            with torch.profiler.record_function(f"ProfilerStep#{step}"):
                loss = model(model.batch(n, length))
                loss.backward()
                optimizer.step()
                optimizer.zero_grad()
    with tempfile.NamedTemporaryFile(suffix=".json") as f:
        p.export_chrome_trace(f.name)
        trace = json.loads(Path(f.name).read_text(encoding="utf-8"))
    totals = [e["args"]["Total Allocated"] for e in trace["traceEvents"] if e.get("name") == "[memory]"]
    return trace, max(totals)


def small(trace):
    """Without what a model of memory does not read."""
    events = []
    for e in trace["traceEvents"]:
        if e.get("cat") == "cpu_op":
            e["args"] = {k: v for k, v in e["args"].items() if k in SHAPES}
        if e.get("ph") in "XisfM" and e.get("cat") not in ("Trace", "overhead"):
            events.append(e)
    kept = ("schemaVersion", "deviceProperties", "displayTimeUnit", "baseTimeNanoseconds")
    return {**{k: trace[k] for k in kept if k in trace}, "traceEvents": events}


def main():
    """Each run has its own process: what another one left there would count as its memory."""
    out, truth = Path(sys.argv[1]), {}
    alone = multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1)
    for name, recorded, asked in SUITE:
        if len(sys.argv) > 2 and name not in sys.argv[2:]:
            continue
        folder = out / name
        folder.mkdir(parents=True, exist_ok=True)
        truth[name] = []
        for n, length in recorded + asked:
            trace, peak = alone.apply(record, (name, n, length))
            truth[name].append({"batch": n, "length": length, "peak": peak, "recorded": (n, length) in recorded})
            if (n, length) not in recorded:
                continue
            with gzip.GzipFile(folder / f"batch_{n}.pt.trace.json.gz", "wb", mtime=0) as f:
                f.write(json.dumps(small(trace), separators=(",", ":")).encode())
    (out / "truth.json").write_text(json.dumps(truth, indent=1) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
