"""Callbacks of trainers, one line each; a trainer's package is imported only when its callback is used.

    Trainer(callbacks=[tacho.LightningCallback("runs/x")])              # Lightning
    Trainer(…, callbacks=[tacho.HFTrainerCallback("runs/x")])           # transformers
    model.fit(…, callbacks=[tacho.KerasCallback("runs/x")])             # Keras
    Accelerator(log_with=tacho.AccelerateTracker("runs/x"))             # Accelerate
    model.train(…, callbacks=[tacho.StopAtStep(10, 20)])                # MindSpore

Each takes path, wait, warmup, active, repeat and every parameter of tacho.profile, records `active` steps after a
warm-up, names epochs, validation and checkpoints, and prints the verdict when the training ends. Every rank records;
rank 0 prints. MindSpore's StopAtStep has the parameters that MindSpore gives it.
"""
from importlib import import_module
from typing import TYPE_CHECKING, Any, List

from .mindspore import StopAtStep

if TYPE_CHECKING:
    from .accelerate import AccelerateTracker  # noqa: F401
    from .huggingface import HFTrainerCallback  # noqa: F401
    from .keras import KerasCallback  # noqa: F401
    from .lightning import LightningCallback  # noqa: F401

# Class: its module here, and the package it needs.
LAZY = {"LightningCallback": ("lightning", "lightning"), "HFTrainerCallback": ("huggingface", "transformers"),
        "KerasCallback": ("keras", "keras"), "AccelerateTracker": ("accelerate", "accelerate")}
__all__ = ["StopAtStep"]  # the others only by name: not every package is installed


def __getattr__(name: str) -> Any:
    if name not in LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, package = LAZY[name]
    try:
        found = getattr(import_module(f".{module}", __name__), name)
    except ModuleNotFoundError as why:
        raise ImportError(f"tacho.{name} needs the package {package}: {why}", name=why.name) from why
    globals()[name] = found
    return found


def __dir__() -> List[str]:
    return sorted({*globals(), *LAZY})
