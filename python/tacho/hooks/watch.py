"""Programs under `tacho record`: frameworks are hooked when they are imported (imports.py), which is also when
the recording may begin, and a step ends with the first optimizer's step unless the program marks its own.
"""
import atexit
import os
import sys
import time

from .. import _native
from .._native import calls
from . import Wants, alarms, end, look_again
from . import begin as begin_recording
from . import imports, steps
from .frameworks import FRAMEWORKS


def wants_of(words: str) -> Wants:
    """What TACHO_WITH requests."""
    chosen = words.split(",")
    return Wants(shapes="shapes" in chosen, memory="memory" in chosen, stacks="stacks" in chosen,
                 chosen=bool(os.environ.get("TACHO_STEPS")),
                 endless=any(os.environ.get(name) for name in ("TACHO_FLIGHT", "TACHO_SAMPLE")))


_tracing = False


def once(since_ns: int) -> None:
    """What began then is done, and is not done again."""
    calls.cost(_native.COST_START, max(0, time.perf_counter_ns() - since_ns), 1)


def _ready(wants: Wants) -> None:
    global _tracing
    try:
        since = time.perf_counter_ns()
        look_again(wants)
        alarms.install(os.environ.get("TACHO_TRIGGER", ""))
        once(since)
        calls.begin_steps()  # the first event: now there is a recording
        since = time.perf_counter_ns()
        _native.write_notes()
        if not _tracing:
            _tracing = True
            from . import cost
            if wants.stacks:
                cost.before_frames()
            begin_recording(wants)
            cost.measure(wants, "torch" not in sys.modules)
        once(since)
    except Exception as why:
        _native.note(f"hooks: {type(why).__name__}: {why}")


def begin() -> None:
    """Called when the interpreter starts."""
    steps.automatic = True
    atexit.register(end)
    wants = wants_of(os.environ.get("TACHO_WITH", ""))
    imports.Finder(lambda: _ready(wants), FRAMEWORKS).begin()
