"""PyTorch: operators, shapes, memory and user ranges from libtorch itself (rec_torch.c), modules
through their common call, the backward pass through its entry points.

libtorch's own ranges name the data loader and the optimizer. If libtorch does not answer (another
CPU, an unknown build), operators come from NVTX or ITT ranges, otherwise from a dispatch mode in Python
with hooks for loader and optimizer: slower, and the trace says so.
"""
import functools
import os
import sys
import threading
from typing import Any, List, Optional

from .. import _native
from .._native import calls
from . import Wants, steps
from .patches import Modules, Numbered, Patches, loader, loader_process, ranged, shapes_of

_patches = Patches()
_modules = Patches()  # apart: taken out in steps whose operators are not recorded
_handles: List[Any] = []
_mode: Optional[Any] = None
_name_of = Numbered()  # as torch.profiler names modules


def _hook_modules(torch: Any) -> None:
    """Wraps the one call all modules share: global hooks would send every call through the slower of its
    two paths, at ten times the cost, and would break torch.compile."""
    is_traced = getattr(getattr(torch, "compiler", None), "is_compiling", lambda: False)
    modules = Modules(_name_of, is_traced=is_traced)
    _modules.replace(torch.nn.Module, "__call__", modules.wrap)


def _hook_backward(torch: Any) -> None:
    for name in ("backward", "grad"):
        _patches.replace(torch.autograd, name, ranged(name, _native.BACKWARD))


def _hook_loader(torch: Any, records: bool) -> None:
    loaders = sys.modules.get("torch.utils.data.dataloader")
    if loaders is not None:
        _patches.replace(loaders._BaseDataLoaderIter, "__next__",
                         loader("enumerate(DataLoader)#_BaseDataLoaderIter.__next__", records))


def _tell_rank(distributed: Any) -> None:
    calls.rank(distributed.get_rank(), distributed.get_world_size())


def _hook_fetchers() -> None:
    """Batches of a loader's process. In the process of the steps they are inside of __next__."""
    fetchers = sys.modules.get("torch.utils.data._utils.fetch")
    for name in ("_MapDatasetFetcher", "_IterableDatasetFetcher"):
        owner = getattr(fetchers, name, None)
        if owner is not None:
            _patches.replace(owner, "fetch", ranged("DataLoader.fetch", _native.DATA))


def _hook_pinning() -> None:
    """The thread that copies batches to pinned memory; other threads that do so are inside of __next__."""
    module = sys.modules.get("torch.utils.data._utils.pin_memory")
    pins = threading.local()

    def loop(function: Any) -> Any:
        @functools.wraps(function)
        def wrapped(*args: Any, **words: Any) -> Any:
            pins.on = True
            return function(*args, **words)
        return wrapped

    def pin(function: Any) -> Any:
        recorded = ranged("DataLoader.pin_memory", _native.DATA)(function)

        @functools.wraps(function)
        def wrapped(*args: Any, **words: Any) -> Any:
            return (recorded if getattr(pins, "on", False) else function)(*args, **words)
        return wrapped

    if module is not None:
        _patches.replace(module, "_pin_memory_loop", loop)
        _patches.replace(module, "pin_memory", pin)


def _hook_processes(torch: Any) -> None:
    """Which of many processes this is: workers of loaders, and ranks that no launcher numbered."""
    workers = sys.modules.get("torch.utils.data._utils.worker")
    if workers is not None:
        _patches.replace(workers, "_worker_loop", functools.partial(loader_process, begin=_hook_fetchers))
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available():
        return
    if distributed.is_initialized():
        _tell_rank(distributed)

    def make(function: Any) -> Any:
        @functools.wraps(function)
        def wrapped(*args: Any, **words: Any) -> Any:
            result = function(*args, **words)
            _tell_rank(distributed)
            return result
        return wrapped

    _patches.replace(distributed, "init_process_group", make)


def _hook_optimizer(torch: Any) -> None:
    optimizers = sys.modules.get("torch.optim.optimizer")
    if optimizers is None:
        return

    def before(optimizer: Any, _args: Any, _words: Any) -> None:
        calls.begin_text(f"Optimizer.step#{type(optimizer).__name__}.step", _native.OPTIMIZER)

    def after(optimizer: Any, _args: Any, _words: Any) -> None:
        calls.end()
        steps.optimizer_stepped(optimizer)

    _handles.append(optimizers.register_optimizer_step_pre_hook(before))
    _handles.append(optimizers.register_optimizer_step_post_hook(after))
    _patches.replace(optimizers.Optimizer, "zero_grad",
                     ranged("Optimizer.zero_grad", _native.OPTIMIZER))


def _follow_optimizer(torch: Any) -> None:
    """Reports the end of each optimizer step. PyTorch calls its post hooks inside the optimizer's range, so the step is
    reported when that range has ended; otherwise the range would overlap two steps."""
    optimizers = sys.modules.get("torch.optim.optimizer")
    if optimizers is None:
        return
    ended = threading.local()

    def stepped(optimizer: Any, _args: Any, _words: Any) -> None:
        ended.optimizer = optimizer

    def make(function: Any) -> Any:
        @functools.wraps(function)
        def wrapped(*args: Any) -> Any:
            result = function(*args)
            optimizer, ended.optimizer = getattr(ended, "optimizer", None), None
            if optimizer is not None:
                steps.optimizer_stepped(optimizer)
            return result
        return wrapped

    _handles.append(optimizers.register_optimizer_step_post_hook(stepped))
    _patches.replace(torch.autograd.profiler.record_function, "__exit__", make)


def _hook_dispatch(wants: Wants) -> None:
    """Operators through a dispatch mode: always works, but costs a few microseconds each."""
    global _mode
    from torch.utils._python_dispatch import TorchDispatchMode

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if not calls.is_sampled():
                return func(*args, **(kwargs or {}))
            name = getattr(func, "_schema", None)
            shapes, kinds = shapes_of(args) if wants.shapes else (None, None)
            calls.op_begin(name.name if name is not None else str(func), 0, shapes, kinds, -1.0, -1, -1)
            try:
                return func(*args, **(kwargs or {}))
            finally:
                calls.end()

    _mode = Mode()
    _mode.__enter__()


def _has_itt(torch: Any) -> bool:
    """ITT looks for its listener at the first call."""
    try:
        torch.profiler.itt.range_push("tacho")
        torch.profiler.itt.range_pop()
    except Exception:  # a build without it
        return False
    return calls.itt() > 0


def _hook_marks(torch: Any, wants: Wants) -> str:
    """Operators as NVTX or ITT ranges, if the recorder has one of the slots; returns its name."""
    global _mode
    profiler = torch.autograd.profiler
    if torch.cuda.is_available() and os.environ.get("NVTX_INJECTION64_PATH", "").endswith("libtacho.so"):
        name, _mode = "NVTX", profiler.emit_nvtx(record_shapes=wants.shapes)
    elif _has_itt(torch):
        name, _mode = "ITT", profiler.emit_itt(record_shapes=False)
    else:
        return ""
    _mode.__enter__()
    return name


def install(wants: Wants) -> None:
    import torch
    if wants.loader_only:
        _hook_loader(torch, False)
        return
    asked = _native.TORCH_OPS | _native.TORCH_LINKS
    asked |= _native.TORCH_SHAPES if wants.shapes else 0
    asked |= _native.TORCH_FLOPS if wants.flops else 0
    asked |= _native.TORCH_MEMORY if wants.memory or wants.sample_every else 0
    asked |= _native.TORCH_STEPS if steps.automatic else 0
    got = calls.torch(asked)
    steps.on_marked(lambda: calls.torch(asked & ~_native.TORCH_STEPS))
    _hook_modules(torch)
    _hook_backward(torch)
    _hook_processes(torch)
    _hook_pinning()
    if wants.steps and got & _native.TORCH_OPS:
        _follow_optimizer(torch)
    if not got & _native.TORCH_OPS:
        marks = _hook_marks(torch, wants)
        _native.note(f"PyTorch: libtorch did not answer; operators come from {marks or 'a dispatch mode'},"
                     " without links between forward and backward")
        _hook_loader(torch, not marks)
        if not marks:
            _hook_optimizer(torch)
            _hook_dispatch(wants)
        return
    _hook_loader(torch, False)
    for bit, what in ((_native.TORCH_SHAPES, "shapes"), (_native.TORCH_MEMORY, "memory"),
                      (_native.TORCH_LINKS, "links between forward and backward")):
        if asked & ~got & bit:
            _native.note(f"PyTorch: no {what}: unknown build of libtorch")


def sample(is_on: bool) -> None:
    """Operators, which the recorder takes out itself, and modules; ranges of backward passes, loaders and
    optimizers are few and stay."""
    if is_on:
        _modules.resume()
    else:
        _modules.suspend()


def remove() -> None:
    global _mode
    calls.torch(0)
    _modules.resume()
    _modules.undo()
    _patches.undo()
    while _handles:
        _handles.pop().remove()
    if _mode is not None:
        mode, _mode = _mode, None
        mode.__exit__(None, None, None)
