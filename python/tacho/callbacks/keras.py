"""Keras's callback, whatever its backend: model.fit(…, callbacks=[tacho.KerasCallback()])."""
from typing import Any, Optional

from keras.callbacks import Callback

from ..trace import Trace
from .recorder import StepRecorder, is_first_rank


class KerasCallback(Callback):
    """Records `active` batches of model.fit after the first `wait` + `warmup`. `options` are those of tacho.profile."""

    def __init__(self, path: str = "tacho_runs", *, wait: int = 4, warmup: int = 1, active: int = 10, repeat: int = 1,
                 **options: Any) -> None:
        super().__init__()
        self._recorder = StepRecorder(path, wait, warmup, active, repeat, options)

    def trace(self) -> Trace:
        """What this process has recorded."""
        return self._recorder.trace()

    def on_train_begin(self, logs: Optional[Any] = None) -> None:
        self._recorder.begin(is_first_rank())

    def on_epoch_begin(self, epoch: int, logs: Optional[Any] = None) -> None:
        self._recorder.epoch(epoch)

    def on_train_batch_end(self, batch: int, logs: Optional[Any] = None) -> None:
        self._recorder.step()

    def on_test_begin(self, logs: Optional[Any] = None) -> None:
        self._recorder.enter("validation")

    def on_test_end(self, logs: Optional[Any] = None) -> None:
        self._recorder.leave()

    def on_train_end(self, logs: Optional[Any] = None) -> None:
        self._recorder.end()
