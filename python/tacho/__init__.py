"""tacho: record and analyze deep-learning jobs.

    import tacho

    with tacho.profile(path="runs/x", record_shapes=True) as prof:
        for batch in loader:
            train(batch)
            prof.step()

    prof.trace().operators(group_by="name+shape").to_pandas()

Profilers, schedules and callbacks have the same names and meaning as in PyTorch, Paddle, MegEngine
and MindSpore; see docs/PYTHON.md.
"""
from ._analyses import VERSION as __version__
from ._native import calls as _calls
from ._program import QuestionError, TachoError, TraceNotFoundError
from .callbacks import StopAtStep
from .handlers import export_chrome_tracing, keep, tensorboard_trace_handler
from .profiler import Profiler, profile
from .ranges import RecordEvent, TracerEventType, counter, mark, queue, record_function, scope
from .reports import SortedKeys, SummaryView
from .schedules import ProfilerAction, ProfilerState, make_scheduler, schedule
from .tables import Answer, Column, Table
from .trace import Trace, load

__all__ = ["Answer", "Column", "Profiler", "ProfilerAction", "ProfilerState", "QuestionError",
           "RecordEvent", "SortedKeys", "StopAtStep", "SummaryView", "Table", "TachoError", "Trace",
           "TraceNotFoundError", "TracerEventType", "__version__", "alarm", "counter", "export_chrome_tracing",
           "is_recording", "keep", "load", "make_scheduler", "mark", "profile", "queue",
           "record_function", "schedule", "scope", "tensorboard_trace_handler", "trigger"]


def is_recording() -> bool:
    """Whether events are being recorded right now."""
    return _calls.is_recording()


def alarm(rule: str, why: str = "") -> bool:
    """Tells that memory ran out ("oom") or a value is not a number ("nan"): a trigger may wait for it."""
    return _calls.alarm(rule, why) == 0


def trigger(why: str = "") -> bool:
    """Flight recorder: all ranks write the last seconds to a file now."""
    return _calls.trigger(why) == 0
