"""Reports in the forms of Paddle and MindSpore, made by the program tacho."""
import csv
import enum
import json
from pathlib import Path
from typing import Any, List, NamedTuple, Optional, Sequence

from . import _program
from .trace import load


class SortedKeys(enum.IntEnum):
    CPUTotal = 0
    CPUAvg = 1
    CPUMax = 2
    CPUMin = 3
    GPUTotal = 4
    GPUAvg = 5
    GPUMax = 6
    GPUMin = 7


class SummaryView(enum.IntEnum):
    DeviceView = 0
    OverView = 1
    ModelView = 2
    DistributedView = 3
    KernelView = 4
    OperatorView = 5
    MemoryView = 6
    MemoryManipulationView = 7
    UDFView = 8


class TextOptions(NamedTuple):
    """MindSpore's options of the operators' tables."""
    is_detail: bool = True
    is_show_op_path: bool = False
    subgraph: str = "all"
    to_deal: str = ""
    not_deal: str = "Variable"


def as_json(value: Any) -> str:
    return json.dumps(value)


def _name(value: Any, kinds: Any) -> str:
    """CPUTotal for our key, for Paddle's own, for its number and for the word."""
    if isinstance(value, str):
        return value
    return kinds(getattr(value, "value", value)).name


def paddle_summary(trace: str, sorted_by: Any, op_detail: bool, thread_sep: bool, time_unit: str,
                   views: Any) -> str:
    words = ["summary", trace, "--style", "paddle", "--time-unit", time_unit,
             "--op-detail", "yes" if op_detail else "no"]
    if sorted_by is not None:
        words += ["--sorted-by", _name(sorted_by, SortedKeys)]
    if thread_sep:
        words.append("--thread-sep")
    if views is not None:
        chosen = views if isinstance(views, (list, tuple, set)) else [views]
        words += ["--views", ",".join(_name(v, SummaryView) for v in chosen)]
    return _program.run(words)


def _wanted(row: Any, options: TextOptions) -> bool:
    kind = row["type"] or row["name"]
    only = [w.strip() for w in options.to_deal.split(",") if w.strip()]
    never = [w.strip() for w in options.not_deal.split(",") if w.strip()]
    if options.subgraph not in ("all", "Default", "Gradients"):
        raise ValueError(f"subgraph is all, Default or Gradients, not {options.subgraph!r}")
    if options.subgraph != "all" and row["subgraph"] not in (None, options.subgraph):
        return False
    return (not only or kind in only) and kind not in never


COLUMNS = ("calls", "host_total", "host_self", "device_total", "device_self", "mean", "share")


def write_operators(trace: str, folder: Path, options: TextOptions, pretty: bool,
                    steps: Optional[Sequence[int]]) -> str:
    """operator_types.csv, with is_detail operator_details.csv, and both as JSON; the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    words = {"step": f"{min(steps)}..{max(steps)}"} if steps else {}
    forms = [("operator_types", "type")] + ([("operator_details", "name")] if options.is_detail else [])
    for name, group in forms:
        rows = load(trace).ask("operators", group_by=group, **words)["operators"].rows()
        label = "full_name" if options.is_show_op_path and group == "name" else "name"
        kept: List[List[Any]] = [[row[label] or row["name"], *(row[c] for c in COLUMNS)]
                                 for row in rows if _wanted(row, options)]
        with open(folder / f"{name}.csv", "w", newline="", encoding="utf-8") as file:
            out = csv.writer(file)
            out.writerow([label, *COLUMNS])
            out.writerows(kept)
        text = json.dumps([dict(zip((label, *COLUMNS), row)) for row in kept], indent=2 if pretty else None)
        (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    return str(folder)
