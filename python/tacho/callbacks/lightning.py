"""Lightning's callback, for lightning.pytorch and pytorch_lightning: Trainer(callbacks=[tacho.LightningCallback()])."""
import sys
from typing import Any, Tuple

from ..trace import Trace
from .recorder import StepRecorder


def _bases() -> Tuple[type, ...]:
    """The package's Callback: of the one that the program uses, of both if it has both."""
    found = []
    for name in ("lightning.pytorch", "pytorch_lightning"):
        if sys.modules.get(name) is not None:
            found.append(sys.modules[name].Callback)
    if not found:
        try:
            from lightning.pytorch import Callback
        except ModuleNotFoundError:
            from pytorch_lightning import Callback
        found.append(Callback)
    return tuple(found)


class LightningCallback(*_bases()):  # type: ignore[misc]
    """Records `active` steps of trainer.fit after the first `wait` + `warmup`. A step ends with the batch in which the
    optimizer stepped. `options` are those of tacho.profile."""

    def __init__(self, path: str = "tacho_runs", *, wait: int = 4, warmup: int = 1, active: int = 10, repeat: int = 1,
                 **options: Any) -> None:
        super().__init__()
        self._recorder = StepRecorder(path, wait, warmup, active, repeat, options)
        self._n_steps = 0

    def trace(self) -> Trace:
        """What this process has recorded."""
        return self._recorder.trace()

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        self._n_steps = trainer.global_step
        self._recorder.begin(trainer.is_global_zero)

    def on_train_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        self._recorder.epoch(trainer.current_epoch)

    def on_train_batch_end(self, trainer: Any, *_more: Any) -> None:
        if trainer.global_step != self._n_steps:  # else gradients are accumulated
            self._n_steps = trainer.global_step
            self._recorder.step()

    def on_validation_start(self, trainer: Any, pl_module: Any) -> None:
        self._recorder.enter("validation")

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        self._recorder.leave()

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        self._recorder.end()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        self._recorder.end()
