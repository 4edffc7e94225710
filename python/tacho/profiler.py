"""tacho.profile and tacho.Profiler: one profiler with the interfaces of four frameworks.

It works like each framework's own profiler: as a context manager, as a decorator, with start, step and
stop, with a schedule and a callback. Parameters have the same names and meaning; docs/PYTHON.md lists
them. Every window of a schedule, every `with` block and every call of a decorated function is a
separate recording, a span.

    state:   NONE ──prepare──> WARMUP ──start──> RECORD … RECORD_AND_SAVE ──stop, ready──> NONE …

Under `tacho record` the recording belongs to it, and this object only marks steps.
"""
import atexit
import functools
import os
import shutil
import tempfile
import warnings
import weakref
from pathlib import Path
from html import escape
from typing import TYPE_CHECKING, Any, Callable, List, Optional, Sequence

from . import _native, _program, handlers, hooks, reports
from ._native import calls
from ._text import say
from .hooks import alarms, imports
from .schedules import ProfilerAction, as_schedule
from .timer import Timer
from .tables import Table
from .trace import Trace, load

NONE, WARMUP, RECORD, SAVE = (ProfilerAction.NONE, ProfilerAction.WARMUP, ProfilerAction.RECORD,
                              ProfilerAction.RECORD_AND_SAVE)
FORMATS = ("chrome_timeline.json", "memory_flow.svg")
TRIGGER_SECONDS = 30.0  # what a trigger writes when flight_seconds does not say

# Words of the frameworks that concern devices and files tacho does not make: accepted, without effect.
WITHOUT_EFFECT = frozenset((
    "activities", "experimental_config", "execution_trace_observer", "acc_events", "use_cuda",
    "custom_trace_id_callback", "post_processing_timeout_s", "targets", "emit_nvtx",
    "custom_device_types", "with_modules", "num_tensor_watch", "enable_cupti", "profile_communication",
    "op_time", "parallel_strategy", "aicore_metrics", "l2_cache", "sync_enable", "data_process",
    "timeline_limit", "profiler_level", "hbm_ddr", "pcie", "profile_framework", "host_stack",
    "data_simplification", "job_id", "ascend_job_id"))


def _finish_all() -> None:
    for profiler in list(_living):
        profiler._finish()


_living: "weakref.WeakSet[Profiler]" = weakref.WeakSet()
atexit.register(_finish_all)


class Profiler:
    """Records what happens between start() and stop(), in a `with` block, or in each call of a decorated function.

    path: folder of the recordings, or a file that ends in .tacho (default: tacho_runs).
    schedule: which steps to record: tacho.schedule(wait=1, warmup=1, active=3), a pair of steps, or a function of the
        step's number (default: all). scheduler is the same, as Paddle names it.
    on_trace_ready: called with the profiler after each recording, such as tacho.tensorboard_trace_handler(folder).
    record_shapes: shapes and types of the inputs of operators.
    profile_memory: allocations and releases.
    with_stack: Python functions, and so the stack of each operator; costs more than everything else.
    with_flops: operations of operators; implies record_shapes.
    auto_step: a step ends when the first optimizer has stepped, without a call of step().
    sample: operators, modules and stacks of one step in so many; device work of all.
    timer_only: only measure the throughput of steps, and record nothing.
    worker: name of this process among others (default: its rank, or host and process id).
    flight_seconds: keep only so many seconds, and write them when tacho.trigger() or a rule of trigger says so.
    trigger, metrics, ring_bytes: as `tacho record` takes them.
    format, formats, with_backtrace, with_scopes, sample_rate, profile_device: as megengine.utils.profiler takes them.
    output_path, start_profile, is_detail, is_show_op_path, subgraph, optypes_to_deal, optypes_not_deal: as
        mindspore.Profiler takes them; with output_path recording starts at once.

    Other parameters of the frameworks' profilers are accepted and have no effect; any other is a TypeError.

    step() ends a training step. Afterwards trace() is the recording, key_averages() its operators; as the result of a
    cell the profiler shows where the time went."""

    def __init__(self, path: Optional[str] = None, format: Optional[str] = None,
                 formats: Optional[Sequence[str]] = None, with_backtrace: bool = False,
                 with_scopes: bool = False, *, schedule: Any = None, scheduler: Any = None,
                 on_trace_ready: Optional[Callable] = None, record_shapes: bool = False,
                 profile_memory: bool = False, with_stack: bool = False, with_flops: bool = False,
                 timer_only: bool = False, sample_rate: int = 0, profile_device: int = 1,
                 output_path: Optional[str] = None, is_detail: bool = True,
                 is_show_op_path: bool = False, subgraph: str = "all", optypes_to_deal: str = "",
                 optypes_not_deal: str = "Variable", start_profile: bool = True,
                 worker: Optional[str] = None, flight_seconds: float = 0.0, ring_bytes: int = 0,
                 trigger: Optional[str] = None, metrics: Any = None, sample: int = 0,
                 auto_step: bool = False, **words: Any) -> None:
        unknown = sorted(set(words) - WITHOUT_EFFECT)
        if unknown:
            raise TypeError(_unknown_words(unknown))
        if schedule is not None and scheduler is not None:
            raise TypeError("Profiler: schedule and scheduler are the same; pass only one")
        self._sample = _check_sample(sample)
        self._formats = _check_formats(format, formats)
        self._schedule = as_schedule(schedule if schedule is not None else scheduler)
        self._ready = on_trace_ready
        self._wants = hooks.Wants(shapes=record_shapes or with_flops,
                                  memory=profile_memory or "memory_flow.svg" in self._formats,
                                  stacks=with_stack or with_backtrace, flops=with_flops,
                                  scopes=with_scopes, sample_every=int(sample_rate), chosen=True,
                                  endless=bool(flight_seconds or trigger) or self._sample > 1, steps=auto_step)
        self._imports = imports.Finder(functools.partial(hooks.imported, self._wants))
        self._device, self._worker = bool(profile_device), worker
        self._trigger, self._metrics = trigger, None if metrics is None else str(metrics)
        self._flight, self._ring = float(flight_seconds or (TRIGGER_SECONDS if trigger else 0)), int(ring_bytes)
        self._text = reports.TextOptions(is_detail, is_show_op_path, subgraph, optypes_to_deal,
                                         optypes_not_deal)
        self.timer_only = timer_only
        self._timer = Timer()
        self._place(path, output_path)
        self._running = self._recording = self._passive = False
        self._pid = os.getpid()
        self.step_num, self.current_action = 0, NONE
        self.trace_path: Optional[str] = None  # of the span that ended last
        self.spans: List[str] = []             # of all that are kept
        self._undumped: List[str] = []
        _living.add(self)
        if output_path is not None and start_profile:
            self.start()

    # ---- where things go ----

    def _place(self, path: Optional[str], output_path: Optional[str]) -> None:
        self._scratch: Optional[str] = None
        self._exports = Path(path or "profile") if self._formats else None
        self.output_path = output_path
        if output_path is not None:
            self._folder = str(Path(output_path) / "profiler")
        elif self._formats or (path is None and self._ready is not None):
            self._folder = ""  # the recording itself was not asked for
        else:
            self._folder = path or "tacho_runs"

    def _record_to(self) -> str:
        if self._folder:
            return self._folder
        if self._scratch is None:
            self._scratch = tempfile.mkdtemp(prefix="tacho_")
        return self._scratch

    # ---- what happens between two states ----

    def _prepare(self) -> None:
        hooks.prepare(self._wants)

    def _start(self) -> None:
        hooks.prepare(self._wants)
        w = self._wants
        result = calls.start(self._record_to(), self._worker, shapes=w.shapes,
                             memory=w.memory or w.sample_every > 0, device=self._device,
                             ring_bytes=self._ring, flight_seconds=self._flight,
                             first_step=self.step_num, trigger=self._trigger, metrics=self._metrics,
                             sample_every=self._sample)
        if result == _native.OK and self._trigger:
            alarms.install(self._trigger)
        self._passive = result == _native.BUSY
        self._recording = result == _native.OK
        if result == _native.FAILED:
            warnings.warn(f"tacho cannot record: {calls.error_text()}")
            return
        _native.write_notes()
        hooks.begin(self._wants)
        calls.begin_steps()  # the setup is not part of the first one

    def _stop(self, keep: bool = True) -> None:
        hooks.end()
        was_ours, self._recording = self._recording, False
        if not was_ours:
            return
        calls.stop()
        path = calls.path()
        hooks.tell("finish", path)
        if not keep:
            Path(path).unlink()
            return
        self.trace_path = path
        self.spans.append(path)
        if self._formats:
            self._undumped.append(path)

    def _tell(self) -> None:
        if self._ready is not None and self.trace_path is not None:
            self._ready(self)

    def _transition(self, old: ProfilerAction, new: Optional[ProfilerAction]) -> None:
        """The transition table of torch.profiler and Paddle; `None` as the new action means the end."""
        if old == NONE:
            if new == WARMUP:
                self._prepare()
            elif new in (RECORD, SAVE):
                self._start()
        elif old == WARMUP:
            if new in (NONE, None):
                warnings.warn("tacho: the schedule ended during its warm-up; nothing was recorded")
                hooks.end()
            elif new in (RECORD, SAVE):
                self._start()
        elif old == RECORD and new in (NONE, WARMUP):
            warnings.warn("tacho: the schedule stopped recording without saving")
            self._stop(keep=False)
        elif old == SAVE or new is None:
            self._stop()
            if new == WARMUP:
                self._prepare()
            if new in (RECORD, SAVE):  # the callback's time belongs to neither
                self._tell()
                self._start()
            else:
                self._tell()

    def _action(self, step: int) -> ProfilerAction:
        if self.timer_only:
            return NONE
        return self._schedule(step) if self._schedule else RECORD

    # ---- what users call ----

    def start(self) -> "Profiler":
        if self._running:
            raise RuntimeError("this profiler is already running")
        self._running, self._pid, self.step_num = True, os.getpid(), 0
        self._home = _working_folder()  # a path may be relative to it
        # In a recording that was started elsewhere, mark all steps, not only those of our
        # schedule.
        self._passive = not self.timer_only and (hooks.steps.automatic or calls.is_recording())
        hooks.timers.append(self._timer)
        self._timer.start()
        self.current_action = self._action(0)
        if self.timer_only:
            hooks.prepare(hooks.Wants(loader_only=True))
        elif not hooks.steps.automatic:  # else tacho record handles imports and steps
            self._imports.begin()
            self._follow_steps()
        self._transition(NONE, self.current_action)
        return self

    def _follow_steps(self) -> None:
        if self._wants.steps:
            hooks.prepare(self._wants)  # also count the steps before the recording
            hooks.steps.follow(self._advance)

    def step(self, num_samples: Optional[int] = None) -> None:
        """Ends the current step and begins the next."""
        if not self._running:
            return
        if self._recording or self._passive or self._wants.steps:
            hooks.steps.marked_by_the_program()
        self._advance(num_samples)

    def _advance(self, num_samples: Optional[int] = None) -> None:
        self._timer.step(num_samples)
        if self._recording or self._passive:
            calls.step()
        self.step_num += 1
        old, self.current_action = self.current_action, self._action(self.step_num)
        self._transition(old, self.current_action)
        if self._recording:
            hooks.look_again(self._wants)

    def stop(self) -> None:
        if not self._running:
            if self.output_path is not None:
                raise RuntimeError("stop() before start()")
            return
        self._running = False
        self._timer.stop()
        if self._timer in hooks.timers:
            hooks.timers.remove(self._timer)
        self._imports.end()
        hooks.steps.leave(self._advance)
        old, self.current_action = self.current_action, NONE
        self._transition(old, None)
        hooks.end()
        hooks.release()
        if self.timer_only:
            text = self._timer.summary()
            if text:
                print(text)

    def __enter__(self) -> "Profiler":
        if not self._running:
            self.start()
        return self

    def __exit__(self, *_why: Any) -> None:
        if self._running:
            self.stop()

    def __call__(self, function: Callable) -> Callable:
        """As a decorator: each call is a span."""
        @functools.wraps(function)
        def wrapped(*args: Any, **words: Any) -> Any:
            if self._running:  # a call inside a call belongs to it
                return function(*args, **words)
            with self:
                return function(*args, **words)
        wrapped.profiler = self  # type: ignore[attr-defined]
        return wrapped

    def is_profiling(self) -> bool:
        return self._running

    @property
    def current_state(self) -> ProfilerAction:
        return self.current_action

    # ---- metadata ----

    def add_metadata(self, key: str, value: str) -> None:
        calls.meta(key, reports.as_json(value))

    def add_metadata_json(self, key: str, value: str) -> None:
        calls.meta(key, value)

    preset_metadata_json = add_metadata_json

    # ---- results ----

    def trace(self) -> Trace:
        """The last finished span, as a Trace."""
        if self.trace_path is None:
            raise RuntimeError("nothing has been recorded yet")
        path = self.trace_path
        return load(path if os.path.exists(path) else os.path.join(self._home, path))

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0,
                     **_more: Any) -> Table:
        """The operators of the last recording, or the program's own ranges if there are no operators."""
        group = "name" + ("+shape" if group_by_input_shape else "") + ("+stack" if group_by_stack_n else "")
        table = self.trace().ask("operators", group_by=group)["operators"]
        return table if len(table) else self._ranges() or table

    def _ranges(self) -> Optional[Table]:
        table = self.trace().ask("overview").tables.get("user_events")
        return table if table is not None and len(table) else None

    def export_chrome_trace(self, path: str) -> str:
        return handlers.write_as(self._last(), "chrome", path)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> str:
        value = "host" if "cpu" in metric else "device"
        _program.run(["export", self._last(), "--to", "stacks", "--value", value, "-o", path])
        return path

    def export(self, path: str = "", format: str = "json") -> str:
        """Paddle's export: json is the Chrome format; accepts every format of `tacho export`."""
        return handlers.write_as(self._last(), "chrome" if format in ("json", "chrome") else format, path)

    def _last(self) -> str:
        self.trace()
        return str(self.trace_path)

    def summary(self, sorted_by: Any = None, op_detail: bool = True, thread_sep: bool = False,
                time_unit: str = "ms", views: Any = None) -> None:
        """Prints the tables of paddle.profiler's summary, or nothing if nothing was recorded."""
        if self.trace_path is not None:
            print(reports.paddle_summary(self.trace_path, sorted_by, op_detail, thread_sep, time_unit,
                                         views), end="")

    def step_info(self, unit: Optional[str] = None) -> str:
        return self._timer.step_info(unit)

    def analyse(self, offline_path: Optional[str] = None, pretty: bool = False,
                step_list: Optional[Sequence[int]] = None, mode: str = "sync") -> Optional[str]:
        """MindSpore's `analyse()`: stops, and writes the operator tables next to the recording."""
        if self._running:
            self.stop()
        source = offline_path or self.trace_path
        if source is None:
            return None
        folder = Path(self.output_path or ".") / "profiler"
        return reports.write_operators(source, folder, self._text, pretty, step_list)

    def dump(self) -> List[str]:
        """MegEngine's dump(): writes PATH/PID.FORMAT for every format; later spans add their number."""
        written: List[str] = []
        while self._undumped:
            source = self._undumped.pop(0)
            for form in self._formats:
                try:
                    written.append(self._dump_one(source, form))
                except _program.TachoError as why:  # no addresses, no picture of them; the rest is written
                    warnings.warn(f"tacho: {form} was not written: {why}")
        return written

    def _dump_one(self, source: str, form: str) -> str:
        folder = self._exports or Path("profile")
        folder.mkdir(parents=True, exist_ok=True)
        to, n = folder / f"{self._pid}.{form}", 1
        while to.exists():
            n += 1
            to = folder / f"{self._pid}_{n}.{form}"
        return handlers.write_as(source, "chrome" if form == FORMATS[0] else form, str(to))

    def _state(self) -> str:
        if self._passive:
            return say("is_passive")
        return say("is_recording" if self._recording else "not_started")

    def __repr__(self) -> str:
        return f"<tacho.Profiler: {self.trace_path or self._state()}>"

    def _repr_html_(self) -> str:
        return self.trace()._repr_html_() if self.trace_path else f"<p>{escape(self._state())}</p>"

    # ---- the end ----

    def _finish(self) -> None:
        """Writes what was not written yet, except in a child that inherited this object."""
        if self._pid != os.getpid():
            return
        try:
            if self._running:
                self.stop()
            self.dump()
        finally:
            if self._scratch is not None:
                shutil.rmtree(self._scratch, ignore_errors=True)
                self._scratch = None

    def __del__(self) -> None:
        try:
            self._finish()
        except Exception:  # the interpreter may be half gone
            pass


def _working_folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return ""


def _check_formats(one: Optional[str], several: Optional[Sequence[str]]) -> List[str]:
    if isinstance(several, str):
        raise TypeError("formats takes a list, format a single format")
    chosen = list(several) if several else [one] if one else []
    for form in chosen:
        if form not in FORMATS:
            raise ValueError(f"unknown format {form!r}; choose from {', '.join(FORMATS)}")
    return chosen


def _unknown_words(unknown: List[str]) -> str:
    import difflib
    import inspect
    known = {*inspect.signature(Profiler.__init__).parameters, *WITHOUT_EFFECT} - {"self", "words"}
    near = difflib.get_close_matches(unknown[0], sorted(known), 1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return f"Profiler has no parameter {', '.join(unknown)}{hint}"


def _check_sample(every: int) -> int:
    """Operators, modules and stacks of one step in so many; 0 and 1: of all."""
    if not isinstance(every, int) or isinstance(every, bool):
        raise TypeError(f"sample must be an integer, not {every!r}")
    if not 0 <= every < 1 << 31:
        raise ValueError(f"sample must be at least 1, not {every}")
    return every


class _Signature:
    """The signature that notebooks show. Computed on demand: importing inspect takes longer than this package."""

    def __get__(self, _instance: Any, _owner: Any) -> Any:
        import inspect
        return inspect.signature(Profiler)


class profile(Profiler):  # as PyTorch spells it
    __doc__ = Profiler.__doc__
    __signature__ = _Signature()

    if not TYPE_CHECKING:  # so that editors show the parameters of Profiler
        def __new__(cls, path: Any = None, *args: Any, **words: Any) -> Any:
            """As a bare decorator, @tacho.profile, it records every call of the function."""
            if callable(path) and not args and not words:
                return Profiler()(path)
            return super().__new__(cls)
