"""Tells the recorder that memory ran out, for the trigger `oom`.

PyTorch calls an observer when its CUDA allocator gives up, also when the program catches the error.
Any other exception of that kind is seen when it ends the program.
"""
import sys
from typing import Any

from .._native import calls

# In errors without a class: of CUDA, and of PyTorch's allocator for the host.
PHRASES = ("out of memory", "not enough memory", "can't allocate memory")
_installed = False


def _is_out_of_memory(kind: Any, error: Any) -> bool:
    if isinstance(error, MemoryError) or "OutOfMemory" in getattr(kind, "__name__", ""):
        return True
    return isinstance(error, RuntimeError) and any(words in str(error) for words in PHRASES)


def _see_exceptions() -> None:
    before = sys.excepthook

    def hook(kind: Any, error: Any, trace: Any) -> None:
        if _is_out_of_memory(kind, error):
            calls.alarm("oom", f"{kind.__name__}: {error}"[:400].replace("\n", " "))
        before(kind, error, trace)

    sys.excepthook = hook


def _on_cuda(device: int, wanted: int, total: int, free: int) -> None:
    calls.alarm("oom", f"device {device}: {wanted} bytes were asked for, {free} of {total} are free")


def watch_torch(torch: Any) -> None:
    """After torch is imported; a build without CUDA has no observer."""
    attach = getattr(getattr(torch, "_C", None), "_cuda_attach_out_of_memory_observer", None)
    if attach is not None and torch.cuda.is_available():
        attach(_on_cuda)


def wants(rules: str) -> bool:
    return "oom" in rules.split(",")


def install(rules: str) -> None:
    global _installed
    if _installed or not wants(rules):
        return
    _installed = True
    _see_exceptions()
    if "torch" in sys.modules:
        watch_torch(sys.modules["torch"])
