"""MegEngine: modules, the backward pass, optimizers and loaders by their methods; operators where
Python applies them (`apply` and the functions NAME_cpp, of which every module has its own reference).
Blocks of its allocators are told by its libraries (tacho_megengine); where they do not, the allocators'
totals after operators."""
import sys
from typing import Any, List, Tuple

from .. import _native
from .._native import calls
from . import Wants
from .patches import Modules, Patches, loader, loader_process, operator, ranged, replace_in_all, totals
from .steps import optimizer_stepped

_patches = Patches()


def _name_of(module: Any) -> str:
    """The attribute's name, as MegEngine draws it; of the outermost module its class."""
    return getattr(module, "name", None) or getattr(module, "_short_name", None) or type(module).__name__


def _totals(megengine: Any) -> List[Tuple[str, float]]:
    device = megengine.get_default_device()
    return [(f"{device} allocated memory", float(megengine.get_allocated_memory(device))),
            (f"{device} reserved memory", float(megengine.get_reserved_memory(device)))]


def _hook_memory(megengine: Any) -> bool:
    """Each block; false when this MegEngine does not tell them."""
    from megengine.core._imperative_rt.common import DeviceType
    number = "".join(c for c in str(megengine.get_default_device()) if c.isdigit())
    return calls.megengine([int(DeviceType.CPU), int(DeviceType.MULTITHREAD)], int(number or 0))


def _hook_operators(megengine: Any, wants: Wants) -> None:
    from megengine.core._imperative_rt import core2
    if wants.memory and _hook_memory(megengine):
        wants = wants._replace(memory=False)
    original = core2.apply
    after = totals(wants, lambda: _totals(megengine), "MegEngine")
    make = operator(lambda op: type(op).__name__, wants.shapes, skip=1, after=after)
    for name, module in list(sys.modules.items()):
        if not name.startswith("megengine.") or name.startswith("megengine.core._imperative_rt"):
            continue
        if getattr(module, "apply", None) is original:
            _patches.replace(module, "apply", make)
        for function in [n for n, f in vars(module).items() if n.endswith("_cpp") and callable(f)]:
            word = function.strip("_")[:-len("_cpp")]
            _patches.replace(module, function,
                             operator(lambda _first, word=word: word, wants.shapes, after=after))  # type: ignore


def _hook_loaders() -> None:
    from megengine.data import dataloader
    make = loader("DataLoader")
    _patches.replace(dataloader, "_worker_loop", loader_process)
    for value in list(vars(dataloader).values()):
        if isinstance(value, type) and value.__name__.endswith("DataLoaderIter"):
            _patches.replace(value, "__next__", make)


def install(wants: Wants) -> None:
    import megengine
    import megengine.autodiff
    import megengine.module
    import megengine.optimizer
    if "megengine.data" in sys.modules:
        _hook_loaders()
    if wants.loader_only:
        return
    modules = Modules(_name_of)
    replace_in_all(_patches, megengine.module.Module, "__call__", modules.wrap)
    _patches.replace(megengine.autodiff.GradManager, "backward", ranged("backward", _native.BACKWARD))
    for method, after in (("step", optimizer_stepped), ("clear_grad", None)):
        replace_in_all(_patches, megengine.optimizer.Optimizer, method,
                       ranged(lambda o, m=method: f"{type(o).__name__}.{m}", _native.OPTIMIZER, after))  # type: ignore
    _hook_operators(megengine, wants)


def remove() -> None:
    _patches.undo()
    calls.megengine(None, 0)
