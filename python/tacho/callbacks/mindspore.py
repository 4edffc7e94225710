"""MindSpore's StopAtStep: a training callback that records the steps from start to stop."""
import sys
from typing import Any, Tuple

from ..profiler import Profiler


class _StopAtStep:
    """Starts when step `start` begins, stops after step `stop`, analyzes at the end."""

    def __init__(self, start_step: int, stop_step: int, output_path: str = "./data",
                 **words: Any) -> None:
        if stop_step < start_step:
            raise ValueError(f"StopAtStep({start_step}, {stop_step}): the end is before the start")
        super().__init__()
        self.start_step, self.stop_step = start_step, stop_step
        self.profiler = Profiler(output_path=output_path, start_profile=False, **words)

    @staticmethod
    def _number(run_context: Any) -> int:
        return int(run_context.original_args().cur_step_num)

    def step_begin(self, run_context: Any) -> None:
        if self._number(run_context) == self.start_step and not self.profiler.is_profiling():
            self.profiler.start()

    def step_end(self, run_context: Any) -> None:
        if not self.profiler.is_profiling():
            return
        self.profiler.step()
        if self._number(run_context) >= self.stop_step:
            self.profiler.stop()

    def end(self, run_context: Any) -> None:
        self.profiler.analyse()

    # names of newer versions
    def on_train_step_begin(self, run_context: Any) -> None:
        self.step_begin(run_context)

    def on_train_step_end(self, run_context: Any) -> None:
        self.step_end(run_context)

    def on_train_end(self, run_context: Any) -> None:
        self.end(run_context)


def _bases() -> Tuple[type, ...]:
    """MindSpore's trainer accepts only its own callback class."""
    mindspore = sys.modules.get("mindspore")
    callback = getattr(getattr(mindspore, "train", None), "Callback", None)
    return (_StopAtStep, callback) if isinstance(callback, type) else (_StopAtStep,)


def StopAtStep(start_step: int, stop_step: int, **words: Any) -> Any:  # a class to its users
    return type("StopAtStep", _bases(), {})(start_step, stop_step, **words)
