"""Accelerate has no callbacks but trackers: Accelerator(log_with=tacho.AccelerateTracker()). Recording begins with
accelerator.init_trackers(…) and ends with accelerator.end_training(), or with the program."""
from typing import Any, Dict, Optional

from accelerate.tracking import GeneralTracker

from ..ranges import counter
from ..trace import Trace
from .recorder import StepRecorder, is_first_rank


class AccelerateTracker(GeneralTracker):
    """Records `active` optimizer steps after the first `wait` + `warmup`; a step ends when the first optimizer has stepped,
    not with each batch of accumulated gradients. What the program logs becomes counters. `options` are those of
    tacho.profile."""
    name = "tacho"
    requires_logging_directory = False
    main_process_only = False

    def __init__(self, path: str = "tacho_runs", *, wait: int = 4, warmup: int = 1, active: int = 10, repeat: int = 1,
                 **options: Any) -> None:
        self._recorder = StepRecorder(path, wait, warmup, active, repeat, {"auto_step": True, **options})
        super().__init__()

    @property
    def tracker(self) -> Any:
        return self._recorder.profiler

    def trace(self) -> Trace:
        """What this process has recorded."""
        return self._recorder.trace()

    def start(self) -> None:
        self._recorder.begin(is_first_rank())

    def store_init_configuration(self, values: Dict[str, Any]) -> None:
        self.start()  # versions before 1.8 do not call start

    def log(self, values: Dict[str, Any], step: Optional[int] = None, **_more: Any) -> None:
        self.start()
        for name, value in values.items():
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                counter(name, value)

    def finish(self) -> None:
        self._recorder.end()
