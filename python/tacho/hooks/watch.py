"""Programs under `tacho record`: the recording begins with the interpreter, frameworks are hooked when they are
imported (imports.py), and a step ends with the first optimizer's step unless the program marks its own.

Most programs start others that no user means: tools, servers of multiprocessing. Those that are known
are left alone until they import a framework, and what another short one recorded is removed.
"""
import atexit
import os
import re
import sys
import time

from .. import _native
from .._native import calls
from . import Wants, alarms, begin_hooked, end, look_again, uses_framework
from . import begin as begin_recording
from . import imports, steps

SHORT_S = 0.5
# Words of commands: helpers of multiprocessing and torch.compile, tools, and ourselves.
_HELPERS = re.compile(r"multiprocessing\.(resource_tracker|forkserver|semaphore_tracker)|compile_worker"
                      r"|(^|/)(pip3?|conda|ensurepip|venv|virtualenv|tacho|ipython|jupyter)(\s|$)")


def wants_of(words: str) -> Wants:
    """What TACHO_WITH requests."""
    chosen = words.split(",")
    return Wants(shapes="shapes" in chosen, memory="memory" in chosen, stacks="stacks" in chosen,
                 chosen=bool(os.environ.get("TACHO_STEPS")),
                 endless=any(os.environ.get(name) for name in ("TACHO_FLIGHT", "TACHO_SAMPLE")))


_tracing = _measured = False


def once(since_ns: int) -> None:
    """What began then is done, and is not done again."""
    calls.cost(_native.COST_START, max(0, time.perf_counter_ns() - since_ns), 1)


def _ready(wants: Wants) -> None:
    global _tracing, _measured
    try:
        since = time.perf_counter_ns()
        look_again(wants)
        alarms.install(os.environ.get("TACHO_TRIGGER", ""))
        once(since)
        calls.begin_steps()  # the first event: now there is a recording
        since = time.perf_counter_ns()
        _native.write_notes()
        if not _tracing:
            _tracing = True
            if wants.stacks:
                from . import cost
                cost.before_frames()
            begin_recording(wants)
        else:
            begin_hooked()
        if uses_framework() and not _measured:
            _measured = True
            from . import cost
            cost.measure(wants, "torch" not in sys.modules)
        once(since)
    except Exception as why:
        _native.note(f"hooks: {type(why).__name__}: {why}")


def _command() -> str:
    try:
        with open("/proc/self/cmdline", encoding="utf-8", errors="replace") as file:
            return " ".join(file.read().split("\0")[1:4])
    except OSError:
        return ""


def _is_first() -> bool:
    """Is it what `tacho record` itself started?"""
    return os.environ.get("TACHO_STATUS", "").startswith(f"/proc/{os.getppid()}/")


def _marks_events() -> bool:
    """Does the program use this package itself?"""
    names = vars(sys.modules.get("__main__", sys)).values()
    return any(str(getattr(value, "__module__", None) or getattr(value, "__name__", "")).split(".")[0] == "tacho"
               for value in list(names))


def _forget() -> None:
    """Removes what a short helper recorded."""
    path = calls.path()
    calls.stop()
    try:
        os.unlink(path)
    except OSError:
        pass


def _begin_plain(wants: Wants) -> None:
    """A program without a framework, as far as is known."""
    began, pid, is_first = time.monotonic(), os.getpid(), _is_first()

    def finish() -> None:
        is_helper = not is_first and os.getpid() == pid and not _marks_events()
        end()
        if is_helper and time.monotonic() - began < SHORT_S and not uses_framework() and calls.is_recording():
            _forget()

    def forked() -> None:
        if not uses_framework():
            calls.begin_steps()

    atexit.register(finish)
    _ready(wants)
    os.register_at_fork(after_in_child=forked)


def begin() -> None:
    """Called when the interpreter starts."""
    steps.automatic = True
    wants = wants_of(os.environ.get("TACHO_WITH", ""))
    imports.Finder(lambda: _ready(wants)).begin()
    if _HELPERS.search(_command()):
        atexit.register(end)
    else:
        _begin_plain(wants)
