"""A whole trace at a glance: the verdict, where the time went, what takes longest, what was recorded.

A Trace, a Profiler and the cells of %%tacho show it: as HTML in a notebook, elsewhere as text. All of it comes from the
program tacho. A trace without operators shows the program's own ranges, or its Python functions.
"""
from typing import Any, List, Optional, Sequence, Tuple

from . import _html, _program
from ._text import KINDS, kind_words, say
from .tables import Answer, Table

MOST = 5  # rows of what takes longest
# Self time: without the functions that were called.
FUNCTIONS = """
select s.name as name, count(*) as calls, sum(s.dur - coalesce(c.dur, 0)) as self, sum(s.dur) as total
from slice s left join (select parent, sum(dur) as dur from slice where parent is not null group by parent) c
on c.parent = s.id where s.kind = 'python' group by s.name order by self desc limit 5"""
COLUMNS = {"operators": ("name", "calls", "device_self", "host_self", "host_total"),
           "ranges": ("name", "calls", "host_total", "host_mean", "device_total"),
           "functions": ("name", "calls", "self", "total")}
UNITS = {"self": "ns", "total": "ns", "calls": "count"}


class View:
    """The answers about a trace, asked once."""

    def __init__(self, trace: Any) -> None:
        self.trace, self.language = trace, trace._chosen.get("lang") or _program.language()
        self.overview: Answer = trace.ask("overview")
        self.info: Answer = trace.ask("info")
        self.parts = [(r["category"], r["time"] or 0, r["share"] or 0.0) for r in self.overview["breakdown"]]

    @property
    def verdict(self) -> Optional[str]:
        said = self.overview.verdict
        return said["text"][self.language] if said else None

    def counts(self) -> List[Tuple[str, int]]:
        return [(row["kind"], row["count"]) for row in self.info["events"]]

    def n_steps(self) -> int:
        return dict(self.counts()).get("step", 0)

    def recorded(self) -> str:
        counts = self.counts()
        if not counts:
            return say("recorded_nothing", self.language)
        known = [(kind, n) for kind, n in counts if kind in KINDS] or counts
        words = [kind_words(kind, n, self.language) for kind, n in known]
        return say("recorded", self.language, what=", ".join(words))

    def longest(self) -> Optional[Tuple[str, Table]]:
        """The kind and the rows of what takes longest: operators, the program's ranges, or Python functions."""
        kinds = dict(self.counts())
        if kinds.get("op"):
            return "operators", self.trace.ask("operators", limit=MOST)["operators"]
        if len(self.overview.tables.get("user_events", ())):
            return "ranges", self.overview["user_events"].head(MOST)
        return ("functions", self.functions()) if kinds.get("python") else None

    def functions(self) -> Table:
        found = self.trace.query(FUNCTIONS)
        columns = [{"name": c.name, "type": c.type, "unit": UNITS.get(c.name)} for c in found.columns]
        return Table("functions", columns, [list(row.values()) for row in found])


def _shares(table: Table, kind: str) -> Sequence[float]:
    """The length of each bar."""
    if kind == "operators":
        return [v or 0.0 for v in table["share"]]
    times = [v or 0 for v in table["host_total" if kind == "ranges" else "self"]]
    return [v / (max(times) or 1) for v in times]


def html(trace: Any) -> str:
    try:
        view = View(trace)
        found = view.longest()
    except _program.TachoError as why:
        return _html.title({"path": trace.path}) + _html.problem(str(why))
    facts = {**view.overview.trace, "path": trace.path, "worker": trace._chosen.get("worker")}
    said = _html.verdict(view.overview.verdict, view.language) if view.overview.verdict else ""
    page = _html.title(facts) + said
    if any(time for category, time, _ in view.parts if category != "other"):  # a bar of one part is useless
        page += _html.step(view.parts, view.n_steps(), view.language)
    if found and len(found[1]):
        kind, table = found
        columns = [c for n in COLUMNS[kind] for c in table.columns
                   if c.name == n and any(v is not None for v in table[n])]
        page += _html.longest(say(kind, view.language), columns, table.to_dict(), _shares(table, kind))
    return page + _html.line(view.recorded()) + _html.links(view.overview.trace.get("path") or trace.path, view.language)


def text(trace: Any) -> str:
    """The verdict; what was recorded if there is none, and how to record something if nothing was."""
    view = View(trace)
    return "\n".join(filter(None, (view.verdict, "" if view.verdict and view.counts() else view.recorded())))


def markdown(trace: Any) -> Optional[str]:
    try:
        view = View(trace)
    except _program.TachoError:
        return None
    return _html.markdown(view.overview.verdict, view.parts, view.n_steps(), view.language)
