"""What a notebook shows: tables with units in their heads, the verdict, and the average step as a bar.

Plain HTML and SVG: no script, no style sheet, every text escaped. Texts take the notebook's own color,
fills are of middle brightness, so that both are read on white and on black.
"""
from html import escape
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from ._values import WITH_THEIR_UNIT, in_short, shortened

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
WORDS = {"en": {"step": "Average step: {time}", "rows": "{shown} of {all} rows", "none": "no rows"},
         "zh": {"step": "平均步：{time}", "rows": "共 {all} 行，显示 {shown} 行", "none": "没有行"}}
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
    """The unit stands here unless each cell says its own; the help has it in any case."""
    unit, more = column.unit, ""
    said = " ".join(filter(None, (column.help, unit and f"({unit})")))
    if unit and unit not in WITH_THEIR_UNIT:
        more = f' <span style="opacity:.6;font-weight:normal">{escape(unit)}</span>'
    return (f'<th style="text-align:{_side(column.type)}" title="{escape(said)}">'
            f"{escape(column.name)}{more}</th>")


def _cell(value: Any, column: Any) -> str:
    text = in_short(value, column.unit)
    more = f' title="{escape(text)}"' if len(text) > MOST_LETTERS else ""
    return (f'<td style="text-align:{_side(column.type)};white-space:nowrap"{more}>'
            f"{escape(shortened(text, MOST_LETTERS))}</td>")


def table(columns: Sequence[Any], values: Mapping[str, List[Any]], n_rows: int, sentence: Optional[str],
          language: str) -> str:
    """The first rows; columns without any value are left out. An empty table is its sentence."""
    if not n_rows:
        return f"<p>{escape(sentence or WORDS[language]['none'])}</p>"
    shown = [c for c in columns if any(v is not None for v in values[c.name])]
    body = "".join("<tr>" + "".join(_cell(values[c.name][i], c) for c in shown) + "</tr>"
                   for i in range(min(n_rows, MOST_ROWS)))
    rest = WORDS[language]["rows"].format(shown=MOST_ROWS, all=n_rows)
    caption = f'<caption style="caption-side:bottom">{rest}</caption>' if n_rows > MOST_ROWS else ""
    head = "".join(map(_head, shown))
    return (f'<div style="overflow-x:auto"><table>{caption}<thead><tr>{head}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>")


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


def _average(parts: Sequence[Part], language: str) -> str:
    return WORDS[language]["step"].format(time=in_short(sum(p[1] for p in parts), "ns"))


def step(parts: Sequence[Part], language: str) -> str:
    """The bar of the average step with its legend; nothing when no step was recorded."""
    present = [p for p in parts if p[1]]
    if not present:
        return ""
    total = _average(parts, language)
    return (f'<div style="margin:8px 0 4px">{escape(total)}</div>{_bar(present, language, total)}'
            f"{_legend(present, language)}")


def title(facts: Mapping[str, Any]) -> str:
    what = " · ".join(str(facts[k]) for k in ("run", "worker", "format") if facts.get(k))
    more = f' <span style="opacity:.7">{escape(what)}</span>' if what else ""
    return f'<div><b>{escape(str(facts.get("path", "")))}</b>{more}</div>'


# ---- the same without HTML ----

def markdown(said: Optional[Mapping[str, Any]], parts: Sequence[Part], language: str) -> str:
    lines = [_plain(said["text"][language])] if said else []
    present = [p for p in parts if p[1]]
    if present:
        lines += ["", _average(parts, language), "", "| | | |", "|---|--:|--:|"]
        lines += [f"| {_plain(name_of(c, language))} | {in_short(t, 'ns')} | {in_short(s, 'share')} |"
                  for c, t, s in present]
    return "\n".join(lines)


def _plain(text: str) -> str:
    """A text in which nothing is markup."""
    marked: Dict[int, str] = {ord(c): "\\" + c for c in "\\`*_[]#|~!"}
    marked.update({ord("<"): "&lt;", ord(">"): "&gt;", ord("&"): "&amp;"})
    return text.translate(marked)
