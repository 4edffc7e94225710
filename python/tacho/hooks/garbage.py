"""Collections of garbage as ranges: which generation, and exactly how long.

The collector calls us at both ends of each collection, in the thread that caused it.
"""
import gc
from typing import Any, Dict

from .. import _native
from .._native import calls

_NAMES = tuple(f"gc.collect: generation {i}" for i in range(3))


class _Listener:
    """What is in gc.callbacks. A collection that began before the recording has no end in it."""

    def __init__(self) -> None:
        self._is_open = False

    def __call__(self, phase: str, info: Dict[str, Any]) -> None:
        if calls is None:  # the interpreter is ending
            return
        if phase == "start":
            self._is_open = calls.takes_event()
            if self._is_open:
                calls.begin_text(_NAMES[min(info.get("generation", 0), 2)], _native.GARBAGE)
        elif self._is_open:
            self._is_open = False
            calls.end()


_listener = _Listener()


def begin() -> None:
    if _listener not in gc.callbacks:
        gc.callbacks.append(_listener)


def end() -> None:
    if _listener in gc.callbacks:
        gc.callbacks.remove(_listener)
