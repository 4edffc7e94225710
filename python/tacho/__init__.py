"""tacho: record and analyze deep-learning jobs.

    import tacho

    with tacho.profile(path="runs/x", record_shapes=True) as prof:
        for batch in loader:
            train(batch)
            prof.step()

    prof.trace().operators(group_by="name+shape").to_pandas()

Profilers, schedules and callbacks have the same names and meaning as in PyTorch, Paddle, MegEngine
and MindSpore. Callbacks for other trainers are in tacho.callbacks; %load_ext tacho adds %%tacho to a notebook.
See docs/PYTHON.md.
"""
from typing import TYPE_CHECKING, Any, List

from . import callbacks
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
from .server import Server
from .trace import Trace, load

if TYPE_CHECKING:
    from .callbacks import AccelerateTracker, HFTrainerCallback, KerasCallback, LightningCallback  # noqa: F401

__all__ = ["Answer", "Column", "Profiler", "ProfilerAction", "ProfilerState", "QuestionError",
           "RecordEvent", "Server", "SortedKeys", "StopAtStep", "SummaryView", "Table", "TachoError", "Trace",
           "TraceNotFoundError", "TracerEventType", "__version__", "alarm", "callbacks", "counter", "export_chrome_tracing",
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


def __getattr__(name: str) -> Any:
    """Callbacks of trainers, whose packages are imported when they are used."""
    if name in callbacks.LAZY:
        return getattr(callbacks, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> List[str]:
    return sorted({*globals(), *callbacks.LAZY})


def load_ipython_extension(shell: Any) -> None:
    """%load_ext tacho: the magics %tacho and %%tacho."""
    from . import _magic
    _magic.register(shell)
