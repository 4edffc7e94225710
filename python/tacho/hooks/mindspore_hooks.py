"""MindSpore: cells and optimizers through Cell's call, the backward pass through the executor, loaders
through their iterators, operators where Python calls primitives. A compiled graph is one call of its cell."""
from typing import Any, List, Tuple

from .. import _native
from .._native import calls
from . import Wants
from .patches import Modules, Numbered, Patches, loader, operator, ranged, replace_in_all, totals
from .steps import optimizer_stepped

_patches = Patches()
_name_of = Numbered(lambda cell: getattr(cell, "cls_name", "") or type(cell).__name__)


def _hook_cells(mindspore: Any) -> None:
    nn = mindspore.nn
    wrappers = tuple(c for c in (getattr(nn, n, None) for n in ("TrainOneStepCell",
                                                              "TrainOneStepWithLossScaleCell")) if c)
    cells = Modules(_name_of)

    def make(function: Any) -> Any:
        plain = cells.wrap(function)

        def wrapped(cell: Any, *args: Any, **words: Any) -> Any:
            if isinstance(cell, nn.Optimizer):
                name, kind = f"{type(cell).__name__}.step", _native.OPTIMIZER
            elif isinstance(cell, wrappers):  # forward, backward and optimizer in one
                name, kind = _name_of(cell), _native.MODULE
            else:
                return plain(cell, *args, **words)
            calls.begin_text(name, kind)
            try:
                return function(cell, *args, **words)
            finally:
                calls.end()
                if kind == _native.OPTIMIZER:
                    optimizer_stepped(cell)
        return wrapped

    replace_in_all(_patches, nn.Cell, "__call__", make)


def _hook_backward() -> None:
    from mindspore.common import api
    make = ranged("backward", _native.BACKWARD)
    for method in ("grad", "grad_jit"):
        _patches.replace(api._PyNativeExecutor, method, make)


def _hook_loaders() -> None:
    from mindspore.dataset.engine import iterators
    replace_in_all(_patches, iterators.Iterator, "__next__", loader("Dataset"))


def _operator_name(primitive: Any) -> str:
    """Checks and other compiler constants are primitives too; their names are in lower case."""
    name = str(getattr(primitive, "name", ""))
    return name if name[:1].isupper() else ""


def _totals(mindspore: Any) -> List[Tuple[str, float]]:
    """On the CPU, mindspore.runtime returns 0 for everything."""
    device = mindspore.get_context("device_target")
    if device == "CPU":
        raise RuntimeError("its allocator counts nothing on the CPU")
    runtime = mindspore.runtime
    return [(f"{device} allocated memory", float(runtime.memory_allocated())),
            (f"{device} reserved memory", float(runtime.memory_reserved()))]


def _hook_operators(mindspore: Any, wants: Wants) -> None:
    make = operator(_operator_name, wants.shapes, skip=1, after=totals(wants, lambda: _totals(mindspore), "MindSpore"))
    replace_in_all(_patches, mindspore.ops.Primitive, "__call__", make)


def install(wants: Wants) -> None:
    import mindspore
    import mindspore.dataset  # noqa: F401
    _hook_loaders()
    if wants.loader_only:
        return
    _hook_cells(mindspore)
    _hook_backward()
    _hook_operators(mindspore, wants)


def remove() -> None:
    _patches.undo()
