"""Windows of XLA's profiler in a recording, without JAX: xla_cases.py [NAME…]

As cases.py, and run with it. The profiler and its clock are fakes; tests/frameworks/jax_record.py has the real ones.
"""
import contextlib
import os
import sys
import threading
import types
from pathlib import Path

import tacho
from cases import equal, main
from tacho import _native


class MadeProfiler:
    """jaxlib's profiler; and a clock that is set."""

    def __init__(self):
        self.now, self.stopped, self.marks = 100.0, 0, []
        self.ProfileOptions = types.SimpleNamespace

    def ProfilerSession(self, options):
        equal(options.python_tracer_level, 0)
        return self

    def stop(self):
        self.stopped += 1
        return b"profile"

    def TraceMe(self, name, **words):
        self.marks.append((name, words))
        return contextlib.nullcontext()


@contextlib.contextmanager
def made_profiler(folder, is_chosen=False):
    """A window of it in a recording; what it is, the window, and the folder's files."""
    from tacho.hooks import xla_profile
    made, jax = MadeProfiler(), types.ModuleType("jax")
    jax.live_arrays = list
    kept = xla_profile.library, xla_profile.time
    xla_profile.library = lambda: made
    xla_profile.time = types.SimpleNamespace(monotonic=lambda: made.now, time_ns=lambda: 5, sleep=threading.Event().wait)
    sys.modules["jax"] = jax
    profiler = tacho.Profiler(str(folder)).start()
    withdrawn = []
    try:
        xla_profile.reset()
        xla_profile.stand_in(lambda: withdrawn.append(1))
        equal(xla_profile.begin(is_chosen), True)
        yield made, xla_profile, withdrawn
    finally:
        xla_profile.end()
        xla_profile.step_aside()
        xla_profile.join("")
        profiler.stop()
        del sys.modules["jax"]
        xla_profile.library, xla_profile.time = kept


def hidden(folder):
    return sorted(p.name for p in Path(folder).iterdir() if p.name.startswith(".xla-"))


def a_window_of_xla_ends_after_some_steps_or_seconds(folder):
    for seconds, steps in ((0.001, 1000), (0.1, 50), (1.0, 10), (6.0, 3)):
        with made_profiler(folder / str(steps)) as (made, xla, _):
            window, n = xla.window(), 1
            equal(window.step_ended(compiled=True), False, "warm-up")
            made.now += seconds
            while not window.step_ended(compiled=False):
                n, made.now = n + 1, made.now + seconds
            equal(n in (steps, steps + 1), True, f"{n} steps of {seconds} s")  # sums of binary fractions


def what_precedes_the_first_step_takes_no_time_of_a_window_of_xla(folder):
    with made_profiler(folder) as (made, xla, _):
        window = xla.window()
        made.now += 50  # data is read, the program is compiled ahead of time
        for n in range(1, 50):
            equal(window.step_ended(compiled=False), False, n)
            made.now += 0.1
            if n == 20:
                window.compiles(True)
                made.now += 30
                window.compiles(False)
        equal(round(window.seconds, 3), 4.9)
        equal(window.step_ended(compiled=False), True)


def a_window_of_xla_that_was_chosen_has_no_end_of_its_own(folder):
    with made_profiler(folder, is_chosen=True) as (made, xla, _):
        for _ in range(1000):
            made.now += 0.5
            equal(xla.window().step_ended(compiled=False), False)
        equal(xla.window().is_too_long(), False)
        made.now += 1000
        equal(xla.window().is_too_long(), True)


def compilation_does_not_shorten_a_window_of_xla(folder):
    with made_profiler(folder) as (made, xla, _):
        xla.window().compiles(True)
        made.now += 3600
        equal(xla.window().is_too_long(), False)
        xla.window().compiles(False)
        equal(xla.window().is_too_long(), False)
        made.now += 61
        equal(xla.window().is_too_long(), True)
        for _ in range(3):
            equal(xla.window().step_ended(compiled=True), False)
        equal(xla.window().steps, 0, "steps that compile")
        xla.window().step_ended(compiled=True)
        equal(xla.window().steps, 1, "a program that always does")


def a_profile_of_xla_is_written_when_its_window_ends(folder):
    with made_profiler(folder) as (made, xla, _):
        equal(hidden(folder), [f".xla-5-{os.getpid()}.pb.tmp"])
        equal(made.marks, [("tacho thread", {"tid": threading.get_native_id()})])
        equal(xla.end(), True)
        equal(hidden(folder), [f".xla-5-{os.getpid()}.pb"])
        equal((folder / hidden(folder)[0]).read_bytes(), b"profile")
        equal((xla.end(), xla.begin(False)), (False, False), "another one")


def a_program_that_uses_xlas_profiler_gets_it(folder):
    for steps in (0, 3):
        with made_profiler(folder / str(steps)) as (made, xla, withdrawn):
            for _ in range(steps):
                xla.window().step_ended(compiled=False)
            made.ProfilerSession(types.SimpleNamespace(python_tracer_level=0))  # the program's
            equal((xla.window(), made.stopped), (None, 1))
            equal(len(hidden(folder / str(steps))), min(1, steps), "what is kept of the window")
            equal((len(withdrawn), tacho.is_recording()), (1, False) if steps else (0, True), "the recording")


def a_profiler_of_xla_that_fails_is_a_note(folder):
    with made_profiler(folder) as (made, xla, _):
        made.stop = lambda: 1 / 0
        xla.end()
        equal(hidden(folder), [])
        equal(any("XLA's profiler did not record" in text for text in _native._notes), True)
    _native._notes.clear()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], globals()))
