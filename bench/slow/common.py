"""What the programs of this folder share: how one is started, and how its steps are timed.

    python3 torch_programs.py NAME before|after|pairs [STEPS [PAIRS]]

Every program is a function with one well-known mistake in it, as people make it; `before` has the mistake, `after` is
the same program without it. The line with the mistake ends in "# mistake". causes.json says in plain words what the
mistake is. The last line of the output is what a step takes, without a profiler:

    step_ms=MEDIAN mean_ms=MEAN loss=LAST

`pairs` runs both states in turns, each in its own process, and writes such a line for each with its state in front.
"""
import os
import statistics
import sys
import time

WARM_UP = 3


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


def run_one(programs, name, state, n):
    steps = Steps(n)
    programs[name](state == "before", steps)
    if int(os.environ.get("RANK", "0")) == 0:
        steps.say()


def run(programs):
    """programs: by name a function of (has the mistake, steps)."""
    name, state, n, pairs = (sys.argv[1:] + ["12", "4"][len(sys.argv) - 3:])[:4]
    if state != "pairs":
        run_one(programs, name, state, int(n))
        return
    for _ in range(int(pairs)):
        for one in ("before", "after"):
            print(one, end=" ", flush=True)
            child = os.fork()
            if not child:
                run_one(programs, name, one, int(n))
                sys.stdout.flush()
                os._exit(0)
            if os.waitpid(child, 0)[1]:
                sys.exit(f"{name} {one} failed")
