"""Replacing functions of a framework, and putting them back."""
import functools
import threading
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple, Union

from .. import _native
from .._native import calls
from . import Wants, reader_begin, reader_end

_MISSING = object()


class Patches:
    """Replaced attributes and their originals."""

    def __init__(self) -> None:
        self._all: List[Tuple[Any, str, Any, Any]] = []

    def replace(self, owner: Any, name: str, make: Callable[[Any], Any]) -> bool:
        """Replaces owner.name by make(owner.name); false if there is no such attribute."""
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

    def add(self, owner: type, name: str, new: Any) -> None:
        """Gives a class an attribute that it only inherits."""
        setattr(owner, name, new)
        self._all.append((owner, name, _MISSING, new))

    def suspend(self) -> None:
        """The originals again, until resume()."""
        self._swap(lambda old, new: (new, old))

    def resume(self) -> None:
        self._swap(lambda old, new: (old, new))

    def _swap(self, order: Callable[[Any, Any], Tuple[Any, Any]]) -> None:
        for owner, name, old, new in self._all:
            is_now, becomes = order(old, new)
            if (owner.__dict__ if hasattr(owner, "__dict__") else {}).get(name) is is_now:
                setattr(owner, name, becomes)

    def undo(self) -> None:
        while self._all:
            owner, name, old, new = self._all.pop()
            if (owner.__dict__ if hasattr(owner, "__dict__") else {}).get(name) is not new:
                continue
            if old is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, old)


def ranged(name: Union[str, Callable[[Any], str]], kind: int,
           after: Optional[Callable[[Any], None]] = None) -> Callable[[Any], Any]:
    """A wrapper that records a range, except for calls inside itself or inside another class's version
    of the same method. The name may depend on the first argument, which is passed to `after`."""
    inside = threading.local()

    def make(function: Any) -> Any:
        @functools.wraps(function)
        def wrapped(*args: Any, **words: Any) -> Any:
            if getattr(inside, "on", False):
                return function(*args, **words)
            recording = calls.takes_event()
            inside.on = True
            if recording:
                calls.begin_text(name if isinstance(name, str) else name(args[0]), kind)
            try:
                return function(*args, **words)
            finally:
                inside.on = False
                if recording:
                    calls.end()
                if after is not None:
                    after(args[0])
        return wrapped
    return make


def loader(name: str, records: bool = True) -> Callable[[Any], Any]:
    """__next__ of a loader: a range, and the reader time of the throughput timer."""
    def make(function: Any) -> Any:
        @functools.wraps(function)
        def wrapped(self: Any, *args: Any, **words: Any) -> Any:
            is_on = records and calls.takes_event()
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


def loader_process(function: Any, begin: Callable[[], None] = lambda: None) -> Any:
    """What a worker process of a loader runs: its recording says that it is one. `begin` is called first."""
    @functools.wraps(function)
    def wrapped(*args: Any, **words: Any) -> Any:
        calls.meta("role", "data_loader")
        begin()
        return function(*args, **words)
    return wrapped


class Numbered:
    """Names of objects by class and number: Linear_0, Linear_1."""

    def __init__(self, word_of: Callable[[Any], str] = lambda thing: type(thing).__name__) -> None:
        self._word_of = word_of
        self._counts: Dict[str, int] = {}

    def __call__(self, thing: Any) -> str:
        name = thing.__dict__.get("_tacho_name")
        if name is None:
            word = self._word_of(thing)
            number = self._counts.get(word, 0)
            self._counts[word] = number + 1
            name = thing.__dict__["_tacho_name"] = f"{word}_{number}"
        return name


class Modules:
    """Calls of layers as ranges: the outermost is the forward pass, each is a module. While is_traced is
    true, a compiler reads the program instead of running it: nothing is recorded."""

    def __init__(self, name_of: Callable[[Any], str], is_traced: Callable[[], bool] = lambda: False) -> None:
        self._name_of, self._is_traced = name_of, is_traced
        self._forward = calls.name("forward")
        self._ids: Dict[str, int] = {}

    def wrap(self, function: Any) -> Any:
        """Around a class's __call__. Written flat: it runs for every call of every module."""
        is_traced, is_sampled, name_of = self._is_traced, calls.is_sampled, self._name_of
        ids, forward, begin, end = self._ids, self._forward, calls.module_begin, calls.module_end

        @functools.wraps(function)
        def wrapped(module: Any, *args: Any, **words: Any) -> Any:
            if is_traced() or not is_sampled():
                return function(module, *args, **words)
            name = name_of(module)
            number = ids.get(name)
            if number is None:
                number = ids[name] = calls.name(name)
            opened = begin(number, forward)
            try:
                return function(module, *args, **words)
            finally:
                end(opened)
        return wrapped


def shapes_of(args: Iterable[Any]) -> Tuple[List[List[int]], List[int]]:
    """Shapes and types of the tensors in the arguments; others have an empty shape."""
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


def operator(name_of: Callable[[Any], str], shapes: bool, skip: int = 0,
             after: Optional[Callable[[], None]] = None) -> Callable[[Any], Any]:
    """A wrapper that records an operator: name_of gets the first argument, the others may be tensors.
    An empty name means: not an operator."""
    def make(function: Any) -> Any:
        @functools.wraps(function)
        def wrapped(*args: Any, **words: Any) -> Any:
            name = name_of(args[0] if args else None) if calls.is_sampled() else ""
            if not name:
                return function(*args, **words)
            dims, types = shapes_of(args[skip:]) if shapes else (None, None)
            calls.op_begin(name, 0, dims, types, -1.0, -1, -1)
            try:
                return function(*args, **words)
            finally:
                calls.end()
                if after is not None:
                    after()
        return wrapped
    return make


def totals(wants: Wants, read: Callable[[], List[Tuple[str, float]]], framework: str) -> Optional[Callable[[], None]]:
    """For operator(after=): records the allocator totals of a framework every n operators, as counters.
    None if they were not requested or, with a note, if there are none."""
    every = wants.sample_every or int(wants.memory)
    if not every:
        return None
    try:
        read()
    except Exception as why:
        _native.note(f"{framework}: memory is not recorded ({why})")
        return None
    if wants.memory:
        _native.note(f"{framework}: memory is the allocator's totals after operators; single blocks are not reported")
    count = [0]

    def sample() -> None:
        count[0] += 1
        if count[0] % every == 0:
            for name, value in read():
                calls.counter(name, value)
    return sample


def replace_in_all(patches: "Patches", base: type, name: str, make: Callable[[Any], Any]) -> int:
    """Replaces the method in a class and in the subclasses that override it; returns how many."""
    return sum(patches.replace(cls, name, make) for cls in list(subclasses(base)))


def subclasses(cls: type) -> Iterable[type]:
    seen, todo = set(), [cls]
    while todo:
        at = todo.pop()
        if at not in seen:
            seen.add(at)
            yield at
            todo.extend(at.__subclasses__())
