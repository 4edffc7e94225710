"""Replacing functions of a framework, and putting them back."""
import functools
import threading
from typing import Any, Callable, Iterable, List, Optional, Tuple

from .. import _native
from .._native import calls
from . import reader_begin, reader_end

_MISSING = object()


class Patches:
    """Attributes that were replaced, with what they were."""

    def __init__(self) -> None:
        self._all: List[Tuple[Any, str, Any, Any]] = []

    def replace(self, owner: Any, name: str, make: Callable[[Any], Any]) -> bool:
        """owner.name becomes make(owner.name); false when there is no such thing."""
        found = owner.__dict__.get(name, _MISSING) if isinstance(owner, type) else getattr(owner, name, _MISSING)
        if found is _MISSING or getattr(found, "__tacho__", False):
            return False
        new = make(found)
        try:
            new.__tacho__ = True
        except AttributeError:
            pass
        setattr(owner, name, new)
        self._all.append((owner, name, found, new))
        return True

    def undo(self) -> None:
        while self._all:
            owner, name, old, new = self._all.pop()
            if (owner.__dict__ if hasattr(owner, "__dict__") else {}).get(name) is new:
                setattr(owner, name, old)


def ranged(name: str, kind: int) -> Callable[[Any], Any]:
    """A wrapper that is a range of its own; inside itself it is called plainly."""
    inside = threading.local()

    def make(function: Any) -> Any:
        @functools.wraps(function)
        def wrapped(*args: Any, **words: Any) -> Any:
            if not calls.is_recording() or getattr(inside, "on", False):
                return function(*args, **words)
            inside.on = True
            calls.begin_text(name, kind)
            try:
                return function(*args, **words)
            finally:
                calls.end()
                inside.on = False
        return wrapped
    return make


def loader(name: str, records: bool = True) -> Callable[[Any], Any]:
    """__next__ of a loader: a range, and the reader's share of the throughput timer."""
    def make(function: Any) -> Any:
        @functools.wraps(function)
        def wrapped(self: Any, *args: Any, **words: Any) -> Any:
            is_on = records and calls.is_recording()
            if is_on:
                calls.begin_text(name, _native.DATA)
            reader_begin()
            try:
                return function(self, *args, **words)
            finally:
                reader_end()
                if is_on:
                    calls.end()
        return wrapped
    return make


class Modules:
    """Calls of layers as ranges: the outermost is the forward pass, each is a module."""

    def __init__(self, name_of: Callable[[Any], str],
                 stage_of: Callable[[Any], Optional[int]] = lambda module: _native.FORWARD) -> None:
        self._name_of, self._stage_of = name_of, stage_of
        self._local = threading.local()
        self._forward = calls.name("forward")

    def begin(self, module: Any) -> int:
        """How many ranges were opened: for end()."""
        if not calls.is_recording():
            return 0
        depth = getattr(self._local, "depth", 0)
        opened = 1
        if depth == 0 and self._stage_of(module) == _native.FORWARD:
            calls.begin(self._forward, _native.FORWARD)
            opened = 2
        self._local.depth = depth + 1
        calls.begin(calls.name(self._name_of(module)), _native.MODULE)
        return opened

    def end(self, opened: int) -> None:
        if not opened:
            return
        self._local.depth = max(getattr(self._local, "depth", 1) - 1, 0)
        for _ in range(opened):
            calls.end()

    def wrap(self, function: Any) -> Any:
        """Around a class's __call__."""
        @functools.wraps(function)
        def wrapped(module: Any, *args: Any, **words: Any) -> Any:
            opened = self.begin(module)
            try:
                return function(module, *args, **words)
            finally:
                self.end(opened)
        return wrapped


def shapes_of(args: Iterable[Any]) -> Tuple[List[List[int]], List[int]]:
    """Shapes and types of the tensors among arguments; others have an empty shape."""
    shapes, types = [], []
    for arg in args:
        shape = getattr(arg, "shape", None)
        try:
            dims = [int(d) for d in shape] if shape is not None else []
            kind = _native.type_of(getattr(arg, "dtype", "")) if shape is not None else 0
        except Exception:  # shapes that are not known yet
            dims, kind = [], 0
        shapes.append(dims)
        types.append(kind)
    return shapes, types


def subclasses(cls: type) -> Iterable[type]:
    seen, todo = set(), [cls]
    while todo:
        at = todo.pop()
        if at not in seen:
            seen.add(at)
            yield at
            todo.extend(at.__subclasses__())
