"""The recorder's calls, by the extension or by ctypes, and the words they use."""
import os
from typing import Any, List

from . import _library
from ._words import (BACKWARD, BUSY, COMMUNICATION, DATA, FAILED, FORWARD, MODULE, OFF, OK, OP, OPTIMIZER,  # noqa: F401
                     PLAIN, PYTHON, TORCH_FLOPS, TORCH_LINKS, TORCH_MEMORY, TORCH_OPS, TORCH_SHAPES, TORCH_STEPS,
                     TYPES)


def loaded_path() -> str:
    """The recorder that is in this process: a second one beside it would listen in vain."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
            paths = [line.split(maxsplit=5)[-1].rstrip("\n") for line in maps if line.endswith("/libtacho.so\n")]
    except OSError:
        paths = []
    return paths[0] if paths else _library.path()


def _offer() -> None:
    """Libraries look for a listener of NVTX and ITT at their first call: it must be named before."""
    library = loaded_path()
    if os.path.isabs(library):
        for variable in ("NVTX_INJECTION64_PATH", "INTEL_LIBITTNOTIFY64"):
            os.environ.setdefault(variable, library)


def _load() -> Any:
    if not os.environ.get("TACHO_CTYPES"):
        try:
            from .native import _tacho
            return _tacho
        except ImportError:
            pass
    from . import _calls
    return _calls


calls = _load()
_offer()
USES_EXTENSION = calls.__name__.endswith("_tacho")

# Notes of this process: what is off and why. Each recording gets those that are known.
_notes: List[str] = []


def note(text: str) -> None:
    """Something could not be recorded: said in the trace, never an exception in the job."""
    if text not in _notes:
        _notes.append(text)
        calls.note(text)


def write_notes() -> None:
    for text in _notes:
        calls.note(text)


def type_of(dtype: Any) -> int:
    """The number of a framework's type: torch.float32, numpy.float32, paddle.float32…"""
    text = str(dtype).rsplit(".", 1)[-1].strip("<>' ").lower()
    return TYPES.get(text, 0)
