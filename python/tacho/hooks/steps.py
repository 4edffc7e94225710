"""Steps of programs that mark none: a step ends when the first optimizer has made its own.

Only where `tacho record` runs the program (automatic). A program that marks its steps, by a profiler's
step(), is believed from then on.
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
    """To be called once, when the program turns out to mark its own steps."""
    if automatic:
        _to_tell.append(function)


def marked_by_the_program() -> None:
    global automatic
    automatic = False
    while _to_tell:
        _to_tell.pop()()
