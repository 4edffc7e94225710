"""Imports: frameworks and compilers get their hooks when their import is done, and what the program waits
for is a range.

A finder before all others lets them find the module and adds one thing to its loader. The ranges are of
modules that were not imported yet and that no import around them asked for.
"""
import sys
import threading
from typing import Any, Callable, Optional

from .. import _native
from .._native import calls
from . import compilers
from .frameworks import FRAMEWORKS


class Finder:
    """One of sys.meta_path."""

    def __init__(self, on_import: Callable[[], Any]) -> None:
        self._on_import = on_import

    def begin(self) -> None:
        sys.meta_path.insert(0, self)

    def end(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Optional[Any]:
        if name not in FRAMEWORKS and name not in compilers.MODULES:
            return None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None and spec.loader is not None:
                self._extend(spec.loader, self._on_import if name in FRAMEWORKS else compilers.install)
                return spec
        return None

    def _extend(self, loader: Any, on_import: Callable[[], Any]) -> None:
        original = loader.exec_module

        def exec_module(module: Any) -> None:
            original(module)
            module.__spec__._initializing = False  # it is complete, as far as hooks are concerned
            on_import()

        loader.exec_module = exec_module


# The interpreter calls this for modules that are not imported yet. It has the name of the file that tracebacks
# and warnings leave out, and of the function at which they do.
_TIMED = """
def make(original, takes_event, begin, end, kind, local):
    def _call_with_frames_removed(name, import_):
        if getattr(local, "inside", False) or not takes_event():
            return original(name, import_)
        own = name == "tacho" or name.startswith("tacho.")  # what the recorder needs is not the program's
        local.inside = True
        if not own:
            begin("import " + name, kind)
        try:
            return original(name, import_)
        finally:
            local.inside = False
            if not own:
                end()
    return _call_with_frames_removed
"""
_bootstrap = sys.modules.get("_frozen_importlib")
_original: Any = None


def begin_timing() -> None:
    global _original
    if _original is not None or not hasattr(_bootstrap, "_find_and_load"):
        return
    names: Any = {}
    exec(compile(_TIMED, "<frozen importlib._bootstrap>", "exec"), names)  # nosec: our own text
    _original = _bootstrap._find_and_load  # type: ignore[union-attr]
    _bootstrap._find_and_load = names["make"](  # type: ignore[union-attr]
        _original, calls.takes_event, calls.begin_text, calls.end, _native.IMPORT, threading.local())


def end_timing() -> None:
    global _original
    if _original is not None:
        _bootstrap._find_and_load, _original = _original, None  # type: ignore[union-attr]
