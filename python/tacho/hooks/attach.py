"""A program that runs already and was only preloaded: its hooks come in when someone attaches, and go
when the recording has ended. The recorder calls this (src/record/rec_python.c): prepare, then it starts
the recording, then begin; end when it has stopped."""
import sys

from .. import _native, hooks
from . import cost, frames, steps
from .watch import wants_of

_wants = hooks.Wants()


def prepare(words: str) -> None:
    global _wants
    _wants = wants_of(words)._replace(chosen=True)
    steps.start_anew()
    hooks.prepare(_wants)


def begin() -> None:
    for name in hooks.half_imported():
        _native.note(f"attach: {name} was being imported, its hooks are missing")
    _native.write_notes()
    hooks.tell("begin")
    hooks.write_sources()
    hooks.begin_ranges()
    if _wants.stacks:
        cost.before_frames()
        frames.begin()
    cost.measure(_wants, "torch" not in sys.modules)


def end() -> None:
    hooks.tell("end")
    hooks.end_ranges()
    frames.end()
    steps.automatic = False
    hooks.release()
