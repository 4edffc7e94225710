"""Values in the units of their columns, as words for people."""
from typing import Any, Optional, Sequence


def _scaled(value: float, units: Sequence[str], factor: float) -> str:
    for unit in units[:-1]:
        if abs(value) < factor:
            return f"{value:.3f} {unit}" if isinstance(value, float) else f"{value} {unit}"
        value = value / factor
    return f"{value:.3f} {units[-1]}"


def in_words(value: Any, unit: Optional[str]) -> str:
    if value is None:
        return "-"
    if unit == "ns" and isinstance(value, (int, float)):
        return _scaled(value, ("ns", "us", "ms", "s"), 1000)
    if unit == "bytes" and isinstance(value, (int, float)):
        return _scaled(value, ("B", "KiB", "MiB", "GiB"), 1024)
    if unit == "share" and isinstance(value, (int, float)):
        return f"{value * 100:.1f} %"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
