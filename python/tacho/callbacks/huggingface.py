"""The callback of transformers' Trainer, and of trainers derived from it (TRL, PEFT):
Trainer(…, callbacks=[tacho.HFTrainerCallback()])."""
from typing import Any

from transformers import TrainerCallback

from ..trace import Trace
from .recorder import StepRecorder


class HFTrainerCallback(TrainerCallback):
    """Records `active` optimizer steps of trainer.train after the first `wait` + `warmup`. `options` are those of
    tacho.profile."""

    def __init__(self, path: str = "tacho_runs", *, wait: int = 4, warmup: int = 1, active: int = 10, repeat: int = 1,
                 **options: Any) -> None:
        self._recorder = StepRecorder(path, wait, warmup, active, repeat, options)

    def trace(self) -> Trace:
        """What this process has recorded."""
        return self._recorder.trace()

    def _expect(self, control: Any) -> None:
        """The trainer evaluates, then saves; it has hooks only for their ends."""
        if control.should_evaluate:
            self._recorder.enter("validation")
        elif control.should_save:
            self._recorder.enter("checkpoint")

    def on_train_begin(self, args: Any, state: Any, control: Any, **_more: Any) -> None:
        self._recorder.begin(state.is_world_process_zero)

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **_more: Any) -> None:
        self._recorder.epoch(round(state.epoch or 0))

    def on_step_end(self, args: Any, state: Any, control: Any, **_more: Any) -> None:
        self._recorder.step()
        self._expect(control)

    def on_epoch_end(self, args: Any, state: Any, control: Any, **_more: Any) -> None:
        self._expect(control)

    def on_evaluate(self, args: Any, state: Any, control: Any, **_more: Any) -> None:
        self._recorder.leave()
        if control.should_save:
            self._recorder.enter("checkpoint")

    def on_save(self, args: Any, state: Any, control: Any, **_more: Any) -> None:
        self._recorder.leave()

    def on_train_end(self, args: Any, state: Any, control: Any, **_more: Any) -> None:
        self._recorder.end()
