"""What the programs of this folder share: how one is started, and how its steps are timed.

    python3 torch_programs.py NAME before|after [STEPS]

Every program is a function with one well-known mistake in it, as people make it; `before` has the mistake, `after` is
the same program without it. The line with the mistake ends in "# mistake". causes.json says in plain words what the
mistake is. The last line of the output is what a step takes, without a profiler:

    step_ms=MEDIAN mean_ms=MEAN loss=LAST
"""
import os
import statistics
import sys
import time

WARM_UP = 3
SIZES = {"steps": 12}


class Steps:
    """for i in steps: …; steps.loss(value)"""
    def __init__(self, n):
        self.n, self.ends, self.last = n, [], None

    def __iter__(self):
        for i in range(self.n):
            yield i
            self.ends.append(time.perf_counter())

    def loss(self, value):
        self.last = value

    def say(self):
        ms = [(b - a) * 1e3 for a, b in zip(self.ends[WARM_UP - 1:], self.ends[WARM_UP:])]
        last = "" if self.last is None else f" loss={float(self.last):.5g}"
        print(f"step_ms={statistics.median(ms):.3f} mean_ms={statistics.mean(ms):.3f}{last}", flush=True)


def run(programs):
    """programs: by name a function of (has the mistake, steps)."""
    name, bad = sys.argv[1], sys.argv[2] == "before"
    steps = Steps(int(sys.argv[3]) if len(sys.argv) > 3 else SIZES["steps"])
    programs[name](bad, steps)
    if int(os.environ.get("RANK", "0")) == 0:
        steps.say()
