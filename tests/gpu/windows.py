"""What recording costs, from windows of steps that take turns in one process; needs no GPU and no PyTorch.

A round is one window of each tool, "off" among them, in an order that changes from round to round so
that each tool follows each other equally often. Windows of one round lie within a second, so the machine's
drift is in all of them; what a tool costs is the median over the rounds of (with - without) / without, and
its 95 % interval comes from order statistics alone: it assumes nothing about how the noise is spread.
"""
import itertools
import random
import re
import statistics
import time
from math import comb


def orders(tools, seed=1):
    """Endless orders of the tools: all permutations, shuffled, again and again."""
    every = list(itertools.permutations(tools))
    chance = random.Random(seed)
    while True:
        chance.shuffle(every)
        yield from every


def rounds_of(windows, most, limit_s, least=30):
    """Figures of each round: {tool: figure}. windows: {tool: () -> figure}. At least `least` rounds, at
    most `most`, and none that begins after limit_s seconds."""
    began = time.monotonic()
    for i, order in zip(range(most), orders(windows)):
        if i >= least and time.monotonic() - began > limit_s:
            return
        yield {tool: windows[tool]() for tool in order}


def line_of(front, figures):
    return f"{front} " + " ".join(f"{tool}={figures[tool]:.4f}" for tool in sorted(figures))


def read_lines(text, front):
    """The rounds that line_of wrote with this front, in order."""
    found = re.findall(rf"^{re.escape(front)} (\w+=[-\d.]+(?: \w+=[-\d.]+)*)$", text, re.M)
    return [{k: float(v) for k, v in (word.split("=") for word in line.split())} for line in found]


def ranks_of(n):
    """Indices of the ordered values that enclose the median with at least 95 %."""
    below, k = 0, 0
    while k < n // 2 and (below + comb(n, k)) * 40 <= 2 ** n:
        below += comb(n, k)
        k += 1
    return max(k - 1, 0), n - max(k, 1)


def interval(pairs):
    """Median of (with - without) / without and its 95 % interval."""
    d = sorted((on - off) / off for on, off in pairs)
    low, high = ranks_of(len(d))
    return statistics.median(d), d[low], d[high]


def pairs_of(rounds, tool, against="off"):
    return [(r[tool], r[against]) for r in rounds if tool in r and against in r]


def told(pairs):
    return "{:+.2%} ({:+.2%} … {:+.2%})".format(*interval(pairs)) + f", {len(pairs)} pairs"
