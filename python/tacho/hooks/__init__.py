"""Hooks that record a framework without changes to the program.

An imported framework gets its hooks before a recording begins and loses them when the profiler stops.
Each framework has a file here with install(wants) and remove(), and begin() and end() where it does
something when a recording begins or ends, and finish(path) after that. A failure in them becomes a note in the trace and never affects
the job.
"""
import importlib
import sys
from typing import Any, Dict, List, NamedTuple

from .. import _native
from .._native import calls
from . import frames, garbage, kernel_sources, steps
from .frameworks import FRAMEWORKS

# Throughput timers of the profilers that run; loaders tell them when they wait.
timers: List[Any] = []


class Wants(NamedTuple):
    """What a profiler wants to record."""
    shapes: bool = False
    memory: bool = False
    stacks: bool = False
    flops: bool = False
    scopes: bool = False
    sample_every: int = 0
    loader_only: bool = False
    steps: bool = False  # call steps.optimizer_stepped after each step of an optimizer
    chosen: bool = False   # the user says when it begins and ends, or which steps
    endless: bool = False  # a flight recorder, or steps that are sampled


_installed: Dict[str, Wants] = {}
_wants_stacks = False  # of the recording that runs


def _module(name: str) -> Any:
    return importlib.import_module(f".{name}_hooks", __name__)


def _install(name: str, wants: Wants) -> None:
    if _installed.get(name) == wants:
        return
    try:
        if name in _installed:
            _module(name).remove()
        _installed[name] = wants
        _module(name).install(wants)
    except Exception as why:  # a note, never a failure of the job
        _native.note(f"{name}: some hooks could not be installed ({type(why).__name__}: {why})")


def look_again(wants: Wants) -> None:
    """Hooks frameworks imported since the last call."""
    for name in FRAMEWORKS:
        if name not in _installed and _is_complete(name):
            _install(name, wants)


def imported(wants: Wants) -> None:
    """A framework was imported while a profiler runs: hook it, and leave its import out of the steps."""
    look_again(wants)
    calls.begin_steps()


def _is_complete(name: str) -> bool:
    """Imported, and its import has finished."""
    module = sys.modules.get(name)
    if module is None:
        return False
    spec = getattr(module, "__spec__", None)
    return not getattr(spec, "_initializing", False)


def half_imported() -> List[str]:
    return [name for name in FRAMEWORKS if name in sys.modules and not _is_complete(name)]


def uses_framework() -> bool:
    return bool(_installed)


def begin_hooked() -> None:
    """Frameworks were hooked after the recording had begun."""
    tell("begin")


def prepare(wants: Wants) -> None:
    for name in FRAMEWORKS:
        if _is_complete(name):
            _install(name, wants)


def tell(word: str, *args: Any) -> None:
    """Calls begin(), end() or finish(path) of the frameworks that have it."""
    for name in list(_installed):
        try:
            getattr(_module(name), word, lambda *_args: None)(*args)
        except Exception as why:
            _native.note(f"{name}: {type(why).__name__}: {why}")


def begin_ranges() -> None:
    """What Python itself and compilers do, whatever the framework."""
    from . import compilers, imports  # they need this module
    garbage.begin()
    compilers.install()
    imports.begin_timing()


def end_ranges() -> None:
    from . import compilers, imports
    garbage.end()
    compilers.remove()
    imports.end_timing()


def begin(wants: Wants) -> None:
    """Called when a recording has begun."""
    global _wants_stacks
    _wants_stacks = wants.stacks
    tell("begin")
    begin_ranges()
    if wants.stacks:
        try:
            frames.begin()
        except Exception as why:
            _native.note(f"Python stacks: {type(why).__name__}: {why}")


def end() -> None:
    """Called when a recording is about to end."""
    global _wants_stacks
    _wants_stacks = False
    tell("end")
    end_ranges()
    frames.end()
    write_sources()


def write_sources() -> None:
    try:
        kernel_sources.write()
    except Exception as why:
        _native.note(f"sources of kernels: {type(why).__name__}: {why}")


def follow() -> None:
    """The recorder calls this after a step mark (rec_python.c) when the next step's operators are
    recorded and those of the last were not, or the reverse, and when a schedule begins to record: hooks
    that cost something per call are put back or taken out, and tried."""
    is_on = calls.is_sampled()
    for name in _installed:
        change = getattr(_module(name), "sample", None)
        if change is not None:
            change(is_on)
    if _wants_stacks and is_on:
        frames.resume(sys._getframe(1).f_back)  # the caller is the recorder's own line of Python
    elif _wants_stacks:
        frames.pause()
    cost = sys.modules.get(f"{__name__}.cost")
    if cost is not None and _installed:  # a recording that began after the hooks were installed
        cost.measure(next(iter(_installed.values())), "torch" not in _installed)


def withdraw(name: str) -> None:
    """The hooks of one framework go: they have nothing more to record."""
    del _installed[name]
    _module(name).remove()


def release() -> None:
    """Called when no profiler runs any more: restores the frameworks."""
    if timers or steps.automatic:
        return
    for name in list(_installed):
        del _installed[name]
        try:
            _module(name).remove()
        except Exception as why:
            _native.note(f"{name}: some hooks could not be removed ({type(why).__name__}: {why})")


def reader_begin() -> None:
    for timer in timers:
        timer.reader_begin()


def reader_end() -> None:
    for timer in timers:
        timer.reader_end()
