"""Python functions as ranges: the stack of an operator is the ranges around it.

One range per call, named FILE(LINE): FUNCTION with the line of its definition, as in PyTorch's
profiler. Functions that are running when the recording begins are opened then, outermost first and
with their current line, so that everything they call has its full stack. The recorder's own functions
are left out.
"""
import sys
from types import CodeType, FrameType
from typing import List, Optional

from .. import _library, _native
from .._native import calls

_OWN = str(_library.HERE)
# Ranges that these functions begin outlive them: they would overlap.
_HIDDEN = ("torch/autograd/profiler.py", "torch/_ops.py")
_roots: List[str] = []
_entered: List[CodeType] = []  # what ran when the recording began
_running = False


def _short(file: str) -> str:
    """The path relative to the longest matching entry of the module search path."""
    best = ""
    for root in _roots:
        if len(root) > len(best) and file.startswith(root):
            best = root
    return file[len(best):]


def name_of(code: CodeType, line: int = 0) -> Optional[str]:
    file = code.co_filename
    if file.startswith(_OWN) or file.endswith(_HIDDEN):
        return None
    return f"{_short(file)}({line or code.co_firstlineno}): {code.co_name}"


def _stack(frame: Optional[FrameType] = None) -> List[FrameType]:
    """The running functions, innermost first; those around a frame when one is given."""
    frame = frame or sys._getframe(1)
    stack = []
    while frame is not None:
        stack.append(frame)
        frame = frame.f_back
    return stack


def begin(innermost: Optional[FrameType] = None) -> None:
    """From now on; `innermost` is the program's own function that runs, where it is not the caller."""
    global _running
    _roots[:] = sorted({p.rstrip("/") + "/" for p in sys.path if p}, key=len)
    if not calls.trace_python(name_of):
        _native.note("Python stacks: this interpreter has no profile function")
    for frame in reversed(_stack(innermost)):
        name = name_of(frame.f_code, frame.f_lineno)
        if name:
            calls.enter(frame.f_code, name)
            _entered.append(frame.f_code)
    _running = True


def pause() -> None:
    """The same as end(), but the recording continues."""
    if _running:
        end()


def resume(innermost: Optional[FrameType]) -> None:
    if not _running:
        begin(innermost)


def end() -> None:
    global _running
    if _running:
        calls.trace_python(None)
        for frame in _stack():
            calls.leave(frame.f_code)
    while _entered:
        calls.forget(_entered.pop())
    _running = False
