"""Programs under `tacho record`: frameworks are hooked when they are imported, and a step ends with the
first optimizer's step unless the program marks its own.

A finder before all others lets them find the framework and adds one thing to its loader: when the
import is done, the hooks are installed and the recording may begin.
"""
import atexit
import os
import sys
from importlib.abc import MetaPathFinder
from typing import Any, Optional

from .. import _native
from .._native import calls
from . import FRAMEWORKS, Wants, alarms, end, look_again
from . import begin as begin_recording
from . import steps


def wants_of(words: str) -> Wants:
    """What TACHO_WITH requests."""
    chosen = words.split(",")
    return Wants(shapes="shapes" in chosen, memory="memory" in chosen, stacks="stacks" in chosen,
                 chosen=bool(os.environ.get("TACHO_STEPS")),
                 endless=any(os.environ.get(name) for name in ("TACHO_FLIGHT", "TACHO_SAMPLE")))


class _Finder(MetaPathFinder):
    def __init__(self, wants: Wants) -> None:
        self._wants = wants

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Optional[Any]:
        if name not in FRAMEWORKS:
            return None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None and spec.loader is not None:
                self._extend(spec.loader)
                return spec
        return None

    def _extend(self, loader: Any) -> None:
        original = loader.exec_module

        def exec_module(module: Any) -> None:
            original(module)
            module.__spec__._initializing = False  # it is complete, as far as hooks are concerned
            _ready(self._wants)

        loader.exec_module = exec_module


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
    sys.meta_path.insert(0, _Finder(wants_of(os.environ.get("TACHO_WITH", ""))))
