"""Ranges marked by the program: record_function, RecordEvent, scope.

Each is a context manager and a decorator; RecordEvent also has begin() and end(). While nothing is
being recorded, they cost one call and one branch.
"""
import enum
import functools
import warnings
from typing import Any, Callable, Optional

from . import _native
from ._native import calls


class TracerEventType(enum.IntEnum):
    """Paddle's range types; those a program may use have a stage."""
    Operator = 0
    Dataloader = 1
    ProfileStep = 2
    CudaRuntime = 3
    Kernel = 4
    Memcpy = 5
    Memset = 6
    UserDefined = 7
    OperatorInner = 8
    Forward = 9
    Backward = 10
    Optimization = 11
    Communication = 12
    PythonOp = 13
    PythonUserDefined = 14


_KINDS = {TracerEventType.Dataloader: _native.DATA, TracerEventType.ProfileStep: _native.PLAIN,
          TracerEventType.Forward: _native.FORWARD, TracerEventType.Backward: _native.BACKWARD,
          TracerEventType.Optimization: _native.OPTIMIZER, TracerEventType.PythonOp: _native.OP,
          TracerEventType.PythonUserDefined: _native.PLAIN}


class _Range:
    """A range; entering it twice nests it."""

    def __init__(self, name: str, kind: int = _native.PLAIN) -> None:
        self.name, self.kind = str(name), kind
        self._id: Optional[int] = None
        self._open = 0

    def begin(self) -> None:
        if not calls.takes_event():
            return
        if self._id is None:
            self._id = calls.name(self.name)
        calls.begin(self._id, self.kind)
        self._open += 1

    def end(self) -> None:
        if self._open:
            self._open -= 1
            calls.end()

    def __enter__(self) -> Any:
        self.begin()
        return self

    def __exit__(self, *_why: Any) -> None:
        self.end()

    def __call__(self, function: Callable) -> Callable:
        name, kind = self.name, self.kind

        @functools.wraps(function)
        def wrapped(*args: Any, **words: Any) -> Any:
            with _Range(name, kind):
                return function(*args, **words)
        return wrapped


class record_function(_Range):  # as PyTorch spells it
    """torch.profiler.record_function(name, args=None)"""

    def __init__(self, name: str, args: Optional[str] = None) -> None:
        super().__init__(name)
        self.args = args


class RecordEvent(_Range):
    """paddle.profiler.RecordEvent(name, event_type=PythonUserDefined)"""

    def __init__(self, name: str, event_type: Any = TracerEventType.PythonUserDefined) -> None:
        number = getattr(event_type, "value", event_type)
        known = _KINDS.get(TracerEventType(number)) if number in list(TracerEventType) else None
        self.event_type = event_type
        self._allowed = known is not None
        if not self._allowed:
            warnings.warn(f"RecordEvent({name!r}): ranges of type {event_type} are the framework's own;"
                          " nothing is recorded")
        super().__init__(name, known if known is not None else _native.PLAIN)

    def begin(self) -> None:
        if self._allowed:
            super().begin()


def scope(name: str, kind: int = _native.PLAIN) -> _Range:
    """MegEngine's scope(name): a named block that also ends on an exception."""
    return _Range(name, kind)


def mark(name: str) -> None:
    """Marks a point in time."""
    calls.mark(str(name))


def counter(name: str, value: float) -> None:
    """Records a value that changes, such as the loss or the learning rate."""
    calls.counter(str(name), float(value))


def queue(name: str, size: int, capacity: int) -> None:
    """Records how full a queue of the input pipeline is."""
    calls.queue(str(name), int(size), int(capacity))
