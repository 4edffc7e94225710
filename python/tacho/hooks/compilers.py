"""Compilations as ranges: what torch.compile and Triton compile, and why it was compiled once more.

Their entry points are replaced when their modules have been imported. Steps of the compiler are ranges
inside, as libtorch reports them.
"""
import functools
import re
import sys
from typing import Any

from .. import _native
from .._native import calls
from .patches import Patches, ranged

MODULES = ("torch._dynamo.convert_frame", "triton.compiler")
MOST_REASON = 400  # characters
WHY = "compiled again: "

_patches = Patches()


def _place(code: Any, name: str) -> str:
    return f"{code.co_filename}({code.co_firstlineno}): {name}"


def _of_dynamo(code: Any) -> str:
    return "torch.compile: " + _place(code, code.co_name)


def _of_triton(source: Any) -> str:
    function = getattr(source, "fn", None)
    code = getattr(getattr(function, "fn", None), "__code__", None)
    if code is not None:
        return "triton.compile: " + _place(code, function.fn.__name__)
    return f"triton.compile: {getattr(source, 'name', None) or source}"


def _reasons(function: Any) -> Any:
    """Dynamo asks its guards which of them failed before it compiles a function again."""
    @functools.wraps(function)
    def wrapped(*args: Any, **words: Any) -> Any:
        found = function(*args, **words)
        if calls.takes_event():
            first = next((line for text in found or () for line in str(text).splitlines() if line.strip()), "")
            reason = re.sub(r"^\d+/\d+: ", "", first.strip())  # which of its versions
            calls.mark((WHY + (reason or "no reason is known"))[:MOST_REASON])
        return found
    return wrapped


def install() -> None:
    """In modules that have been imported and do not have it yet; never raises."""
    try:
        dynamo = sys.modules.get("torch._dynamo.convert_frame")
        if dynamo is not None and hasattr(dynamo, "_compile"):
            _patches.replace(dynamo, "_compile", ranged(_of_dynamo, _native.COMPILE))
            _patches.replace(dynamo, "get_and_maybe_log_recompilation_reasons", _reasons)
        triton = sys.modules.get("triton.compiler")
        for owner in (triton, sys.modules.get("triton")):
            if owner is not None:
                _patches.replace(owner, "compile", ranged(_of_triton, _native.COMPILE))
    except Exception as why:
        _native.note(f"compilers: {type(why).__name__}: {why}")


def remove() -> None:
    _patches.undo()
