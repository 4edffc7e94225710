"""Records a few steps of a training whose loop belongs to a trainer: what the callbacks share.

A callback creates a StepRecorder and reports what happens: begin, step, epoch, enter and leave, end. The profiler is
created when the training begins, so that a callback can be copied to other processes before. A failure here is a
warning; it never ends the training.
"""
import os
import warnings
from typing import Any, Dict, List, Optional

from .. import _program
from .._native import calls
from .._text import say
from ..profiler import Profiler
from ..ranges import mark, scope
from ..schedules import schedule
from ..trace import Trace

RANKS = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")


def is_first_rank() -> bool:
    """By the launcher's variables: torchrun, mpirun, srun."""
    return next((os.environ[name] for name in RANKS if name in os.environ), "0") == "0"


class StepRecorder:
    """path: folder of the recordings. wait, warmup, active, repeat: as in tacho.schedule; a schedule in the options
    replaces them. options: the other parameters of tacho.profile."""

    def __init__(self, path: str, wait: int, warmup: int, active: int, repeat: int, options: Dict[str, Any]) -> None:
        self.path, self._n_before = os.fspath(path), wait + warmup
        self._options = dict(options)
        if not {"schedule", "scheduler"} & set(options):
            self._numbers = {"wait": wait, "warmup": warmup, "active": active, "repeat": repeat}
            schedule(**self._numbers)  # a wrong number fails here, not when the training begins
        else:
            self._numbers = {}
        Profiler(self.path, **{**self._options, "start_profile": False})  # the same for a wrong parameter
        self.profiler: Optional[Profiler] = None  # while it runs
        self._finished: Optional[Profiler] = None
        self._is_main = True
        self._epoch: Optional[int] = None
        self._open: List[Any] = []

    def begin(self, is_main: bool = True) -> None:
        if self.profiler is not None:
            return
        self._is_main = is_main
        chosen: Dict[str, Any] = {"schedule": schedule(**self._numbers)} if self._numbers else {}
        self.profiler = Profiler(self.path, **chosen, **self._options).start()

    def step(self) -> None:
        if self.profiler is None:
            return
        before = len(self.profiler.spans), calls.is_recording()
        self.profiler.step()
        if (len(self.profiler.spans), calls.is_recording()) != before:
            self._mark_epoch()  # a new recording begins with the name of the epoch

    def epoch(self, number: int) -> None:
        self._epoch = number
        self._mark_epoch()

    def _mark_epoch(self) -> None:
        if self.profiler is not None and self._epoch is not None and calls.is_recording():
            mark(f"epoch {self._epoch}")

    def enter(self, name: str) -> None:
        """Something outside of the training steps begins: validation, a checkpoint."""
        if self.profiler is not None:
            self._open.append(scope(name))
            self._open[-1].begin()

    def leave(self) -> None:
        """It has ended, if there was one; the next step begins here."""
        if self._open:
            self._open.pop().end()
            calls.begin_steps()

    def end(self) -> None:
        """Stops, and prints the verdict."""
        profiler, self.profiler = self.profiler, None
        if profiler is None:
            return
        while self._open:
            self._open.pop().end()
        is_passive = profiler._passive  # then tacho record prints the summary
        profiler.stop()
        self._finished = profiler
        if self._is_main and not is_passive:
            try:
                print("\n".join(self._result(profiler)), flush=True)
            except _program.TachoError as why:
                warnings.warn(f"tacho: {why}")

    def _result(self, profiler: Profiler) -> List[str]:
        if profiler.trace_path is None:
            return [say("callback_too_short", count=profiler.step_num, wait=self._n_before)]
        trace = profiler.trace()
        steps = trace.steps()["step"]
        first, last = (steps[0], steps[-1]) if steps else (0, 0)
        words = say("step_several" if last > first else "step_one", first=first, last=last)
        return [f"tacho: {trace}", say("callback_done", steps=words, path=self.path)]

    def trace(self) -> Trace:
        """The last recording of this process."""
        profiler = self.profiler or self._finished
        if profiler is None:
            raise RuntimeError(say("not_started"))
        return profiler.trace()
