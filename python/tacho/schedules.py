"""Schedules: which steps are recorded. PyTorch's, Paddle's and plain ranges, as one kind of function.

A schedule is a function from the number of a step to an Action. PyTorch's and Paddle's own enums have
the same four values in the same order, so that schedules made by the frameworks work here, and the
other way round.
"""
import enum
import warnings
from typing import Any, Callable, Optional, Sequence, Union


class ProfilerAction(enum.IntEnum):
    """What happens in a step; also under Paddle's names."""
    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3
    CLOSED = 0
    READY = 1
    RECORD_AND_RETURN = 3


ProfilerState = ProfilerAction
Schedule = Callable[[int], ProfilerAction]


def _check(what: str, **numbers: int) -> None:
    for name, value in numbers.items():
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(f"{what}: {name} must be an integer, not {value!r}")
        least = 1 if name in ("active", "record") else 0
        if value < least:
            raise ValueError(f"{what}: {name} must be at least {least}, not {value}")


def schedule(*, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0,
             skip_first_wait: int = 0) -> Schedule:
    """torch.profiler.schedule: skip_first steps, then in a circle wait, warmup, active."""
    _check("schedule", wait=wait, warmup=warmup, active=active, repeat=repeat, skip_first=skip_first,
           skip_first_wait=skip_first_wait)
    if warmup == 0:
        warnings.warn("schedule(warmup=0): the first recorded step pays for what is set up in it")
    length = wait + warmup + active

    def action_of(step: int) -> ProfilerAction:
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        if skip_first_wait:
            step += wait
        if repeat > 0 and step // length >= repeat:
            return ProfilerAction.NONE
        at = step % length
        if at < wait:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD_AND_SAVE if at == length - 1 else ProfilerAction.RECORD

    return action_of


def make_scheduler(*, closed: int, ready: int, record: int, repeat: int = 0,
                   skip_first: int = 0) -> Schedule:
    """paddle.profiler.make_scheduler: the same with Paddle's words."""
    _check("make_scheduler", closed=closed, ready=ready, record=record, repeat=repeat,
           skip_first=skip_first)
    if ready == 0:
        warnings.warn("make_scheduler(ready=0): the first recorded step pays for what is set up in it")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return schedule(wait=closed, warmup=ready, active=record, repeat=repeat, skip_first=skip_first)


def step_range(start: int, end: int) -> Schedule:
    """Paddle's scheduler=(start, end): steps start to end - 1, once, with one step to get ready."""
    start = max(start, 0)
    if end <= start:
        raise ValueError(f"scheduler=({start}, {end}): the end must be after the start")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if start >= 1:
            return make_scheduler(closed=start - 1, ready=1, record=end - start, repeat=1)
        return make_scheduler(closed=0, ready=0, record=end - start, repeat=1)


def always(_step: int) -> ProfilerAction:
    return ProfilerAction.RECORD


def as_schedule(what: Union[None, Schedule, Sequence[int]]) -> Optional[Schedule]:
    """What users give as a schedule: a function, a pair of steps, or nothing."""
    if what is None:
        return None
    if callable(what):
        return lambda step: _as_action(what(step))
    if isinstance(what, (tuple, list)) and len(what) == 2:
        return step_range(int(what[0]), int(what[1]))
    raise TypeError(f"a schedule is a function or a pair of steps, not {what!r}")


def _as_action(value: Any) -> ProfilerAction:
    """Our action for a framework's own: by its number, which is the same everywhere."""
    return ProfilerAction(value if isinstance(value, int) else getattr(value, "value", value))
