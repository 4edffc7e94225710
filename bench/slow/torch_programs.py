"""PyTorch on the CPU: training, inference, loops of reinforcement learning (common.py)."""
import copy
import json
import os
import pickle
import random
import re
import subprocess
import tempfile
import threading
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

from common import run

torch.manual_seed(0)
random.seed(0)
torch.set_num_threads(1)


def mlp(width=256, depth=4, n_in=64, n_out=10):
    layers = [nn.Linear(n_in, width), nn.ReLU()]
    for _ in range(depth - 1):
        layers += [nn.Linear(width, width), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(width, n_out))


def train(model, opt, x, y, steps):
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    opt.step()
    opt.zero_grad()
    steps.loss(loss.detach())
    return loss


# ---- loading ----------------------------------------------------------------------------------

class Remote(Dataset):
    """Samples on a network: each read waits."""
    def __len__(self):
        return 1 << 16

    def __getitem__(self, i):
        time.sleep(0.004)  # mistake
        return torch.full((64,), float(i % 7)), i % 10


def slow_storage(bad, steps):
    model = mlp(1024)
    opt = torch.optim.SGD(model.parameters(), 0.1)
    data = iter(DataLoader(Remote(), 16, num_workers=0 if bad else 8, persistent_workers=not bad))
    for _ in steps:
        x, y = next(data)
        train(model, opt, x, y, steps)


class Sentences(Dataset):
    def __len__(self):
        return 1 << 16

    def __getitem__(self, i):
        return torch.arange(40 + i * 7 % 60) % 1000


def pad_by_hand(batch):
    longest = max(len(s) for s in batch)
    return torch.tensor([[int(v) for v in s] + [0] * (longest - len(s)) for s in batch])  # mistake


def pad(batch):
    return nn.utils.rnn.pad_sequence(batch, batch_first=True)


def collate_python(bad, steps):
    embed, head = nn.Embedding(1000, 64), mlp()
    opt = torch.optim.SGD([*embed.parameters(), *head.parameters()], 0.1)
    data = iter(DataLoader(Sentences(), 32, collate_fn=pad_by_hand if bad else pad))
    for _ in steps:
        x = next(data)
        train(nn.Sequential(embed, Mean(), head), opt, x, x[:, 0] % 10, steps)


class Mean(nn.Module):
    """The mean of the words of a sentence."""

    @staticmethod
    def forward(x):
        return x.mean(1)


WORDS = re.compile(r"\w+|[^\w\s]")


def tokenize(text, table):
    out = []
    for word in WORDS.findall(text):
        for i in range(0, len(word), 3):
            out.append(table.setdefault(word[i:i + 3].lower(), len(table)) % 1000)
    return out


def tokenize_inline(bad, steps):
    text = " ".join(random.choice(["profile", "training", "quickly", "gradient", "step;"]) for _ in range(12000))
    table, embed, head = {}, nn.Embedding(1000, 64), mlp()
    opt = torch.optim.SGD([*embed.parameters(), *head.parameters()], 0.1)
    ready = torch.tensor(tokenize(text, table)[:64])
    for _ in steps:
        x = torch.tensor(tokenize(text, table)[:64]) if bad else ready  # mistake
        train(nn.Sequential(embed, head), opt, x, x % 10, steps)


# ---- the loop around the model -----------------------------------------------------------------

def anomaly(bad, steps):
    if bad:
        torch.autograd.set_detect_anomaly(True)  # mistake
    model = mlp(128, 24)
    opt = torch.optim.SGD(model.parameters(), 0.01)
    x, y = torch.randn(32, 64), torch.randint(0, 10, (32,))
    for _ in steps:
        train(model, opt, x, y, steps)


def log_weights(bad, steps):
    model = mlp(128, 4)
    opt = torch.optim.SGD(model.parameters(), 0.01)
    x, y = torch.randn(64, 64), torch.randint(0, 10, (64,))
    with tempfile.TemporaryFile("w") as log:
        for i in steps:
            train(model, opt, x, y, steps)
            if bad:
                log.write(json.dumps({k: v.tolist() for k, v in model.state_dict().items()}))  # mistake
            else:
                log.write(json.dumps({"step": i}))


def average_by_hand(bad, steps):
    model = mlp(48, 60)
    opt = torch.optim.SGD(model.parameters(), 0.01)
    mean = [p.detach().clone() for p in model.parameters()]
    x, y = torch.randn(32, 64), torch.randint(0, 10, (32,))
    for _ in steps:
        train(model, opt, x, y, steps)
        with torch.no_grad():
            if bad:
                for _ in range(4):
                    for m, p in zip(mean, model.parameters()):
                        m.mul_(0.999).add_(p * 0.001)  # mistake
            else:
                for _ in range(4):
                    torch._foreach_lerp_(mean, list(model.parameters()), 0.001)


def optimizer_loop(bad, steps):
    model = mlp(32, 120)
    opt = torch.optim.Adam(model.parameters(), 1e-3, foreach=False, fused=not bad)  # mistake
    x, y = torch.randn(16, 64), torch.randint(0, 10, (16,))
    for _ in steps:
        train(model, opt, x, y, steps)


def copy_state(bad, steps):
    model = mlp(1024, 8)
    opt = torch.optim.SGD(model.parameters(), 0.01)
    x, y = torch.randn(16, 64), torch.randint(0, 10, (16,))
    for i in steps:
        train(model, opt, x, y, steps)
        if bad or i == 0:
            best = copy.deepcopy(model.state_dict())  # mistake
    assert best


def validate_often(bad, steps):
    model = mlp(256, 4)
    opt = torch.optim.SGD(model.parameters(), 0.01)
    x, y = torch.randn(64, 64), torch.randint(0, 10, (64,))
    held_out = torch.randn(64, 128, 64)
    for i in steps:
        train(model, opt, x, y, steps)
        if bad or i == 0:
            with torch.no_grad():
                for part in held_out:
                    model(part)  # mistake


def save_often(bad, steps):
    model = mlp(1024, 8)
    opt = torch.optim.Adam(model.parameters(), 1e-4)
    x, y = torch.randn(16, 64), torch.randint(0, 10, (16,))
    with tempfile.TemporaryDirectory() as folder:
        for i in steps:
            train(model, opt, x, y, steps)
            if bad and i % 4 == 3:
                with open(folder + "/state", "wb") as file:
                    pickle.dump([model.state_dict(), opt.state_dict()], file)  # mistake


def ask_system(bad, steps):
    model = mlp(256, 4)
    opt = torch.optim.SGD(model.parameters(), 0.01)
    x, y = torch.randn(64, 64), torch.randint(0, 10, (64,))
    for i in steps:
        train(model, opt, x, y, steps)
        if bad or i == 0:
            subprocess.run(["ps", "aux"], capture_output=True, check=False)  # mistake


def busy_thread(bad, steps):
    """A thread that counts in Python holds the lock of the interpreter most of the time."""
    model = mlp(48, 40)
    opt = torch.optim.SGD(model.parameters(), 0.01)
    x, y = torch.randn(16, 64), torch.randint(0, 10, (16,))
    end = threading.Event()

    def count():
        n = 0
        while not end.is_set():
            n += 1  # mistake
            if not bad:
                time.sleep(0.1)
    threading.Thread(target=count, daemon=True).start()
    for _ in steps:
        train(model, opt, x, y, steps)
    end.set()


# ---- what is computed --------------------------------------------------------------------------

def double_inputs(bad, steps):
    kind = torch.float64 if bad else torch.float32  # mistake
    model = mlp(768, 4).to(kind)
    opt = torch.optim.SGD(model.parameters(), 0.01)
    x, y = torch.randn(128, 64, dtype=kind), torch.randint(0, 10, (128,))
    for _ in steps:
        train(model, opt, x, y, steps)


def one_hot(bad, steps):
    n = 8192
    table = nn.Parameter(torch.randn(n, 64) * 0.02)
    head = mlp()
    opt = torch.optim.SGD([table, *head.parameters()], 0.1)
    x = torch.randint(0, n, (256,))
    for _ in steps:
        rows = F.one_hot(x, n).float() @ table if bad else F.embedding(x, table)  # mistake
        train(head, opt, rows, x % 10, steps)


def dense_embedding(bad, steps):
    embed, head = nn.Embedding(60000, 64, sparse=not bad), mlp()  # mistake
    opts = [torch.optim.SparseAdam(embed.parameters(), 1e-3) if not bad else
            torch.optim.Adam(embed.parameters(), 1e-3), torch.optim.Adam(head.parameters(), 1e-3)]
    x = torch.randint(0, 60000, (128,))
    for _ in steps:
        loss = F.cross_entropy(head(embed(x)), x % 10)
        loss.backward()
        for opt in opts:
            opt.step()
        for opt in opts:
            opt.zero_grad()
        steps.loss(loss.detach())


class Cell(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.x, self.h = nn.Linear(n, 4 * n), nn.Linear(n, 4 * n)

    def forward(self, x, state):
        h, c = state
        i, f, g, o = (self.x(x) + self.h(h)).chunk(4, -1)  # mistake
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c


def recurrent_by_hand(bad, steps):
    n, length = 64, 100
    cell, lstm, head = Cell(n), nn.LSTM(n, n, batch_first=True), nn.Linear(n, 10)
    opt = torch.optim.SGD([*cell.parameters(), *lstm.parameters(), *head.parameters()], 0.1)
    x, y = torch.randn(16, length, n), torch.randint(0, 10, (16,))
    for _ in steps:
        if bad:
            h = c = torch.zeros(16, n)
            for t in range(length):
                h, c = cell(x[:, t], (h, c))
        else:
            h = lstm(x)[0][:, -1]
        train(head, opt, h, y, steps)


class Attention(nn.Module):
    def __init__(self, n, heads, fused):
        super().__init__()
        self.qkv, self.out, self.heads, self.fused = nn.Linear(n, 3 * n), nn.Linear(n, n), heads, fused

    def forward(self, x):
        b, t, n = x.shape
        q, k, v = (z.view(b, t, self.heads, n // self.heads).transpose(1, 2) for z in self.qkv(x).chunk(3, -1))
        if self.fused:
            z = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            w = q @ k.transpose(-2, -1) / (n // self.heads) ** 0.5  # mistake
            w = w.masked_fill(torch.ones(t, t, dtype=torch.bool).triu(1), float("-inf"))
            z = w.softmax(-1) @ v
        return self.out(z.transpose(1, 2).reshape(b, t, n))


def attention_by_hand(bad, steps):
    model = nn.Sequential(*[Attention(64, 8, not bad) for _ in range(2)])
    opt = torch.optim.SGD(model.parameters(), 0.01)
    x = torch.randn(1, 512, 64)
    for _ in steps:
        loss = model(x).square().mean()
        loss.backward()
        opt.step()
        opt.zero_grad()
        steps.loss(loss.detach())


class Permuted(nn.Module):
    """Channels last outside, first inside: turned around twice in every layer."""
    def __init__(self, n, bad):
        super().__init__()
        self.conv, self.bad = nn.Conv2d(n, n, 1, groups=n), bad

    def forward(self, x):
        if self.bad:
            return self.conv(x.permute(0, 3, 1, 2).contiguous()).permute(0, 2, 3, 1).contiguous()  # mistake
        return self.conv(x)


def turned_around(bad, steps):
    model = nn.Sequential(*[Permuted(32, bad) for _ in range(12)])
    opt = torch.optim.SGD(model.parameters(), 0.01)
    x = torch.randn(8, 64, 64, 32) if bad else torch.randn(8, 32, 64, 64)
    for _ in steps:
        loss = model(x).square().mean()
        loss.backward()
        opt.step()
        opt.zero_grad()
        steps.loss(loss.detach())


def new_lengths(bad, steps):
    import torch._dynamo
    torch._dynamo.config.automatic_dynamic_shapes = False
    torch._dynamo.config.cache_size_limit = 1000
    model = nn.Sequential(nn.Embedding(1000, 64), *[nn.TransformerEncoderLayer(64, 4, 128, 0.0, batch_first=True)
                                                    for _ in range(2)], nn.Linear(64, 10))
    fast = torch.compile(model, backend="aot_eager")
    opt = torch.optim.SGD(model.parameters(), 0.01)
    for i in steps:
        x = torch.randint(0, 1000, (4, 32 + 4 * i if bad else 80))  # mistake
        loss = fast(x).square().mean()
        loss.backward()
        opt.step()
        opt.zero_grad()
        steps.loss(loss.detach())


def too_many_threads(bad, steps):
    torch.set_num_threads(32 if bad else 1)  # mistake
    model = mlp(256, 12)
    opt = torch.optim.SGD(model.parameters(), 0.01)
    x, y = torch.randn(512, 64), torch.randint(0, 10, (512,))
    for _ in steps:
        train(model, opt, x, y, steps)


def tiny_numbers(bad, steps):
    """Values too small for normal numbers take many times as long."""
    torch.set_flush_denormal(not bad)  # mistake
    model = mlp(512, 3, 512)
    x = torch.full((256, 512), 1e-39)
    with torch.no_grad():
        for p in model.parameters():
            p.mul_(0.01)
        for _ in steps:
            z = x
            for _ in range(40):
                z = z * 0.99
            steps.loss(z.sum() + model(z).sum())


# ---- inference ---------------------------------------------------------------------------------

def one_by_one(bad, steps):
    model = mlp(256, 6).eval()
    x = torch.randn(64, 64)
    with torch.inference_mode():
        for _ in steps:
            if bad:
                out = torch.stack([model(sample) for sample in x])  # mistake
            else:
                out = model(x)
            steps.loss(out.sum())


def no_cache(bad, steps):
    """Each new token computes keys and values of all tokens before it once more."""
    n, new = 128, 24
    qkv, out = nn.Linear(n, 3 * n), nn.Linear(n, n)
    with torch.inference_mode():
        for _ in steps:
            x = torch.randn(1, 256, n)
            keys = values = None
            for _ in range(new):
                part = x if bad or keys is None else x[:, -1:]  # mistake
                for _ in range(4):
                    q, k, v = qkv(part).chunk(3, -1)
                if not bad:
                    keys = k if keys is None else torch.cat([keys, k], 1)
                    values = v if values is None else torch.cat([values, v], 1)
                    k, v = keys, values
                z = out(F.scaled_dot_product_attention(q[:, -1:], k, v))
                x = torch.cat([x, z], 1)
            steps.loss(x.sum())


def gradients_kept(bad, steps):
    model = nn.Sequential(*[nn.Linear(64, 64) for _ in range(100)])
    x = torch.randn(4, 64)
    for _ in steps:
        if bad:
            out = model(x)  # mistake
        else:
            with torch.inference_mode():
                out = model(x)
        steps.loss(out.detach().sum())


# ---- reinforcement learning --------------------------------------------------------------------

def act(state, action):
    return [0.9 * s + 0.1 * ((action + i) % 3) for i, s in enumerate(state)]


def one_environment_at_a_time(bad, steps):
    policy = mlp(64, 2, 16, 4)
    opt = torch.optim.SGD(policy.parameters(), 0.01)
    states = [[random.random() for _ in range(16)] for _ in range(64)]
    for _ in steps:
        with torch.no_grad():
            if bad:
                actions = [int(policy(torch.tensor(s)).argmax()) for s in states]  # mistake
            else:
                actions = policy(torch.tensor(states)).argmax(-1).tolist()
        states = [act(s, a) for s, a in zip(states, actions)]
        train(policy, opt, torch.tensor(states), torch.tensor(actions), steps)


def replay_of_objects(bad, steps):
    policy = mlp(64, 2, 16, 4)
    opt = torch.optim.SGD(policy.parameters(), 0.01)
    kept = [(torch.randn(16), torch.tensor(i % 4)) for i in range(5000)]
    states, actions = torch.stack([s for s, _ in kept]), torch.stack([a for _, a in kept])
    for _ in steps:
        if bad:
            batch = random.sample(kept, 2000)
            x, y = torch.stack([b[0].clone() for b in batch]), torch.stack([b[1].clone() for b in batch])  # mistake
        else:
            at = torch.randint(0, 5000, (2000,))
            x, y = states[at], actions[at]
        train(policy, opt, x, y, steps)


def returns_by_hand(bad, steps):
    """Discounted returns of an episode, one tensor at a time."""
    policy = mlp(64, 2, 16, 4)
    opt = torch.optim.SGD(policy.parameters(), 0.01)
    x, rewards = torch.randn(1000, 16), torch.rand(1000)
    for _ in steps:
        if bad:
            total, out = torch.zeros(()), []
            for r in rewards.flip(0):
                total = r + 0.99 * total  # mistake
                out.append(total)
            returns = torch.stack(out[::-1])
        else:
            total, out = 0.0, []
            for r in rewards.flip(0).tolist():
                total = r + 0.99 * total
                out.append(total)
            returns = torch.tensor(out[::-1])
        loss = -(F.log_softmax(policy(x), -1)[:, 0] * returns).mean()
        loss.backward()
        opt.step()
        opt.zero_grad()
        steps.loss(loss.detach())


if __name__ == "__main__":
    run({name: value for name, value in list(globals().items()) if callable(value)})
