"""The recorder's calls for JAX (include/tacho/abi.h), through ctypes: none of them is called often.
Watched functions call Python straight from libtacho.so."""
import ctypes
import sys
from typing import Any, Callable

from .. import _native

_lib = ctypes.PyDLL(_native.loaded_path())  # keeps the interpreter's lock
_lib.tacho_jax_watch.argtypes = [ctypes.py_object, ctypes.c_int]
_lib.tacho_jax_listen.argtypes = [ctypes.py_object, ctypes.py_object]
_unlocked = ctypes.CDLL(_native.loaded_path())

# Objects of other interpreters look different (no lock, debugging builds).
CAN_WATCH = sys.implementation.name == "cpython" and "t" not in sys.abiflags and not hasattr(sys, "getobjects")


def watch(function: Any, on: bool = True) -> bool:
    return CAN_WATCH and bool(_lib.tacho_jax_watch(function, int(on)))


def listen(begin: Callable[[Any], None], end: Callable[[Any], None]) -> None:
    _lib.tacho_jax_listen(begin, end)


def finish() -> None:
    """Ends the recording, also one that `tacho record` started."""
    _unlocked.tacho_finish()


def leave_gpu(leave: bool) -> None:
    _unlocked.tacho_leave_gpu(int(leave))
