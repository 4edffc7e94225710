"""Whole training and inference programs as people write them, for tests/gpu/whole: programs.py NAME STEPS

Each prints `step_ms=MEDIAN mean_ms=MEAN` of its steps, the first of them left out. With TORCH_PROFILER=1 in the
environment the same steps run under torch.profiler instead, as most tutorials show it. With PROGRAM_TURN=FIFO it
imports what it needs, makes the file FIFO.ready and waits until FIFO is opened for writing: imports take longer than
the steps, so tests/gpu/whole starts many of these at once and lets them run one after the other.
"""
import contextlib
import importlib
import os
import statistics
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset

WARM_UP = 6
VOCABULARY = 32000


class Tokens(Dataset):
    """Random texts, made by the loader's processes: real work for them."""

    def __len__(self):
        return 1 << 20

    def __getitem__(self, i):
        ids = torch.randint(0, VOCABULARY, (256,), generator=torch.Generator().manual_seed(i))
        return {"input_ids": ids, "labels": ids}


class Clock:
    """Called at the end of each step, when the device is done."""

    def __init__(self):
        self.ends = []

    def tick(self):
        torch.cuda.synchronize()
        self.ends.append(time.perf_counter())

    def steps_ms(self):
        kept = self.ends[WARM_UP:]
        return [(b - a) * 1e3 for a, b in zip(kept, kept[1:])]


def language_model(**more):
    from transformers import GPT2Config, GPT2LMHeadModel
    return GPT2LMHeadModel(GPT2Config(**{"n_layer": 6, "n_embd": 512, "n_head": 8, "vocab_size": VOCABULARY, **more}))


def train(model, batches, steps, clock, dtype=torch.bfloat16):
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4)
    for _ in range(steps):
        batch = {k: v.cuda(non_blocking=True) for k, v in next(batches).items()}
        with torch.autocast("cuda", dtype):
            loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        clock.tick()


def hf(steps, clock):
    loader = DataLoader(Tokens(), 16, num_workers=2, pin_memory=True)
    train(language_model().cuda(), iter(loader), steps, clock)


def hfc(steps, clock):
    loader = DataLoader(Tokens(), 16, num_workers=2, pin_memory=True)
    train(torch.compile(language_model().cuda()), iter(loader), steps, clock)


def gpt2(steps, clock):
    """GPU-bound: GPT-2 124M, 24 × 1,024 tokens."""
    ids = torch.randint(0, 50257, (24, 1024), device="cuda")
    model = language_model(n_layer=12, n_embd=768, n_head=12, vocab_size=50257).cuda()
    train(model, iter(lambda: {"input_ids": ids, "labels": ids}, None), steps, clock)


def trainer(steps, clock):
    from transformers import Trainer, TrainerCallback, TrainingArguments

    class Ends(TrainerCallback):
        def on_step_end(self, *_args, **_words):
            clock.tick()

    words = TrainingArguments("/tmp/tacho_trainer", max_steps=steps, per_device_train_batch_size=16, bf16=True,
                              report_to=[], save_strategy="no", dataloader_num_workers=2, logging_steps=10000,
                              disable_tqdm=True)
    Trainer(language_model(), words, train_dataset=Tokens(), callbacks=[Ends()]).train()


def lightning(steps, clock):
    import pytorch_lightning as pl
    blocks = [torch.nn.Sequential(torch.nn.Conv2d(64 if i else 3, 64, 3, padding=1), torch.nn.BatchNorm2d(64),
                                  torch.nn.ReLU()) for i in range(8)]
    net = torch.nn.Sequential(*blocks, torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(64, 10))

    class Model(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = net

        def training_step(self, batch, _index):
            return torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1])

        def on_train_batch_end(self, *_args):
            clock.tick()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.1)

    data = torch.utils.data.TensorDataset(torch.randn(32 * steps, 3, 64, 64), torch.randint(0, 10, (32 * steps,)))
    pl.Trainer(max_epochs=1, logger=False, enable_checkpointing=False, enable_progress_bar=False,
               accelerator="gpu", devices=1).fit(Model(), DataLoader(data, 32, num_workers=2))


def generate(steps, clock):
    model = language_model(n_layer=12, n_embd=768, n_head=12, vocab_size=50257).cuda().half().eval()
    prompt = torch.randint(0, 50000, (4, 32), device="cuda")
    with torch.no_grad():
        for _ in range(steps):
            model.generate(prompt, max_new_tokens=32, do_sample=False, pad_token_id=0, eos_token_id=None)
            clock.tick()


def graph(steps, clock):
    """A training step as one CUDA graph."""
    model = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(20)]).cuda()
    model = torch.compile(model, mode="reduce-overhead")
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    x = torch.randn(32, 256, device="cuda")
    for _ in range(steps):
        model(x).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        clock.tick()


class Branches(torch.nn.Module):
    """One step in seven takes other branches, among equal layers and outside of them. They begin and end with the
    kernels of the branch they replace, launched by other operators."""

    def __init__(self, width=256, layers=12):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(width, width) for _ in range(layers))
        self.other = torch.nn.Linear(width, width)

    def forward(self, x, takes_other):
        for i, layer in enumerate(self.layers):
            if takes_other and i == 5:
                x = torch.sin(self.other(x).add_(1.0)).sub_(1.0)
                continue
            x = torch.relu(layer(x) + 1.0) - 1.0
        if takes_other:
            x = torch.sin(x.mul(0.5)).mul_(2.0)
        return x


def branch(steps, clock):
    model = Branches().cuda()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for i in range(steps):
        model(torch.randn(64, 256, device="cuda"), i % 7 == 3).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        clock.tick()


PROGRAMS = {f.__name__: f for f in (hf, hfc, gpt2, trainer, lightning, generate, graph, branch)}
GPT2 = "transformers.models.gpt2.modeling_gpt2"
NEEDS = {"hf": [GPT2], "hfc": [GPT2], "gpt2": [GPT2], "generate": [GPT2], "trainer": [GPT2, "transformers.trainer"],
         "lightning": ["pytorch_lightning"]}


def wait_for_turn(name, fifo):
    for module in NEEDS.get(name, ()):
        importlib.import_module(module)
    with open(fifo + ".ready", "w", encoding="ascii"):
        pass
    with open(fifo, encoding="ascii"):
        pass


def main():
    name, steps, clock = sys.argv[1], int(sys.argv[2]), Clock()
    if os.environ.get("PROGRAM_TURN"):
        wait_for_turn(name, os.environ["PROGRAM_TURN"])
    torch.manual_seed(0)
    watched = torch.profiler.profile() if os.environ.get("TORCH_PROFILER") else contextlib.nullcontext()
    with watched:
        PROGRAMS[name](steps, clock)
    times = clock.steps_ms()
    print(f"step_ms={statistics.median(times):.4f} mean_ms={statistics.mean(times):.4f}", flush=True)
    if watched is not None and os.environ.get("TORCH_PROFILER"):
        os._exit(0)  # its table is not what is measured


if __name__ == "__main__":
    main()
