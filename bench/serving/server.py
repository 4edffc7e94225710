"""A small server with continuous batching, whose truth is known.

    tacho record -o DIR -- python bench/serving/server.py --mode prefill_first --log DIR/requests.jsonl --truth T.json

Requests arrive at scripted times and are served by a loop of iterations on a small network (PyTorch, CPU). Two ways to
batch: `prefill_first` computes whole prompts, as many as wait and fit, in iterations of their own before it decodes
again, as SGLang does; `chunked` gives each iteration a budget of tokens, one for each running request and the rest for
pieces of prompts, first come, first served, as vLLM does. Iterations are marked as these two mark them.

The loop knows who is in each iteration. From that and its own clock it works out, for each request, how much of its
latency was its own, how much it waited for others and for which, and how much is between iterations: the truth
that `tests/truth/serving` compares with. The log has only what a server's log has.
"""
import argparse
import csv
import json
import random
import time

import torch

import tacho

WIDTH, LAYERS, WORDS = 384, 2, 1024
MOST_RUNNING = 8        # requests that decode at the same time
MOST_PREFILL = 1024     # prompt tokens of an iteration that prefills
CHUNK = 192             # tokens of an iteration in chunks
SCHEDULER_S = 0.0008    # what choosing a batch takes


class Network:
    """Its cost is proportional to the tokens; what it computes means nothing."""

    def __init__(self):
        torch.manual_seed(7)
        self.table = torch.randn(WORDS, WIDTH)
        self.up = [torch.randn(WIDTH, 4 * WIDTH) / 12 for _ in range(LAYERS)]
        self.down = [torch.randn(4 * WIDTH, WIDTH) / 24 for _ in range(LAYERS)]

    def forward(self, ids):
        x = torch.nn.functional.embedding(ids, self.table)
        for up, down in zip(self.up, self.down):
            x = torch.relu(x @ up) @ down
        return x[-MOST_RUNNING:] @ self.table.T


class Request:
    def __init__(self, name, arrival_ns, prompt, output):
        self.name, self.arrival, self.prompt, self.output = name, arrival_ns, prompt, output
        self.computed = self.tokens = 0
        self.scheduled = self.first = self.end = None


def script(seed, n):
    """Bursts, and sometimes a long prompt that the others wait for."""
    pick = random.Random(seed)
    at, made = 0.0, []
    for i in range(n):
        at += pick.choice((0.002, 0.004, 0.02, 0.06))
        long = pick.random() < 0.2
        prompt = pick.randrange(600, 1000) if long else pick.randrange(20, 120)
        made.append((f"req-{i:02d}", at, prompt, pick.randrange(3, 12)))
    return made


class Server:
    def __init__(self, mode):
        self.mode, self.network = mode, Network()
        self.waiting, self.running, self.done = [], [], []
        self.iterations = []  # (start, end, {request: tokens})

    def batch(self):
        """Who computes how many tokens next: of their prompts, and one each."""
        prompts, decodes = [], []
        if self.mode == "prefill_first":
            budget = MOST_PREFILL
            for r in self.waiting[:MOST_RUNNING - len(self.running)]:
                if prompts and r.prompt > budget:
                    break
                prompts.append((r, r.prompt))
                budget -= r.prompt
            if not prompts:
                decodes = list(self.running)
            return prompts, decodes
        decodes = list(self.running)
        budget = CHUNK - len(decodes)
        for r in self.waiting[:MOST_RUNNING - len(self.running)]:
            piece = min(budget, r.prompt - r.computed)
            if piece <= 0:
                break
            prompts.append((r, piece))
            budget -= piece
        return prompts, decodes

    def name(self, prompts, decodes):
        tokens = sum(n for _, n in prompts)
        if self.mode == "chunked":
            return f"execute_context_{len(prompts)}({tokens})_generation_{len(decodes)}({len(decodes)})"
        return f"step[EXTEND bs={len(prompts)} toks={tokens}]" if prompts else f"step[DECODE bs={len(decodes)}]"

    def iterate(self):
        time.sleep(SCHEDULER_S)
        prompts, decodes = self.batch()
        tokens = sum(n for _, n in prompts) + len(decodes)
        with tacho.record_function(self.name(prompts, decodes)):
            start = time.time_ns()
            logits = self.network.forward(torch.arange(tokens) % WORDS)
            with tacho.record_function("sampler"):
                torch.argmax(logits, dim=-1)
            end = time.time_ns()
        self.iterations.append((start, end, {r.name: n for r, n in prompts} | {r.name: 1 for r in decodes}))
        for r, n in prompts:
            r.scheduled = r.scheduled or start
            r.computed += n
            if r.computed == r.prompt:
                r.first, r.tokens = end, 1
                self.waiting.remove(r)
                self.running.append(r)
        for r in decodes:
            r.tokens += 1
        for r in list(self.running):
            if r.tokens >= r.output:
                r.end = end
                self.running.remove(r)
                self.done.append(r)

    def serve(self, arrivals):
        begin = time.time_ns() + 5_000_000
        coming = [Request(name, begin + int(at * 1e9), prompt, output) for name, at, prompt, output in arrivals]
        while coming or self.waiting or self.running:
            while coming and coming[0].arrival <= time.time_ns():
                self.waiting.append(coming.pop(0))
            if self.waiting or self.running:
                self.iterate()
            else:
                time.sleep(max(0.0, (coming[0].arrival - time.time_ns()) / 1e9))


def autopsy(server, r):
    """What the loop knows of a request: its own time, who ran without it, and the time between."""
    own = waiting = scheduler = 0
    blockers, last = {}, server.iterations[0][0]  # what was before the first is not in the trace either
    for start, end, members in server.iterations:
        if start < r.arrival and end <= r.arrival:
            last = end
        low, high = max(start, r.arrival), min(end, r.end)
        if high <= low:
            continue
        if r.name in members:
            own += high - low
        else:
            waiting += high - low
            for name, tokens in members.items():
                share = (high - low) * tokens / sum(members.values())
                blockers[name] = blockers.get(name, 0) + share
        scheduler += max(0, low - max(last, r.arrival))
        last = high
    ranked = sorted(blockers.items(), key=lambda item: -item[1])
    return {"own": own, "waiting": waiting, "scheduler": scheduler, "latency": r.end - r.arrival,
            "blocked_by": [[name, round(ns)] for name, ns in ranked[:3]]}


def write_log(path, done):
    fields = ("request_id", "arrival_time", "first_scheduled_time", "first_token_time", "finished_time",
              "prompt_tokens", "output_tokens")
    rows = [(r.name, *(f"{ns // 10**9}.{ns % 10**9:09d}" for ns in (r.arrival, r.scheduled, r.first, r.end)), r.prompt,
             r.output) for r in sorted(done, key=lambda r: r.end)]
    with open(path, "w", encoding="ascii", newline="") as f:
        if path.endswith(".csv"):
            csv.writer(f).writerows([fields, *rows])
            return
        for row in rows:
            one = dict(zip(fields, row))
            metrics = {key: float(one.pop(key)) for key in fields[1:5]}
            f.write(json.dumps(one | {"metrics": metrics}) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--mode", choices=("prefill_first", "chunked"), default="prefill_first")
    parser.add_argument("--requests", type=int, default=43)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", required=True)
    parser.add_argument("--truth", required=True)
    options = parser.parse_args()
    torch.set_num_threads(1)
    server = Server(options.mode)
    with torch.no_grad():
        for _ in range(3):
            server.network.forward(torch.arange(64))  # before the first request: nothing is waiting
        server.serve(script(options.seed, options.requests))
    write_log(options.log, server.done)
    with open(options.truth, "w", encoding="ascii") as f:
        json.dump({r.name: autopsy(server, r) for r in sorted(server.done, key=lambda r: r.name)}, f, indent=1)


if __name__ == "__main__":
    main()
