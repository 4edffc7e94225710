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


def _time(function: Callable[[Any], Any], argument: Any) -> int:
    """The least CPU time of so many calls; -1 when no trial is possible now."""
    least = -1
    for _ in range(_ROUNDS):
        if not calls.trial_begin():
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
    _report(_native.COST_MODULE, _time(_nothing, _Probe()), _time(hooked, _Probe()))
    calls.trial_begin()
    calls.module_end(opened)
    calls.trial_end()


def _foreign() -> Callable[[Any], Any]:
    """A function of a file that is not ours: ours have no frames."""
    space: Dict[str, Any] = {}
    exec(compile("def nothing(_):\n    return None\n", "<tacho>", "exec"), space)
    return space["nothing"]  # type: ignore[no-any-return]


def measure(wants: Wants, operators: bool, begin_frames: Callable[[], None]) -> None:
    """Tries the hooks that are in place, in a thread that records. operators: they come from wrappers in
    Python. Frames, where they are wanted, begin in the middle."""
    calls.measure()
    nothing = _foreign()
    if calls.is_sampled():
        _try_modules()
        hooked = operator(lambda _: "tacho", wants.shapes)(_nothing)
        if operators:
            _report(_native.COST_OP, _time(_nothing, None), _time(hooked, None))
    without = _time(nothing, None) if wants.stacks else -1
    begin_frames()
    if without >= 0:
        _report(_native.COST_FRAME, without, _time(nothing, None))
