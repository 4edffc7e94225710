"""Handlers for a finished recording: the on_trace_ready functions of the frameworks."""
import os
import shutil
import socket
import time
from pathlib import Path
from typing import Any, Callable, Optional

from . import _program

Handler = Callable[[Any], Any]


def _worker(given: Optional[str]) -> str:
    return given or f"{socket.gethostname()}_{os.getpid()}"


def _new_name(folder: Path, stem: str, ending: str) -> Path:
    """A name that is still free: two spans may end in the same millisecond."""
    stamp = time.time_ns() // 1_000_000
    while (folder / f"{stem}.{stamp}{ending}").exists():
        stamp += 1
    return folder / f"{stem}.{stamp}{ending}"


def tensorboard_trace_handler(dir_name: str, worker_name: Optional[str] = None,
                              use_gzip: bool = False) -> Handler:
    """Writes DIR/WORKER.MILLISECONDS.pt.trace.json[.gz], one file per span, as
    torch.profiler.tensorboard_trace_handler does."""
    def write(profiler: Any) -> str:
        folder = Path(dir_name)
        folder.mkdir(parents=True, exist_ok=True)
        ending = ".pt.trace.json.gz" if use_gzip else ".pt.trace.json"
        return profiler.export_chrome_trace(str(_new_name(folder, _worker(worker_name), ending)))
    return write


def export_chrome_tracing(dir_name: str, worker_name: Optional[str] = None) -> Handler:
    """Writes DIR/WORKER_time_YYYY_MM_DD_HH_MM_SS_MILLISECONDS.paddle_trace.json, as
    paddle.profiler.export_chrome_tracing names it."""
    def write(profiler: Any) -> str:
        folder = Path(dir_name)
        folder.mkdir(parents=True, exist_ok=True)
        now = time.time_ns() // 1_000_000
        stem = time.strftime("%Y_%m_%d_%H_%M_%S", time.localtime(now // 1000))
        while True:
            to = folder / f"{_worker(worker_name)}_time_{stem}_{now % 1000:03d}.paddle_trace.json"
            if not to.exists():
                return profiler.export_chrome_trace(str(to))
            now += 1
    return write


def keep(dir_name: str) -> Handler:
    """Keeps the recording itself, *.tacho, in a folder."""
    def write(profiler: Any) -> str:
        folder = Path(dir_name)
        folder.mkdir(parents=True, exist_ok=True)
        source = Path(profiler.trace_path)
        to = folder / source.name
        if source.resolve() != to.resolve():
            shutil.copyfile(source, to)
        return str(to)
    return write


def write_as(trace: str, form: str, to: str) -> str:
    """Writes a recording in another format: chrome, memory_flow.svg, csv, stacks, speedscope, tacho."""
    if form == "chrome" and to.endswith(".gz"):
        plain = to[:-3]
        _program.export(trace, form, plain)
        _gzip(plain, to)
        return to
    return _program.export(trace, form, to)


def _gzip(source: str, to: str) -> None:
    import gzip
    with open(source, "rb") as plain, gzip.open(to, "wb", compresslevel=1) as packed:
        shutil.copyfileobj(plain, packed)
    os.unlink(source)
