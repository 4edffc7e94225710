"""What the hooks of Python cost, measured in this run: each is tried on a function that does nothing, with
the events thrown away (tacho_trial_begin), and the recording gets the time of one call. What is done once
is timed as it happens."""
import time
from typing import Any, Callable, Dict

from .. import _native
from .._native import calls
from . import Wants
from .patches import Modules, operator

_CALLS = 16  # with its end an operator takes up to ten slots of the 256 of a trial
_ROUNDS = 5


_nothing_of_nobody: Callable[[Any], Any] = len  # of before_frames()
_without_frames = -1
_is_done = False


def _time(function: Callable[[Any], Any], argument: Any, hooked: bool = True) -> int:
    """The least CPU time of so many calls; -1 when events cannot be thrown away now."""
    least = -1
    for _ in range(_ROUNDS):
        if hooked and not calls.trial_begin():
            return -1
        since = time.thread_time_ns()
        for _ in range(_CALLS):
            function(argument)
        took = time.thread_time_ns() - since
        calls.trial_end()
        least = took if least < 0 else min(least, took)
    return least


def _report(kind: int, without: int, with_hook: int) -> None:
    if 0 <= without < with_hook:
        calls.cost(kind, with_hook - without, _CALLS)


class _Probe:
    """A module that has its name already."""

    def __init__(self) -> None:
        self._tacho_name = "tacho"


def _nothing(_: Any) -> None:
    return None


def _try_modules() -> None:
    """Inside of another one: the outermost is rare."""
    if not calls.trial_begin():
        return
    opened = calls.module_begin(calls.name("tacho"), calls.name("forward"))
    calls.trial_end()
    hooked = Modules(lambda thing: thing._tacho_name).wrap(_nothing)
    _report(_native.COST_MODULE, _time(_nothing, _Probe(), False), _time(hooked, _Probe()))
    calls.trial_begin()
    calls.module_end(opened)
    calls.trial_end()


def before_frames() -> None:
    """Times a function of a file that is not ours: ours have no frames."""
    global _nothing_of_nobody, _without_frames
    space: Dict[str, Any] = {}
    exec(compile("def nothing(_):\n    return None\n", "<tacho>", "exec"), space)
    _nothing_of_nobody = space["nothing"]
    _without_frames = _time(_nothing_of_nobody, None, False)


def measure(wants: Wants, operators: bool) -> None:
    """Tries the hooks that are in place, once, in a thread that records. operators: they come from
    wrappers in Python."""
    global _is_done
    if _is_done or not calls.is_recording() or not calls.is_sampled():
        return
    _is_done = True
    calls.measure()
    _try_modules()
    if operators:
        hooked = operator(lambda _: "tacho", wants.shapes)(_nothing)
        _report(_native.COST_OP, _time(_nothing, None, False), _time(hooked, None))
    if wants.stacks and _without_frames >= 0:
        _report(_native.COST_FRAME, _without_frames, _time(_nothing_of_nobody, None))
