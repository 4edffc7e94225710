"""A program that runs already and was only preloaded: its hooks come in when someone attaches, and go
when the recording has ended. The recorder calls this (src/record/rec_python.c): prepare, then it starts
the recording, then begin; end when it has stopped."""
from .. import _native, hooks
from . import frames, steps
from .watch import wants_of

_wants = hooks.Wants()


def prepare(words: str) -> None:
    global _wants
    _wants = wants_of(words)
    steps.start_anew()
    hooks.prepare(_wants)


def begin() -> None:
    for name in hooks.half_imported():
        _native.note(f"attach: {name} was being imported, its hooks are missing")
    _native.write_notes()
    hooks.write_sources()
    if _wants.stacks:
        frames.begin()


def end() -> None:
    frames.end()
    steps.automatic = False
    hooks.release()
