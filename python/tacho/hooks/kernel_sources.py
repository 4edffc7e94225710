"""Where the kernels of compilers come from: file and line of each Triton kernel, and the operators that
torch.compile fused into it.

Nothing is asked while the program runs. When a recording ends, the modules that torch.compile wrote are
read (they name the operators in comments), and the kernels that modules define with @triton.jit are
looked at.
"""
import json
import os
import re
import sys
from typing import Any, Dict, Iterator, List, Optional

from .._native import calls

MOST_KERNELS = 4096
MOST_FACT = 24000  # bytes; a recording cuts longer ones
MOST_OPERATORS = 1000  # characters
MOST_BYTES = 16 << 20  # of one generated module

_PATH = re.compile(r"^\s*# kernel path: (\S+)")
_ORIGIN = re.compile(r"Original ATen: \[([^]]*)\]")
_DEFINED = re.compile(r"^(\w+) = async_compile\.\w+\(")
_RUN = re.compile(r"^\s+(\w+)\.run\(")

# What was found in each generated module. They never change.
_read: Dict[str, Dict[str, Dict[str, Any]]] = {}


def line_of(text: str, name: str) -> Optional[int]:
    """Where a function is defined; None when it is not."""
    found = re.search(rf"^def {re.escape(name)}\(", text, re.M)
    return text.count("\n", 0, found.start()) + 1 if found else None


def _text(path: str) -> str:
    if os.path.getsize(path) > MOST_BYTES:
        return ""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def generated(text: str, path: str) -> Dict[str, Dict[str, Any]]:
    """Kernels of a module that torch.compile wrote: {name: facts}."""
    found: Dict[str, Dict[str, Any]] = {}
    kernel_path, operators = path, ""
    for number, line in enumerate(text.splitlines(), 1):
        origin, told = _ORIGIN.search(line), _PATH.match(line)
        defined, run = _DEFINED.match(line), _RUN.match(line)
        if told:
            kernel_path = told[1]
        elif origin:
            operators = origin[1]
        elif defined:
            found[defined[1]] = {"name": defined[1], "file": kernel_path, "line": number,
                                 "operators": operators[:MOST_OPERATORS]}
            kernel_path, operators = path, ""
        elif run and run[1] in found:
            found[run[1]]["operators"] = found[run[1]]["operators"] or operators
            operators = ""
    for facts in found.values():
        if facts["file"] != path:
            facts["line"] = _line_in(facts["file"], facts["name"])
    return found


def _line_in(path: str, name: str) -> Optional[int]:
    try:
        text = _text(path)
    except OSError:  # it was compiled in another process, whose files are gone
        return None
    return line_of(text, name) or line_of(text, "triton_")


def _of_compile() -> Iterator[Dict[str, Any]]:
    cache = getattr(sys.modules.get("torch._inductor.codecache"), "PyCodeCache", None)
    for module in list(getattr(cache, "modules", None) or ()):
        path = getattr(module, "__file__", None)
        if not path:
            continue
        if path not in _read:
            try:
                _read[path] = generated(_text(path), path)
            except OSError:
                _read[path] = {}
        yield from _read[path].values()


def _function(kernel: Any, kind: type) -> Any:
    """The kernel itself below its tuners and heuristics."""
    for _ in range(8):
        if isinstance(kernel, kind):
            return kernel
        kernel = getattr(kernel, "fn", None)
    return None


def _of_triton() -> Iterator[Dict[str, Any]]:
    jit = sys.modules.get("triton.runtime.jit")
    kind, wrappers = getattr(jit, "JITFunction", None), getattr(jit, "KernelInterface", None)
    if kind is None or wrappers is None:
        return
    for module in list(sys.modules.values()):
        for value in list(getattr(module, "__dict__", {}).values()):
            if not issubclass(type(value), wrappers):  # isinstance would ask lazy modules for their class
                continue
            kernel = _function(value, kind)
            code = getattr(getattr(kernel, "fn", None), "__code__", None)
            if code is not None:
                yield {"name": kernel.fn.__name__, "file": code.co_filename, "line": code.co_firstlineno,
                       "operators": ""}


def collect() -> List[Dict[str, Any]]:
    found: Dict[str, Dict[str, Any]] = {}
    for source in (_of_triton(), _of_compile()):
        for facts in source:
            if len(found) < MOST_KERNELS:
                found[facts["name"]] = facts
    return list(found.values())


def write() -> None:
    """Into the recording that is about to end."""
    compilers = ("triton.runtime.jit", "torch._inductor.codecache")
    if not calls.is_recording() or not any(name in sys.modules for name in compilers):
        return
    batch: List[str] = []
    for text in map(json.dumps, collect()):
        if sum(map(len, batch)) + len(text) > MOST_FACT:
            calls.meta("kernelSources", f"[{','.join(batch)}]")
            batch = []
        batch.append(text)
    if batch:
        calls.meta("kernelSources", f"[{','.join(batch)}]")
