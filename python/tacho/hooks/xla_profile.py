"""XLA's profiler as a part of a recording: what runs inside of programs that JAX has compiled.

Nothing else knows that. XLA's profiler keeps everything in memory until it stops, so a recording has a
window of it:

    first use of a device ─> warm-up ─> 50 steps, at least 1 s and at most 10 s of them ─> the recording ends

Where someone chose what to record (--steps, tacho.profile, tacho attach), the window is that. Its bytes go
into a file next to the recording, which names it; the reader of the recording reads both. There can be one
such profiler in a process: a program that starts it gets it. Whatever fails becomes a note.
"""
import os
import threading
import time
from typing import Any, Callable, Optional

from .. import _native, _program
from .._native import calls
from . import jax_calls

STEPS = 50
LEAST_SECONDS, MOST_SECONDS = 1.0, 10.0
FEW_STEPS = 3        # the window has so many, also when they take longer
WARM_UP = 3          # steps that compile and do not count; when more do, that is how the program is
LONGEST_SECONDS, LONGEST_CHOSEN_SECONDS = 60.0, 600.0  # where steps do not end; compilation does not count
LOOK_SECONDS = 1.0
FACT = "xlaProfile"  # the key under which the recording names the file
THREAD_MARK = "tacho thread"


def library() -> Any:
    """The module of jaxlib that has the profiler."""
    import jax._src.lib as lib
    return getattr(lib, "_profiler", None) or lib.xla_client.profiler


def wait_for_devices() -> None:
    """So that device work is in the window, or outside of it, as its launch is."""
    import jax
    try:
        arrays = jax.live_arrays()
    except Exception:  # no devices, or none any more
        return
    for array in arrays:
        try:
            array.block_until_ready()
        except Exception:  # deleted, or what computes it failed
            pass


class Window:
    """One run of the profiler. `new_session` is jaxlib's ProfilerSession."""

    def __init__(self, new_session: Any, is_chosen: bool) -> None:
        module = library()
        options = module.ProfileOptions()
        options.python_tracer_level = 0
        options.host_tracer_level = 2
        self._trace_me, self._is_chosen, self._pid = module.TraceMe, is_chosen, os.getpid()
        self._local = threading.local()
        folder = os.path.dirname(calls.path()) or "."
        self._path = os.path.join(folder, f".xla-{time.time_ns()}-{self._pid}.pb")
        self._session = new_session(options)
        calls.meta(FACT, os.path.basename(self._path))
        with open(self._path + ".tmp", "wb"):
            pass  # who waits for the recording waits for this file, too
        self._began = self._counted_from = time.monotonic()
        self._compiled_seconds = self._compiled_before = 0.0
        self._compile_began: Optional[float] = None
        self.steps = self._warm_up = 0
        self.written = ""  # the file, when it is whole
        self.mark_thread()

    def mark_thread(self) -> None:
        """XLA has its own numbers of threads: this event says which one of the system's it is."""
        if not getattr(self._local, "marked", False):
            self._local.marked = True
            with self._trace_me(THREAD_MARK, tid=threading.get_native_id()):
                pass

    def compiles(self, is_on: bool) -> None:
        """Compilation begins or ends, on one thread or another."""
        if is_on:
            self._compile_began = time.monotonic()
        elif self._compile_began is not None:
            self._compiled_seconds += time.monotonic() - self._compile_began
            self._compile_began = None

    def step_ended(self, compiled: bool) -> bool:
        """True: the window is full."""
        if self.steps == 0:  # reading data and compiling before the first step take none of its time
            self._counted_from, self._compiled_before = time.monotonic(), self._compiled_seconds
        if compiled and self.steps == 0 and self._warm_up < WARM_UP:
            self._warm_up += 1
            return False
        self.steps += 1
        seconds = self.seconds
        if self._is_chosen:
            return False
        return self.steps >= STEPS and seconds >= LEAST_SECONDS or self.steps >= FEW_STEPS and seconds >= MOST_SECONDS

    def is_too_long(self) -> bool:
        seconds = time.monotonic() - self._began - self._compiled_seconds
        most = LONGEST_CHOSEN_SECONDS if self._is_chosen else LONGEST_SECONDS
        return self._compile_began is None and seconds >= most

    @property
    def seconds(self) -> float:
        """How long the steps that count took, without compilation."""
        return time.monotonic() - self._counted_from - (self._compiled_seconds - self._compiled_before)

    def end(self, keep: bool) -> None:
        session, self._session = self._session, None
        if session is None or os.getpid() != self._pid:  # a forked child has no such session
            return
        try:
            wait_for_devices()
            profile = session.stop()
            if keep:
                with open(self._path + ".tmp", "wb") as file:
                    file.write(profile)
                os.replace(self._path + ".tmp", self._path)
                self.written = self._path
        finally:
            if os.path.exists(self._path + ".tmp"):
                os.unlink(self._path + ".tmp")


_window: Optional[Window] = None
_lock = threading.RLock()
_new_session: Any = None  # jaxlib's own, while ours is in its place
_written = ""             # the last file
_is_over = False          # in this recording: it had its window, or the program took the profiler
_withdraw: Callable[[], None] = lambda: None
is_changing = False       # waits are ours, not the program's


def window() -> Optional[Window]:
    return _window


def begin(is_chosen: bool) -> bool:
    """Starts a window, unless the recording had one or the profiler failed."""
    global _window, _is_over, is_changing
    with _lock:
        if _window is not None or _is_over or _new_session is None or not calls.takes_event():
            return False
        is_changing = True
        try:
            wait_for_devices()
            _window = Window(_new_session, is_chosen)
            threading.Thread(target=_watch_time, args=(_window,), name="tacho", daemon=True).start()
        except Exception as why:
            _is_over = True
            _fail(why)
        finally:
            is_changing = False
        return _window is not None


def end(note: str = "", keep: bool = True) -> bool:
    """Ends the window that runs; false: there is none. Without `keep` the recording has nothing of it."""
    global _window, _is_over, _written, is_changing
    with _lock:
        if _window is None:
            return False
        ended, _window, _is_over, is_changing = _window, None, True, True
        try:
            if note:
                calls.note(note)  # of this recording only
            ended.end(keep)
            _written = ended.written
        except Exception as why:
            _fail(why)
        finally:
            is_changing = False
        return True


def close(note: str) -> None:
    """Ends the window, the recording with it, and the hooks."""
    if end(note):
        jax_calls.finish()
        _withdraw()


def _fail(why: Exception) -> None:
    _native.note(f"JAX: XLA's profiler did not record ({type(why).__name__}: {why}); "
                 "device work is missing")


def reset() -> None:
    """Before another recording."""
    global _is_over
    _is_over = False


def _watch_time(watched: Window) -> None:
    """Memory is bounded, also when no step ends."""
    while _window is watched:
        time.sleep(LOOK_SECONDS)
        if watched.is_too_long() and _window is watched:
            close("JAX: XLA's profiler keeps its events in memory, so tacho stopped recording; "
                  "--steps A..B records the steps you choose")


def join(recording: str) -> None:
    """Makes one file of a recording that has ended and of its profile. Where that fails they stay two, and
    are read as one while they are in one folder."""
    global _written
    profile, _written = _written, ""
    if not profile or os.path.dirname(os.path.abspath(profile)) != os.path.dirname(os.path.abspath(recording)):
        return
    whole = recording + ".tmp"
    try:
        _program.run(["export", recording, "--to", "tacho", "-o", whole])
        os.replace(whole, recording)
        os.unlink(profile)
    except (OSError, _program.TachoError):
        if os.path.exists(whole):
            os.unlink(whole)


# ---- the program's own profiler ----

def stand_in(withdraw: Callable[[], None]) -> None:
    """From now on sessions of the profiler that the program starts come through here. `withdraw` takes the
    hooks away."""
    global _new_session, _withdraw
    if _new_session is not None:
        return
    _withdraw = withdraw
    module = library()
    original = _new_session = module.ProfilerSession

    def new_session(*args: Any, **words: Any) -> Any:
        give_way()
        return original(*args, **words)

    module.ProfilerSession = new_session


def give_way() -> None:
    """To the program. A recording that has some steps ends here; another one continues without device work."""
    global _is_over
    _is_over = True
    has_steps = _window is not None and _window.steps >= FEW_STEPS
    if has_steps:
        close("JAX: the program started jax.profiler itself: tacho recorded until then; "
              "open the program's profile for the rest")
        return
    if end(keep=False):
        calls.meta(FACT, "none")
    calls.note("JAX: the program uses jax.profiler itself: what runs on devices is in its profile, "
               "which tacho opens, and not in this recording")


def _forget() -> None:
    """In a forked child, which has no such profiler."""
    global _window, _is_over
    _window, _is_over = None, True


os.register_at_fork(after_in_child=_forget)


def step_aside() -> None:
    """The module is as it was."""
    global _new_session
    if _new_session is not None:
        library().ProfilerSession, _new_session = _new_session, None
