"""The recorder's calls, through the extension or ctypes, and their constants."""
import os
import sys
from typing import Any, List

from . import _library
from ._words import (BACKWARD, BUSY, COMMUNICATION, COMPILE, COST_FRAME, COST_MODULE, COST_OP, COST_START, DATA, FAILED, FORWARD, GARBAGE, IMPORT, MODULE, OFF, OK, OP, OPTIMIZER,  # noqa: F401
                     PLAIN, PYTHON, RUNTIME, TORCH_FLOPS, TORCH_LINKS, TORCH_MEMORY, TORCH_OPS, TORCH_SHAPES, TORCH_STEPS,
                     TYPES)


def loaded_path() -> str:
    """The recorder already loaded in this process: a second one would receive no events."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
            paths = [line.split(maxsplit=5)[-1].rstrip("\n") for line in maps if line.endswith("/libtacho.so\n")]
    except OSError:
        paths = []
    return paths[0] if paths else _library.path()


def _offer() -> List[str]:
    """Libraries look for an NVTX or ITT listener at their first call, so it must be set before. The variables that
    were set here."""
    library = loaded_path()
    names = [name for name in ("NVTX_INJECTION64_PATH", "INTEL_LIBITTNOTIFY64") if name not in os.environ]
    if os.path.isabs(library):
        os.environ.update((name, library) for name in names)
    return names


def _load() -> Any:
    # Without the interpreter's lock (3.13t) objects have another layout than the extension knows.
    if not os.environ.get("TACHO_CTYPES") and "t" not in sys.abiflags:
        try:
            from .native import _tacho
            return _tacho
        except ImportError:
            pass
    from . import _calls
    return _calls


calls = _load()
OFFERED = _offer()
USES_EXTENSION = calls.__name__.endswith("_tacho")

# Notes of this process: what is off and why. Each recording gets those that are known.
_notes: List[str] = []


def note(text: str) -> None:
    """Leaves a note in the trace that something could not be recorded; never raises."""
    if text not in _notes:
        _notes.append(text)
        calls.note(text)


def write_notes() -> None:
    for text in _notes:
        calls.note(text)


def type_of(dtype: Any) -> int:
    """The number of a framework's data type: torch.float32, numpy.float32, paddle.float32…"""
    text = str(dtype).rsplit(".", 1)[-1].strip("<>' ").lower()
    return TYPES.get(text, 0)
