"""The throughput timer: how long a step takes, how long it waits for data, samples per second.

It measures what paddle.profiler.Profiler(timer_only=True) does: the time inside the data loader (reader), the
time between two steps (batch), and samples per second, or steps per second if no number of samples
is given. The summary leaves out the warm-up: it begins with the tenth step, like Paddle's. Unlike
Paddle's, its averages divide by the number of steps summed (Paddle divides by one less), and its
minimum is a true minimum.
"""
import math
import time
from typing import Callable, List, Optional

WARM_UP = 10


class _Series:
    """Values of one number in the summary."""

    def __init__(self) -> None:
        self.total, self.count, self.high, self.low = 0.0, 0, -math.inf, math.inf

    def add(self, value: float) -> None:
        self.total += value
        self.count += 1
        self.high, self.low = max(self.high, value), min(self.low, value)

    @property
    def mean(self) -> float:
        return self.total / self.count if self.count else 0.0


class _Window:
    """Sums since the last step_info."""

    def __init__(self) -> None:
        self.reader = self.batch = 0.0
        self.samples = self.steps = 0


class Timer:
    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._running = False
        self.reset()

    def reset(self) -> None:
        self.steps = 0
        self._window = _Window()
        self._reader, self._batch, self._ips = _Series(), _Series(), _Series()
        self._samples, self._batches = 0, 0.0
        self._counts_samples = False
        self._reader_now = 0.0
        self._reading_since: Optional[float] = None

    def start(self) -> None:
        self.reset()
        self._running = True
        self._last = self._clock()

    def stop(self) -> None:
        self._running = False

    def reader_begin(self) -> None:
        if self._running:
            self._reading_since = self._clock()

    def reader_end(self) -> None:
        if self._running and self._reading_since is not None:
            self._reader_now += self._clock() - self._reading_since
            self._reading_since = None

    def step(self, num_samples: Optional[int] = None) -> None:
        if not self._running:
            return
        now = self._clock()
        batch, self._last = now - self._last, now
        reader, self._reader_now = self._reader_now, 0.0
        self.steps += 1
        if num_samples is not None:
            self._counts_samples = True
        w = self._window
        w.reader += reader
        w.batch += batch
        w.steps += 1
        w.samples += num_samples or 0
        if self.steps >= WARM_UP:
            self._add_to_summary(reader, batch, num_samples or 0)

    def _add_to_summary(self, reader: float, batch: float, samples: int) -> None:
        self._reader.add(reader)
        self._batch.add(batch)
        self._samples += samples
        self._batches += batch
        if batch > 0:
            self._ips.add((samples if self._counts_samples else 1) / batch)

    def _unit(self, unit: Optional[str]) -> str:
        return f"{unit or 'samples'}/s" if self._counts_samples else "steps/s"

    def step_info(self, unit: Optional[str] = None) -> str:
        """The averages since the last call; parts that are 0 are omitted."""
        w, self._window = self._window, _Window()
        self._last_unit = unit
        parts: List[str] = []
        if w.steps and w.reader > 0:
            parts.append(f"reader_cost: {w.reader / w.steps:.5f} s")
        if w.steps and w.batch > 0:
            parts.append(f"batch_cost: {w.batch / w.steps:.5f} s")
            count = w.samples if self._counts_samples else w.steps
            parts.append(f"ips: {count / w.batch:.3f} {self._unit(unit)}")
        return (" " + " ".join(parts)) if parts else ""

    def _mean_ips(self) -> float:
        count = self._samples if self._counts_samples else self._batch.count
        return count / self._batches if self._batches > 0 else 0.0

    def summary(self, unit: Optional[str] = None) -> str:
        """The final table, or nothing if there were no steps after the warm-up."""
        if self.steps <= WARM_UP:
            return ""
        unit = unit or getattr(self, "_last_unit", None)
        lines = ["Perf Summary".center(100, "=")]
        if self._reader.total > 0 and self._batch.total > 0:
            lines.append(f"Reader Ratio: {self._reader.total / self._batch.total * 100:.3f}%")
        lines.append(f"Time Unit: s, IPS Unit: {self._unit(unit)}")
        lines.append(_row("", "avg", "max", "min"))
        rows = [("reader_cost", self._reader, self._reader.mean), ("batch_cost", self._batch, self._batch.mean),
                ("ips", self._ips, self._mean_ips())]
        for name, series, mean in rows:
            if series.total > 0:
                lines.append(_row(name, *(f"{v:.5f}" for v in (mean, series.high, series.low))))
        return "\n".join(lines)


def _row(*cells: str) -> str:
    return "|" + "|".join(f" {c.center(15)} " for c in cells) + "|"
