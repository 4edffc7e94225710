"""What a notebook shows: tables with units in their heads, the verdict, the average step as a bar, what takes longest.

Plain HTML and SVG: no script, no style sheet, every text escaped. Texts take the notebook's own color,
fills are of middle brightness, so that both are readable on white and on black.
"""
import os
import shlex
from html import escape
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple
from urllib.parse import quote

from ._text import say
from ._values import WITH_THEIR_UNIT, in_short, safe, shortened

MOST_ROWS, MOST_LETTERS = 60, 64
WIDTH, HEIGHT = 640, 26
SEVERITIES = {"critical": "#D64545", "warning": "#C08813", "info": "#4B83E0", "good": "#2E9A5E"}
# The colors of the page, by what a moment of the step was spent on.
COLORS = {"kernel": "#3A86DE", "memcpy": "#C08813", "memset": "#9A7247", "communication": "#9F66B0",
          "runtime": "#2A8791", "data_loader": "#DA5B1E", "cpu_exec": "#4F9A70", "other": "#8D939A"}
CATEGORIES = tuple(COLORS)
NAMES = {"en": dict(zip(CATEGORIES, ("Kernel", "Memcpy", "Memset", "Communication", "Runtime",
                                     "Data loader", "CPU", "Other"))),
         "zh": dict(zip(CATEGORIES, ("核函数", "内存拷贝", "内存置零", "通信", "运行时调用", "数据加载",
                                     "CPU 执行", "其他")))}
# (category, time in ns, share)
Part = Tuple[str, int, float]


def _rule(color: str) -> str:
    return f"border-left:4px solid {color};padding:2px 10px;margin:6px 0"


def verdict(said: Mapping[str, Any], language: str) -> str:
    color = SEVERITIES.get(said.get("severity") or "", COLORS["other"])
    return f'<div style="{_rule(color)}">{escape(said["text"][language])}</div>'


def problem(text: str) -> str:
    return f'<div style="{_rule(SEVERITIES["critical"])}">{escape(text)}</div>'


# ---- tables ----

def _side(kind: str) -> str:
    return "left" if kind in ("string", "object") else "right"


def _head(column: Any) -> str:
    """The head has the unit unless each cell has its own; the help always has it."""
    unit, more = column.unit, ""
    said = " ".join(filter(None, (column.help, unit and f"({unit})")))
    if unit and unit != "count" and unit not in WITH_THEIR_UNIT:
        more = f' <span style="opacity:.6;font-weight:normal">{escape(unit)}</span>'
    return (f'<th style="text-align:{_side(column.type)}" title="{escape(said)}">'
            f"{escape(column.name)}{more}</th>")


def _cell(value: Any, column: Any) -> str:
    text = safe(in_short(value, column.unit))
    more = f' title="{escape(text)}"' if len(text) > MOST_LETTERS else ""
    return (f'<td style="text-align:{_side(column.type)};white-space:nowrap"{more}>'
            f"{escape(shortened(text, MOST_LETTERS))}</td>")


def table(shown: Sequence[Any], values: Mapping[str, List[Any]], n_rows: Tuple[int, int], sentence: str) -> str:
    """The first rows of these columns. n_rows: how many there are here, and in the whole table. An empty table shows
    its sentence."""
    here, whole = min(n_rows[0], MOST_ROWS), n_rows[1]
    if not here:
        return f"<p>{escape(sentence)}</p>"
    body = "".join("<tr>" + "".join(_cell(values[c.name][i], c) for c in shown) + "</tr>" for i in range(here))
    rest = say("rows", shown=here, all=whole)
    caption = f'<caption style="caption-side:bottom">{escape(rest)}</caption>' if whole > here else ""
    head = "".join(map(_head, shown))
    return (f'<div style="overflow-x:auto"><table>{caption}<thead><tr>{head}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>")


def longest(heading: str, columns: Sequence[Any], values: Mapping[str, List[Any]], shares: Sequence[float]) -> str:
    """A few rows, each with its share as a bar."""
    head = "".join(map(_head, columns)) + "<th></th>"
    rows = []
    for i, share in enumerate(shares):
        width = max(1, round(min(1.0, share) * 120))
        bar = (f'<svg width="120" height="10"><rect width="{width}" height="10" rx="2" fill="{COLORS["kernel"]}"/></svg>')
        rows.append("<tr>" + "".join(_cell(values[c.name][i], c) for c in columns) + f"<td>{bar}</td></tr>")
    return (f'<div style="margin:10px 0 2px">{escape(heading)}</div><div style="overflow-x:auto"><table><thead><tr>'
            f'{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>')


# ---- the average step ----

def name_of(category: str, language: str) -> str:
    return NAMES[language].get(category, category)


def _bar(parts: Sequence[Part], language: str, total: str) -> str:
    at, boxes = 0.0, []
    for category, time, share in parts:
        label = f"{name_of(category, language)} {in_short(time, 'ns')}, {in_short(share, 'share')}"
        boxes.append(f'<rect x="{at:.2f}" width="{max(share * WIDTH, 0):.2f}" height="{HEIGHT}" '
                     f'fill="{COLORS.get(category, COLORS["other"])}"><title>{escape(label)}</title></rect>')
        at += share * WIDTH
    return (f'<svg role="img" aria-label="{escape(total)}" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'preserveAspectRatio="none" style="width:100%;max-width:{WIDTH}px;height:{HEIGHT}px;'
            f'display:block;border-radius:4px">{"".join(boxes)}</svg>')


def _legend(parts: Sequence[Part], language: str) -> str:
    items = []
    for category, time, share in sorted(parts, key=lambda p: -p[1]):
        color = COLORS.get(category, COLORS["other"])
        items.append(f'<span style="white-space:nowrap;margin-right:16px;display:inline-block">'
                     f'<svg width="10" height="10" style="margin-right:5px">'
                     f'<rect width="10" height="10" rx="2" fill="{color}"/></svg>'
                     f"{escape(name_of(category, language))} "
                     f'<b>{escape(in_short(share, "share"))}</b> '
                     f'<span style="opacity:.7">{escape(in_short(time, "ns"))}</span></span>')
    return f'<div style="max-width:{WIDTH}px;line-height:1.7;margin-top:4px">{"".join(items)}</div>'


def average(parts: Sequence[Part], n_steps: int, language: str) -> str:
    """The title of the bar: the average step, or the whole recording if it has no steps."""
    return say("step" if n_steps else "whole", language, time=in_short(sum(p[1] for p in parts), "ns"))


def step(parts: Sequence[Part], n_steps: int, language: str) -> str:
    """The bar of the average step with its legend, or nothing if no time was recorded."""
    present = [p for p in parts if p[1]]
    if not present:
        return ""
    total = average(parts, n_steps, language)
    return (f'<div style="margin:8px 0 4px">{escape(total)}</div>{_bar(present, language, total)}'
            f"{_legend(present, language)}")


def line(text: str) -> str:
    return f'<div style="opacity:.8;margin:4px 0">{escape(text)}</div>'


def links(path: str, language: str) -> str:
    """A link that saves the trace, and the command that shows its page. The link needs a file below the notebook's
    folder: Jupyter serves no others."""
    save = ""
    if os.path.isfile(path) and not os.path.relpath(path).startswith(os.pardir):
        to = quote(os.path.relpath(path).replace(os.sep, "/"))
        save = f'<a href="{escape(to)}" download>{escape(say("save", language))}</a> · '
    more = say("more", language, command=f"tacho serve {shlex.quote(path)}")
    return f'<div style="margin-top:8px">{save}<span style="opacity:.7">{escape(more)}</span></div>'


def title(facts: Mapping[str, Any]) -> str:
    what = " · ".join(str(facts[k]) for k in ("run", "worker", "format") if facts.get(k))
    more = f' <span style="opacity:.7">{escape(what)}</span>' if what else ""
    return f'<div><b>{escape(str(facts.get("path", "")))}</b>{more}</div>'


# ---- the same without HTML ----

def markdown(said: Optional[Mapping[str, Any]], parts: Sequence[Part], n_steps: int, language: str) -> str:
    lines = [_plain(said["text"][language])] if said else []
    present = [p for p in parts if p[1]]
    if present:
        lines += ["", average(parts, n_steps, language), "", "| | | |", "|---|--:|--:|"]
        lines += [f"| {_plain(name_of(c, language))} | {in_short(t, 'ns')} | {in_short(s, 'share')} |"
                  for c, t, s in present]
    return "\n".join(lines)


def _plain(text: str) -> str:
    """A text in which nothing is markup."""
    marked: Dict[int, str] = {ord(c): "\\" + c for c in "\\`*_[]#|~!"}
    marked.update({ord("<"): "&lt;", ord(">"): "&gt;", ord("&"): "&amp;"})
    return text.translate(marked)
