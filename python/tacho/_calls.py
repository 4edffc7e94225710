"""The calls of libtacho.so through ctypes: what _tacho.c offers, for interpreters that cannot
load it (PyPy, CPython without its lock, a package built without a compiler).

Names, arguments and results are those of the extension; include/tacho/abi.h explains each call.
"""
import ctypes
import os
import sys
import threading
from ctypes import (POINTER, Structure, byref, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t,
                    c_uint, c_uint32, c_uint64, c_void_p, create_string_buffer, sizeof)
from typing import Any, Callable, Dict, Optional, Sequence

from . import _library
from ._words import FORWARD, MODULE, PYTHON, WORK_GIVEN, WORK_NONE

MOST_TENSORS, MOST_DIMS = 24, 8


class _Schedule(Structure):
    _fields_ = [(n, c_uint32) for n in ("wait", "warmup", "active", "repeat", "skip_first")]


class _Options(Structure):
    _fields_ = [("size", c_size_t), ("path", c_char_p), ("worker", c_char_p), ("schedule", _Schedule),
                ("on_ready", c_void_p), ("context", c_void_p), ("shapes", c_int), ("memory", c_int),
                ("stacks", c_int), ("device", c_int), ("memory_every", c_uint32),
                ("ring_bytes", c_uint64), ("flight_seconds", c_double), ("follow_children", c_int),
                ("listen", c_int), ("first_step", c_uint64), ("trigger", c_char_p), ("metrics", c_char_p),
                ("sample_every", c_uint32)]


class _Tensor(Structure):
    _fields_ = [("type", c_int), ("n_dims", c_uint32), ("dims", POINTER(c_int64))]


class _Op(Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("phase", c_int), ("inputs", POINTER(_Tensor)),
                ("n_inputs", c_uint32), ("output", POINTER(_Tensor)), ("work", c_int),
                ("flops", c_double), ("bytes", c_int64), ("sequence", c_int64)]


class _Block(Structure):
    _fields_ = [("size", c_size_t), ("address", c_uint64), ("bytes", c_int64), ("device", c_int32),
                ("allocated", c_int64), ("reserved", c_int64)]


class _Site(Structure):
    _fields_ = [("name", c_char_p), ("id", c_uint32), ("kind", c_uint32)]


def _open() -> Any:
    try:  # tacho record has loaded it already: there shall be one recorder
        return ctypes.CDLL("libtacho.so", mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
    except OSError:
        return ctypes.CDLL(_library.path())


_lib = _open()
_lib.tacho_path.restype = c_size_t
_lib.tacho_error.restype = c_char_p
_lib.tacho_name.restype = c_uint32
_lib.tacho_torch.restype = _lib.tacho_trial_begin.restype = c_uint
_lib.tacho_counter.argtypes = [c_char_p, c_double]
_lib.tacho_queue.argtypes = [c_char_p, c_int64, c_int64]
_lib.tacho_flow_begin.argtypes = _lib.tacho_flow_end.argtypes = [c_char_p, c_uint64]
_lib.tacho_rank.argtypes = [c_int64, c_int64]
_lib.tacho_begin_id.argtypes = [c_uint32, c_int]
_lib.tacho_begin_text.argtypes = [c_char_p, c_int]


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def start(path: Optional[str], worker: Optional[str], shapes: bool = False, memory: bool = False,
          device: bool = False, memory_every: int = 0, ring_bytes: int = 0, flight_seconds: float = 0.0,
          follow_children: bool = False, listen: bool = False, first_step: int = 0,
          trigger: Optional[str] = None, metrics: Optional[str] = None, sample_every: int = 0) -> int:
    options = _Options(size=sizeof(_Options), path=os.fsencode(path) if path else None,
                       worker=_bytes(worker) if worker else None, shapes=shapes, memory=memory,
                       device=device, memory_every=memory_every, ring_bytes=ring_bytes,
                       flight_seconds=flight_seconds, follow_children=follow_children, listen=listen,
                       first_step=first_step, trigger=_bytes(trigger) if trigger else None,
                       metrics=os.fsencode(metrics) if metrics else None, sample_every=sample_every)
    return _lib.tacho_start(byref(options))


def stop() -> int:
    return _lib.tacho_stop()


def step() -> None:
    _lib.tacho_step()


def begin_steps() -> None:
    _lib.tacho_begin_steps()


def is_recording() -> bool:
    return bool(_lib.tacho_is_recording())


def takes_event() -> bool:
    return bool(_lib.tacho_takes_event())


def is_sampled() -> bool:
    return bool(_lib.tacho_is_sampled())


def path() -> str:
    text = create_string_buffer(4096)
    _lib.tacho_path(text, c_size_t(len(text)))
    return os.fsdecode(text.value)


def error_text() -> str:
    return os.fsdecode(_lib.tacho_error())


def alarm(rule: str, why: str) -> int:
    return _lib.tacho_alarm(_bytes(rule), _bytes(why))


def trigger(why: str) -> int:
    return _lib.tacho_trigger(_bytes(why))


def name(text: str) -> int:
    return _lib.tacho_name(_bytes(text))


def begin(name_id: int, kind: int) -> None:
    _lib.tacho_begin_id(name_id, kind)


def begin_text(text: str, kind: int) -> None:
    _lib.tacho_begin_text(_bytes(text), kind)


def end() -> None:
    _lib.tacho_end_range()


_local = threading.local()


def end_frame(name_id: int) -> None:
    _lib.tacho_site_end(byref(_Site(b"", name_id, PYTHON)))


def module_begin(name_id: int, forward: int) -> int:
    """The number of ranges opened: the outermost module of a thread is also the forward pass."""
    depth = getattr(_local, "depth", 0)
    if depth == 0:
        begin(forward, FORWARD)
    begin(name_id, MODULE)
    _local.depth = depth + 1
    return 2 if depth == 0 else 1


def module_end(opened: int) -> None:
    _local.depth = max(getattr(_local, "depth", 1) - 1, 0)
    for _ in range(opened):
        end()


def mark(text: str) -> None:
    _lib.tacho_mark(_bytes(text))


def op_begin(text: str, phase: int, shapes: Optional[Sequence[Sequence[int]]], types: Any,
             flops: float, n_bytes: int, sequence: int) -> None:
    shapes = shapes or ()
    n = min(len(shapes), MOST_TENSORS)
    inputs = (_Tensor * max(n, 1))()
    for i in range(n):
        dims = list(shapes[i])[:MOST_DIMS]
        inputs[i] = _Tensor(int(types[i]), len(dims), (c_int64 * max(len(dims), 1))(*dims))
    op = _Op(size=sizeof(_Op), name=_bytes(text), phase=phase, inputs=inputs, n_inputs=n,
             work=WORK_GIVEN if flops >= 0 or n_bytes >= 0 else WORK_NONE, flops=flops, bytes=n_bytes, sequence=sequence)
    _lib.tacho_op_begin(byref(op))


def _block(address: int, n_bytes: int, device: int = -1, allocated: int = -1,
           reserved: int = -1) -> Any:
    return byref(_Block(sizeof(_Block), address, n_bytes, device, allocated, reserved))


def alloc(*words: int) -> None:
    _lib.tacho_alloc(_block(*words))


def release(*words: int) -> None:
    _lib.tacho_release(_block(*words))


def counter(text: str, value: float) -> None:
    _lib.tacho_counter(_bytes(text), value)


def queue(text: str, size: int, capacity: int) -> None:
    _lib.tacho_queue(_bytes(text), size, capacity)


def flow(text: str, number: int, ends: bool) -> None:
    (_lib.tacho_flow_end if ends else _lib.tacho_flow_begin)(_bytes(text), number)


def meta(key: str, value: str) -> None:
    _lib.tacho_meta(_bytes(key), _bytes(value))


def note(text: str) -> None:
    _lib.tacho_note(_bytes(text))


def rank(number: int, world: int) -> None:
    _lib.tacho_rank(number, world)


def name_thread(text: str) -> None:
    _lib.tacho_name_thread(_bytes(text))


def torch(want: int) -> int:
    return _lib.tacho_torch(c_uint(want))


def paddle(before: Optional[Sequence[Sequence[int]]]) -> bool:
    """Blocks of Paddle's allocators; before: (device, allocated, reserved) of each. None: stop."""
    if before is None:
        return bool(_lib.tacho_paddle(None, c_size_t(0)))
    blocks = (_Block * max(len(before), 1))(*(_Block(sizeof(_Block), 0, 0, *each) for each in before))
    return bool(_lib.tacho_paddle(blocks, c_size_t(len(before))))


def megengine(host_kinds: Optional[Sequence[int]], device: int) -> bool:
    """Blocks of MegEngine's allocators; host_kinds: which device kinds are the host. None: stop."""
    if host_kinds is None:
        return bool(_lib.tacho_megengine(None, c_size_t(0), 0))
    return bool(_lib.tacho_megengine((c_int * len(host_kinds))(*host_kinds), c_size_t(len(host_kinds)), device))


def cost(kind: int, ns: int, n: int) -> None:
    _lib.tacho_cost(kind, c_uint64(ns), c_uint64(n))


def trial_begin() -> int:
    return _lib.tacho_trial_begin()


def trial_end() -> None:
    _lib.tacho_trial_end()


def measure() -> None:
    _lib.tacho_measure()


def itt() -> int:
    return _lib.tacho_itt()


# ---- Python functions ----

_ids: Dict[Any, int] = {}
_name_of: Callable[[Any], Optional[str]] = lambda code: None


def _id_of(code: Any) -> int:
    if code not in _ids:
        text = _name_of(code)
        _ids[code] = name(text) if text else 0
    return _ids[code]


def enter(code: Any, text: str) -> None:
    _ids[code] = name(text)
    begin(_ids[code], PYTHON)


def forget(code: Any) -> None:
    _ids.pop(code, None)


def leave(code: Any) -> None:
    number = _ids.get(code, 0)
    if number:
        end_frame(number)


def _on_event(frame: Any, event: str, _argument: Any) -> None:
    if event == "call":
        number = _id_of(frame.f_code)
        if number:
            begin(number, PYTHON)
    elif event == "return":
        leave(frame.f_code)


def trace_python(name_of: Optional[Callable[[Any], Optional[str]]]) -> bool:
    global _name_of
    _name_of = name_of or _name_of
    tracer = _on_event if name_of else None
    threading.setprofile(tracer)  # type: ignore[arg-type]
    sys.setprofile(tracer)
    return True
