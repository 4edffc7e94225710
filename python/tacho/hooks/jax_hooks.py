"""JAX: calls of compiled functions (rec_jax.c), compilations, waits and steps here; what the compiled
programs do on a device comes from XLA's own profiler (xla_profile.py).

A step ends when the function returns that took longest to compile, among those that are called again and
again: the training step, or the model of an inference loop. A program that marks its steps
(jax.profiler.StepTraceAnnotation, tacho's step()) has those.
"""
import atexit
import functools
import gc
import sys
import threading
import time
import weakref
from types import CodeType, FrameType
from typing import Any, Callable, Dict, List, Optional, Tuple

from .. import _native
from .._native import calls
from . import Wants, frames, jax_calls, steps, withdraw, xla_profile
from .patches import Patches

FIRST_WITH_RUNS = (0, 7, 0)  # XLA numbers the runs of a program on the CPU

_patches = Patches()
_wants = Wants()
_is_profiled = False  # by XLA
_is_annotated = False  # the program marks its steps with StepTraceAnnotation
_local = threading.local()


class Function:
    """A compiled function of the program."""

    def __init__(self, function: Any, name: str) -> None:
        self.object = weakref.ref(function)
        self.name_id = calls.name(name)
        self.n_calls = 0
        self.first_seconds = 0.0  # its first call: traces and compiles


_functions: Dict[int, Function] = {}
_step_function: Optional[Function] = None
_lines: Dict[Tuple[int, int], int] = {}  # (id of a code object, line) -> number of the name
_codes: Dict[int, CodeType] = {}
MOST_LINES = 65536


# ---- which functions ----

def _bare(name: str) -> str:
    """train_step of jit(train_step)."""
    return name[name.index("(") + 1:-1] if name.endswith(")") and "(" in name else name


def _of_program(fun: Any, name: str) -> str:
    """The name of a function of the program; empty for those of JAX, which compiles one for each operation
    outside of a compiled function."""
    module = getattr(fun, "__module__", None) or ""
    if module == "jax._src.pmap":  # a function of JAX around the program's
        inner = getattr(fun, "__wrapped__", fun)
        cells = dict(zip(inner.__code__.co_freevars, inner.__closure__ or ()))
        return getattr(getattr(cells.get("fun"), "cell_contents", None), "__name__", "") or "pmap"
    return "" if module.split(".")[0] in ("jax", "jaxlib") else name


def _watch(function: Any, fun: Any, name: str) -> None:
    name = _of_program(fun, name)
    if not name or not jax_calls.watch(function):
        return
    if len(_functions) > 4096:  # a program that compiles without end
        for key in [k for k, f in _functions.items() if f.object() is None]:
            del _functions[key]
    _functions[id(function)] = Function(function, name)


def _watch_new(make: Any) -> Any:
    """Around jaxlib's constructors: pjit(name, fun, …), without a fun when the program compiled ahead of time,
    and pmap(fun, …)."""
    @functools.wraps(make)
    def wrapped(*args: Any, **words: Any) -> Any:
        function = make(*args, **words)
        try:
            fun = args[1] if isinstance(args[0], str) else args[0]
            _watch(function, fun, _bare(args[0] if isinstance(args[0], str) else getattr(fun, "__name__", "pmap")))
        except Exception as why:
            _native.note(f"JAX: a compiled function is not watched ({type(why).__name__}: {why})")
        return function
    return wrapped


def _watch_old(kinds: Tuple[type, ...]) -> None:
    """Functions that were compiled before tacho came."""
    for function in gc.get_objects():
        if type(function) in kinds:
            fun = getattr(function, "__wrapped__", None)
            _watch(function, fun, getattr(fun, "__name__", "") or "function")


def _constructors() -> List[Tuple[Any, str, str]]:
    """(module, name, class of what it makes)"""
    import jax._src.pjit as pjit
    jaxlib = getattr(pjit, "_jax", None) or pjit.xc._xla
    found = [(jaxlib, "pjit", "PjitFunction")]
    for owner in (getattr(jaxlib, "pmap_lib", None), jaxlib):
        if owner is not None and hasattr(owner, "PmapFunction"):
            found.append((owner, "pmap", "PmapFunction"))
            break
    return found


# ---- calls ----

def _is_of_library(code: CodeType) -> bool:
    return "-packages/" in code.co_filename or code.co_filename.startswith("<frozen")


def _name_line(frame: FrameType) -> int:
    """The line of the program, not of a library, that makes the call."""
    around: Optional[FrameType] = frame
    while around is not None and _is_of_library(around.f_code):
        around = around.f_back
    shown = around or frame
    text = frames.name_of(shown.f_code, shown.f_lineno)
    return calls.name(text) if text else 0


def _open_line(frame: FrameType) -> int:
    """Opens the range of the line that calls; its number, 0: none."""
    code, line = frame.f_code, frame.f_lineno
    number = _lines.get((id(code), line))  # by id: hashing a code object takes longer than all else here
    if number is None:
        number = _name_line(frame)
        if not _is_of_library(code) and len(_lines) < MOST_LINES:  # callers of a library differ
            _codes[id(code)] = code  # kept: its id stays its own
            _lines[id(code), line] = number
    if number:
        calls.begin(number, _native.PYTHON)
    return number


def _begin(function: Any) -> None:
    """libtacho calls this before an outermost call of a watched function…"""
    _local.call = None
    entry = _functions.get(id(function))
    if entry is None:
        return
    try:
        window = xla_profile.window()
        _local.compiled = False
        if window is not None:
            window.mark_thread()
        _choose_step(entry)
        is_on = calls.takes_event()
        line = _open_line(sys._getframe(1)) if is_on and not _wants.stacks else 0
        if is_on and window is None:  # else XLA's profiler draws it
            calls.begin(entry.name_id, _native.PLAIN)
        _local.call = (entry, is_on and window is None, line, time.monotonic())
    except Exception as why:
        _native.note(f"JAX: calls: {type(why).__name__}: {why}")


def _end(_function: Any) -> None:
    """… and this after it."""
    call, _local.call = _local.call, None
    if call is None:
        return
    entry, has_range, line, began = call
    try:
        if has_range:
            calls.end()
        if line:
            calls.end_frame(line)
        entry.n_calls += 1
        if entry.n_calls == 1:
            entry.first_seconds = time.monotonic() - began
        if entry is _step_function and steps.automatic:
            calls.step()
            _after_step(_local.compiled)
    except Exception as why:
        _native.note(f"JAX: calls: {type(why).__name__}: {why}")


# ---- steps ----

def _choose_step(entry: Function) -> None:
    """A function takes over when the one so far was called only once, or compiled faster."""
    global _step_function
    now = _step_function
    if entry is now or not steps.automatic:
        return
    if now is None or now.n_calls < 2 or (entry.n_calls > 0 and entry.first_seconds > now.first_seconds):
        _step_function = entry
        calls.begin_steps()


def _after_step(compiled: bool) -> None:
    window = xla_profile.window()
    if window is None:
        # The first of the steps that were chosen; starting the profiler is not part of it.
        if _is_profiled and calls.is_recording() and xla_profile.begin(_wants.chosen):
            calls.begin_steps()
    elif not calls.is_recording():  # the last of them
        xla_profile.end()
    elif window.step_ended(compiled):
        xla_profile.close(f"JAX: XLA's profiler keeps its events in memory, so tacho recorded {window.steps} steps "
                          f"after the warm-up ({window.seconds:.1f} s); --steps A..B records others")


def _mark_steps(cls: Any) -> None:
    """StepTraceAnnotation: steps of the program's own, in place of those found here. Where tacho's profiler
    in the program marks them, XLA's profile has these, too."""
    init, leave = cls.__init__, cls.__exit__

    def __init__(self: Any, *args: Any, **words: Any) -> None:
        global _is_annotated
        if steps.automatic:
            _is_annotated = True
            steps.marked_by_the_program()
            calls.begin_steps()
        init(self, *args, **words)

    def __exit__(self: Any, *why: Any) -> Any:
        result = leave(self, *why)
        if _is_annotated:
            calls.step()
            compiled, _local.compiled = getattr(_local, "compiled", False), False
            _after_step(compiled)
        return result

    _patches.replace(cls, "__init__", lambda _original: __init__)
    _patches.add(cls, "__exit__", __exit__)


# ---- compilation ----

PHASES = (("trace", "trace"), ("mlir", "lower"), ("backend_compile", "compile"))


class _Compiling:
    """What JAX times while it compiles: tracing, lowering, compiling, each under the function's name."""

    def __init__(self, timed: Any, words: Dict[str, Any]) -> None:
        event = str(words.get("event") or "")
        self._timed = timed
        self._phase = next((word for key, word in PHASES if key in event), "")
        self._name = _bare(str(words.get("fun_name") or ""))
        self._is_open = False

    def __enter__(self) -> Any:
        depth = getattr(_local, "compiles", 0)
        _local.compiles, _local.compiled = depth + 1, True
        if depth == 0:
            window = xla_profile.window()
            if window is not None:
                window.compiles(True)
        # Functions that are traced inside of another one are part of it.
        self._is_open = bool(self._phase) and (depth == 0 or self._phase != "trace") and calls.takes_event()
        if self._is_open:
            calls.begin_text(f"jax.{self._phase}({self._name})", _native.PLAIN)
        return self._timed.__enter__()

    def __exit__(self, *why: Any) -> Any:
        try:
            return self._timed.__exit__(*why)
        finally:
            _local.compiles -= 1
            if self._is_open:
                calls.end()
            window = xla_profile.window()
            if _local.compiles == 0 and window is not None:
                window.compiles(False)


def _hook_compilation() -> bool:
    from jax._src import dispatch

    def make(original: Any) -> Any:
        @functools.wraps(original)
        def log_elapsed_time(*args: Any, **words: Any) -> Any:
            named = {**dict(zip(("fmt", "fun_name", "event"), args)), **words}
            return _Compiling(original(*args, **words), named)
        return log_elapsed_time

    return _patches.replace(dispatch, "log_elapsed_time", make)


# ---- waits ----

def _waits(name: str, drawn_by_xla: bool) -> Callable[[Any], Any]:
    """A function in which the host waits for a device."""
    number = calls.name(name)

    def make(function: Any) -> Any:
        @functools.wraps(function, assigned=("__name__", "__doc__"))  # jaxlib's methods have no other texts
        def wrapped(*args: Any, **words: Any) -> Any:
            skip = (getattr(_local, "waits", False) or xla_profile.is_changing
                    or (drawn_by_xla and xla_profile.window() is not None) or not calls.is_recording())
            if skip:
                return function(*args, **words)
            _local.waits = True
            line = 0 if _wants.stacks else _open_line(sys._getframe(1))
            calls.begin(number, _native.RUNTIME)
            try:
                return function(*args, **words)
            finally:
                _local.waits = False
                calls.end()
                if line:
                    calls.end_frame(line)
        return wrapped
    return make


def _hook_waits(jax: Any) -> None:
    from jax._src import api, array
    wait = _waits("jax.block_until_ready", drawn_by_xla=False)
    for owner, name in ((jax, "block_until_ready"), (api, "block_until_ready"),
                        (array.ArrayImpl, "block_until_ready")):
        _patches.replace(owner, name, wait)
    read = _waits("np.asarray(jax.Array)", drawn_by_xla=True)
    _patches.replace(array.ArrayImpl, "_value", lambda value: property(read(value.fget)))


# ---- the first use of a device ----

def _hook_backends() -> None:
    from jax._src import xla_bridge

    def make(original: Any) -> Any:
        @functools.wraps(original)
        def backends(*args: Any, **words: Any) -> Any:
            if xla_bridge.backends_are_initialized() or not _is_profiled:
                return original(*args, **words)
            jax_calls.leave_gpu(True)  # CUPTI is XLA's from the moment on that CUDA is there
            result = original(*args, **words)
            _has_devices()
            return result
        return backends

    _patches.replace(xla_bridge, "backends", make)


def _backend() -> Any:
    """The backend of programs that name none. jax.default_backend() may be what is asking for the backends now, and must
    not be called inside of itself."""
    import jax
    from jax._src import xla_bridge
    return getattr(xla_bridge, "_default_backend", None) or jax.devices()[0].client


def _takes_gpu() -> bool:
    """XLA's profiler uses CUPTI wherever JAX could use a GPU, also for programs that run on the CPU."""
    from jax._src import xla_bridge
    return _is_profiled and bool({"gpu", "cuda", "rocm"} & set(getattr(xla_bridge, "_backend_factories", ("cuda",))))


def _has_devices() -> None:
    """JAX knows its devices."""
    import jax
    try:
        backend = _backend()
        jax_calls.leave_gpu(_takes_gpu())
        if _is_profiled and backend.platform == "cpu" and jax.__version_info__ < FIRST_WITH_RUNS:
            _native.note("JAX before 0.7 tells too little of what runs on a CPU: operations are not device work, and "
                         "a step is as long as its calls on the host")
        n_processes = 1 + max(d.process_index for d in backend.devices())
        if n_processes > 1:
            calls.rank(backend.process_index(), n_processes)
        if _is_profiled and calls.is_recording():
            xla_profile.begin(_wants.chosen)
    except Exception as why:
        _native.note(f"JAX: {type(why).__name__}: {why}")


# ---- in and out ----

def install(wants: Wants) -> None:
    global _wants, _is_profiled
    import jax
    from jax._src import xla_bridge
    _wants = wants
    if wants.loader_only:
        return
    _is_profiled = not wants.endless
    calls.meta("framework", "JAX")
    calls.meta("version", jax.__version__)
    made = [(owner, name, getattr(owner, cls)) for owner, name, cls in _constructors()]
    for owner, name, _ in made:
        _patches.replace(owner, name, _watch_new)
    if xla_bridge.backends_are_initialized() and _takes_gpu():
        jax_calls.leave_gpu(True)  # before the recording takes CUPTI: XLA's profiler cannot share it
    if wants.chosen or xla_bridge.backends_are_initialized():
        _watch_old(tuple(cls for _, _, cls in made))
    if not jax_calls.CAN_WATCH:
        _native.note("JAX: this interpreter hides calls of compiled functions: mark steps with StepTraceAnnotation")
    jax_calls.listen(_begin, _end)
    _mark_steps(jax.profiler.StepTraceAnnotation)
    if not _hook_compilation():
        _native.note("JAX: compilations are not recorded: unknown version")
    _hook_waits(jax)
    _hook_backends()
    if _is_profiled:
        xla_profile.stand_in(lambda: withdraw("jax"))
    atexit.unregister(end)
    atexit.register(end)  # before JAX's own, which gives the devices back


def begin() -> None:
    """A recording has begun."""
    from jax._src import xla_bridge
    xla_profile.reset()
    if xla_bridge.backends_are_initialized():
        _has_devices()


def end() -> None:
    """A recording is about to end."""
    xla_profile.end()


def finish(path: str) -> None:
    """A recording has ended."""
    xla_profile.join(path)


def remove() -> None:
    global _step_function, _is_annotated
    xla_profile.end()
    xla_profile.step_aside()
    jax_calls.leave_gpu(False)
    for entry in list(_functions.values()):
        function = entry.object()
        if function is not None:
            jax_calls.watch(function, False)
    _functions.clear()
    _step_function, _is_annotated = None, False
    _patches.undo()
