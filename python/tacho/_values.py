"""Values in the units of their columns, as readable text; texts of other programs, made harmless."""
import re
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


_SCALES = {"ns": (("ns", "µs", "ms", "s"), 1000.0), "bytes": (("B", "KiB", "MiB", "GiB", "TiB"), 1024.0)}
WITH_THEIR_UNIT = ("share", *_SCALES)  # units that are written in each cell


def _digits(value: float) -> str:
    """Three significant digits."""
    return f"{value:.{max(0, 2 - len(str(int(abs(value)))) + 1)}f}"


def in_short(value: Any, unit: Optional[str]) -> str:
    """As the program writes it: 8.67 ms, 18.4 MiB, 29.0 %."""
    if unit == "share":
        return in_words(value, unit)
    if unit not in _SCALES or not isinstance(value, (int, float)):
        return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else in_words(value, unit)
    names, factor = _SCALES[unit]
    left, scaled = 0, float(value)
    while abs(scaled) >= factor * 0.9995 and left + 1 < len(names):  # 999.7 would be written 1000
        left, scaled = left + 1, scaled / factor
    return f"{_digits(scaled) if left or scaled != int(scaled) else int(scaled)} {names[left]}"


def shortened(text: str, most: int) -> str:
    """Shortened in the middle: names differ at their ends."""
    return text if len(text) <= most else f"{text[:most * 2 // 3]}…{text[len(text) - most // 3 + 1:]}"


# Characters that a terminal obeys, or that make two names look like one: those of the program (base/fmt.c).
_HOSTILE = re.compile("[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
                      "\ufff9-\ufffb\U000e0000-\U000e007f]")


def _escape(found: Any) -> str:
    code = ord(found.group())
    return f"\\x{code:02x}" if code < 0xa0 else f"\\u{code:04x}" if code <= 0xffff else f"\\U{code:08x}"


def safe(text: str, keep: str = "") -> str:
    """The text with control characters and invisible ones written out."""
    return _HOSTILE.sub(lambda found: found.group() if found.group() in keep else _escape(found), text)


def csv_field(value: Any) -> str:
    """A field as `tacho … --format csv` writes it: nothing for None, numbers as they are, texts that neither a
    terminal nor a spreadsheet takes for a command."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return repr(value)
    text = ("'" if value[:1] in tuple("=+-@\t\r") else "") + safe(value, "\n\t")
    return '"' + text.replace('"', '""') + '"' if not text or re.search('[,"\n\r]', text) else text
