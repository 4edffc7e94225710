"""Paddle: layers, the backward pass, optimizers and loaders by their methods, operators where Python
calls them (paddle._C_ops). Operators that C++ calls by itself, those of the backward pass among them,
come through NVTX on a GPU (core.nvprof_enable_record_event). Blocks of its allocators are told by
libphi_core (tacho_paddle); where it does not, the allocators' totals after operators."""
import types
from typing import Any, List, Tuple

from .. import _native
from .._native import calls
from . import Wants
from .patches import Modules, Patches, loader, loader_process, operator, ranged, replace_in_all, totals
from .steps import optimizer_stepped

_patches = Patches()


def _hook_loaders() -> None:
    from paddle.io.dataloader import dataloader_iter
    for name in ("_DataLoaderIterSingleProcess", "_DataLoaderIterMultiProcess"):
        _patches.replace(getattr(dataloader_iter, name), "__next__", loader("Dataloader"))
    _patches.replace(dataloader_iter, "_worker_loop", loader_process)


def _totals(paddle: Any) -> List[Tuple[str, float]]:
    core = paddle.base.core
    place = paddle.framework._current_expected_place()
    if paddle.is_compiled_with_cuda() and place.is_gpu_place():
        number, stat = place.gpu_device_id(), core.device_memory_stat_current_value
        device = f"gpu{number}"
    else:
        number, stat, device = 0, core.host_memory_stat_current_value, "cpu"
    return [(f"{device} {word.lower()} memory", float(stat(word, number))) for word in ("Allocated", "Reserved")]


EVENTS = ("Allocate", "Free", "ReservedAllocate", "ReservedFree")  # as libtacho.so numbers them


def _hook_memory(paddle: Any) -> bool:
    """Each block, with totals; false when this Paddle does not tell them."""
    core = paddle.base.core
    kinds = getattr(core, "TracerMemEventType", None)
    if kinds is None or any(int(getattr(kinds, name, -1)) != i for i, name in enumerate(EVENTS)):
        return False
    words = ("Allocated", "Reserved")
    before = [(-1, *(core.host_memory_stat_current_value(word, 0) for word in words))]
    if paddle.is_compiled_with_cuda():
        before += [(i, *(core.device_memory_stat_current_value(word, i) for word in words))
                   for i in range(paddle.device.cuda.device_count())]
    return calls.paddle(before)


def _hook_operators(paddle: Any, wants: Wants) -> None:
    if wants.memory and _hook_memory(paddle):
        wants = wants._replace(memory=False)
    after = totals(wants, lambda: _totals(paddle), "Paddle")
    for name, function in list(vars(paddle._C_ops).items()):
        if isinstance(function, types.BuiltinFunctionType):
            _patches.replace(paddle._C_ops, name,
                             operator(lambda _first, name=name: name, wants.shapes, after=after))  # type: ignore[misc]


def _hook_device(paddle: Any) -> None:
    enable = getattr(paddle.base.core, "nvprof_enable_record_event", None)
    if enable is not None and paddle.is_compiled_with_cuda():
        enable()


def install(wants: Wants) -> None:
    import paddle
    _hook_loaders()
    if wants.loader_only:
        return
    layers = Modules(lambda layer: layer.full_name())
    replace_in_all(_patches, paddle.nn.Layer, "__call__", layers.wrap)
    backward = ranged("backward", _native.BACKWARD)
    _patches.replace(paddle.Tensor, "backward", backward)
    _patches.replace(paddle.autograd, "backward", backward)
    for method, after in (("step", optimizer_stepped), ("clear_grad", None)):
        replace_in_all(_patches, paddle.optimizer.Optimizer, method,
                       ranged(lambda o, m=method: f"{type(o).__name__}.{m}", _native.OPTIMIZER, after))  # type: ignore
    _hook_operators(paddle, wants)
    _hook_device(paddle)


def remove() -> None:
    _patches.undo()
    calls.paddle(None)
