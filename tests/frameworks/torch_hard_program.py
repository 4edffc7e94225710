"""A training program under hard conditions: torch_hard_program.py STEPS [context=fork|spawn|forkserver] [threads=N]

Of the shape of the usual ones: a small language model, AdamW, autocast, a loader with two processes,
autograd's own threads. `threads` more threads compute at the same time. STEPS 0: it never stops. Prints the loss of
each step and what the other threads found: both are the same in every run, recorded or not.
"""
import sys
import threading

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

WORDS, WIDTH = 200, 32


class Texts(Dataset):
    def __len__(self):
        return 1 << 20

    def __getitem__(self, i):
        return torch.randint(0, WORDS, (16,), generator=torch.Generator().manual_seed(i))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.layers = nn.Sequential(*(nn.TransformerEncoderLayer(WIDTH, 2, 64, dropout=0, batch_first=True)
                                      for _ in range(2)))
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, x):
        return self.head(self.layers(self.words(x)))


def compute(number, found):
    x = torch.full((16, 16), 1 + number / 1000)
    for _ in range(50):
        x = torch.tanh(x @ x / 16)
    found[number] = round(float(x.sum()), 4)


def start_threads(n, found):
    threads = [threading.Thread(target=compute, args=(i, found)) for i in range(n)]
    for t in threads:
        t.start()
    return threads


def main(steps, context="fork", threads=0):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = Model()
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    loader = iter(DataLoader(Texts(), 4, num_workers=2, multiprocessing_context=context))
    found = {}
    others = start_threads(threads, found)
    step = 0
    while not steps or step < steps:
        batch = next(loader)
        with torch.autocast("cpu", torch.bfloat16):
            loss = nn.functional.cross_entropy(model(batch).flatten(0, 1), batch.flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(f"step {step} loss {loss.item():.5f}", flush=True)
        step += 1
    for t in others:
        t.join()
    print("others", sorted(found.items()))


if __name__ == "__main__":
    options = dict(w.split("=") for w in sys.argv[2:])
    main(int(sys.argv[1]), options.get("context", "fork"), int(options.get("threads", 0)))
