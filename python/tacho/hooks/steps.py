"""Steps of programs that do not mark them: a step ends when the first optimizer has stepped.

This is used under `tacho record` (automatic) and by profilers with auto_step. Once a program marks its steps with
a profiler's step(), its marks are used.
"""
from typing import Any, Callable, List, Optional

from .._native import calls

automatic = False
_first: Optional[int] = None
_followers: List[Callable[[], Any]] = []


def start_anew() -> None:
    """Steps follow the optimizer that is used first from now on."""
    global automatic, _first
    automatic, _first = True, None


def follow(function: Callable[[], Any]) -> None:
    """Calls the function at the end of each step, until the program marks its own steps."""
    global _first
    _first = None
    _followers.append(function)


def leave(function: Callable[[], Any]) -> None:
    if function in _followers:
        _followers.remove(function)


def optimizer_stepped(optimizer: Any) -> None:
    global _first
    if not automatic and not _followers:
        return
    if _first is None:
        _first = id(optimizer)
    if _first != id(optimizer):
        return
    if automatic:
        calls.step()
    for function in list(_followers):
        function()


_to_tell: List[Callable[[], Any]] = []


def on_marked(function: Callable[[], Any]) -> None:
    """Called once, when the program first marks its own step."""
    if automatic:
        _to_tell.append(function)


def marked_by_the_program() -> None:
    global automatic
    automatic = False
    _followers.clear()
    while _to_tell:
        _to_tell.pop()()
