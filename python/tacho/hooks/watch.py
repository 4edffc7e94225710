"""Programs under `tacho record`: frameworks are hooked when they are imported (imports.py), which is also when
the recording may begin, and a step ends with the first optimizer's step unless the program marks its own.
"""
import atexit
import os

from .. import _native
from .._native import calls
from . import Wants, alarms, end, look_again
from . import begin as begin_recording
from . import imports, steps


def wants_of(words: str) -> Wants:
    """What TACHO_WITH requests."""
    chosen = words.split(",")
    return Wants(shapes="shapes" in chosen, memory="memory" in chosen, stacks="stacks" in chosen)


_tracing = False


def _ready(wants: Wants) -> None:
    global _tracing
    try:
        look_again(wants)
        alarms.install(os.environ.get("TACHO_TRIGGER", ""))
        calls.begin_steps()  # the first event: now there is a recording
        _native.write_notes()
        if not _tracing:
            _tracing = True
            begin_recording(wants)
    except Exception as why:
        _native.note(f"hooks: {type(why).__name__}: {why}")


def begin() -> None:
    steps.automatic = True
    atexit.register(end)
    wants = wants_of(os.environ.get("TACHO_WITH", ""))
    imports.Finder(lambda: _ready(wants)).begin()
