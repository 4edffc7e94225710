"""Steps of programs that do not mark them: a step ends when the first optimizer has stepped.

Only under `tacho record` (automatic). Once a program marks its steps with a profiler's step(), its
marks are used.
"""
from typing import Any, Callable, List, Optional

from .._native import calls

automatic = False
_first: Optional[int] = None


def start_anew() -> None:
    """Steps follow the optimizer that is used first from now on."""
    global automatic, _first
    automatic, _first = True, None


def optimizer_stepped(optimizer: Any) -> None:
    global _first
    if not automatic:
        return
    if _first is None:
        _first = id(optimizer)
    if _first == id(optimizer):
        calls.step()


_to_tell: List[Callable[[], Any]] = []


def on_marked(function: Callable[[], Any]) -> None:
    """Called once, when the program first marks its own step."""
    if automatic:
        _to_tell.append(function)


def marked_by_the_program() -> None:
    global automatic
    automatic = False
    while _to_tell:
        _to_tell.pop()()
