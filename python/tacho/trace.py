"""Reading back: tacho.load(path).operators(group_by="name+shape") and every other analysis.

A Trace asks the program tacho and gets the tables of its JSON. A Table has its columns as lists, in the
units of its `units`; to_pandas() where pandas is there; a notebook shows it as an HTML table.
"""
import html
from typing import Any, Dict, Iterator, List, Optional, Sequence

from . import _program


class Table:
    def __init__(self, name: str, columns: Sequence[Dict[str, Any]], rows: Sequence[Sequence[Any]],
                 total_rows: Optional[int] = None) -> None:
        self.name = name
        self.names: List[str] = [c["name"] for c in columns]
        self.units: Dict[str, Optional[str]] = {c["name"]: c.get("unit") for c in columns}
        self.help: Dict[str, Optional[str]] = {c["name"]: c.get("help") for c in columns}
        self._columns: Dict[str, List[Any]] = {
            n: [row[i] for row in rows] for i, n in enumerate(self.names)}
        self._n = len(rows)
        self.total_rows = total_rows if total_rows is not None else self._n

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, name: str) -> List[Any]:
        return self._columns[name]

    def __getattr__(self, name: str) -> List[Any]:
        columns = self.__dict__.get("_columns", {})
        if name in columns:
            return columns[name]
        raise AttributeError(f"table {self.__dict__.get('name')} has no column {name}")

    def __contains__(self, name: str) -> bool:
        return name in self._columns

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        for i in range(self._n):
            yield {n: self._columns[n][i] for n in self.names}

    def rows(self) -> List[Dict[str, Any]]:
        return list(self)

    def row(self, **what: Any) -> Dict[str, Any]:
        """The first row with these values; KeyError when there is none."""
        for row in self:
            if all(row[k] == v for k, v in what.items()):
                return row
        raise KeyError(f"no row of {self.name} with {what}")

    def to_dict(self) -> Dict[str, List[Any]]:
        return {n: list(c) for n, c in self._columns.items()}

    def to_pandas(self) -> Any:
        import pandas
        return pandas.DataFrame(self._columns, columns=self.names)

    def table(self, sort_by: Optional[str] = None, row_limit: int = 100, **_more: Any) -> str:
        """Text, as key_averages().table() gives it; sort_by is a column, the largest first."""
        order = list(range(self._n))
        if sort_by is not None:
            column = self._columns[_column_of(sort_by, self.names)]
            order.sort(key=lambda i: (column[i] is None, -(column[i] or 0)
                                      if not isinstance(column[i], str) else column[i]))
        if row_limit >= 0:
            order = order[:row_limit]
        shown = [n for n in self.names if any(self._columns[n][i] is not None for i in order)]
        cells = [shown] + [[_text(self._columns[n][i], self.units[n]) for n in shown] for i in order]
        widths = [min(max(len(row[k]) for row in cells), 55) for k in range(len(shown))]
        lines = ["  ".join(_fit(c, w, k == 0) for k, (c, w) in enumerate(zip(row, widths))).rstrip()
                 for row in cells]
        return "\n".join(lines) + "\n"

    def __repr__(self) -> str:
        return f"<tacho.Table {self.name}: {self._n} rows, columns {', '.join(self.names)}>"

    __str__ = table

    def _repr_html_(self) -> str:
        most = 60
        shown = [n for n in self.names if any(v is not None for v in self._columns[n])]
        head = "".join(f'<th title="{html.escape(self.help[n] or "", quote=True)}">{html.escape(n)}</th>'
                       for n in shown)
        body = []
        for i in range(min(self._n, most)):
            cells = (self._columns[n][i] for n in shown)
            body.append("<tr>" + "".join(_cell(v, self.units[n]) for v, n in zip(cells, shown)) + "</tr>")
        rest = f"<caption>{most} of {self._n} rows</caption>" if self._n > most else ""
        return f"<table>{rest}<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"


# torch.profiler's names of columns, for sort_by
_TORCH = {"cpu_time_total": "host_total", "self_cpu_time_total": "host_self", "cpu_time": "mean",
          "device_time_total": "device_total", "self_device_time_total": "device_self",
          "cuda_time_total": "device_total", "self_cuda_time_total": "device_self", "count": "calls"}


def _column_of(name: str, names: Sequence[str]) -> str:
    name = _TORCH.get(name, name)
    if name not in names:
        raise KeyError(f"no column {name}; there are {', '.join(names)}")
    return name


def _scaled(value: float, units: Sequence[str], factor: float) -> str:
    for unit in units[:-1]:
        if abs(value) < factor:
            return f"{value:.3f} {unit}" if isinstance(value, float) else f"{value} {unit}"
        value = value / factor
    return f"{value:.3f} {units[-1]}"


def _text(value: Any, unit: Optional[str]) -> str:
    if value is None:
        return "-"
    if unit == "ns" and isinstance(value, (int, float)):
        return _scaled(value, ("ns", "us", "ms", "s"), 1000)
    if unit == "bytes" and isinstance(value, (int, float)):
        return _scaled(value, ("B", "KiB", "MiB", "GiB"), 1024)
    if unit == "share" and isinstance(value, (int, float)):
        return f"{value * 100:.1f} %"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _fit(text: str, width: int, left: bool) -> str:
    if len(text) > width:
        text = text[:width - 1] + "…"
    return text.ljust(width) if left else text.rjust(width)


def _cell(value: Any, unit: Optional[str]) -> str:
    side = "left" if isinstance(value, str) else "right"
    return f'<td style="text-align:{side}">{html.escape(_text(value, unit))}</td>'


class Answer:
    """All tables of one analysis, with what it says of the trace's quality and its verdict."""

    def __init__(self, data: Dict[str, Any]) -> None:
        self.analysis: str = data["analysis"]
        self.trace: Dict[str, Any] = data.get("trace", {})
        self.quality: Dict[str, Any] = data.get("quality", {})
        self.verdict: Optional[Dict[str, Any]] = data.get("verdict")
        self.tables = {name: Table(name, t["columns"], t["rows"], t.get("total_rows"))
                       for name, t in data["tables"].items()}

    def __getitem__(self, name: str) -> Table:
        return self.tables[name]

    def __getattr__(self, name: str) -> Table:
        tables = self.__dict__.get("tables", {})
        if name in tables:
            return tables[name]
        raise AttributeError(f"{self.__dict__.get('analysis')} has no table {name}")

    def __repr__(self) -> str:
        return f"<tacho.Answer {self.analysis}: {', '.join(f'{n} ({len(t)})' for n, t in self.tables.items())}>"

    def _repr_html_(self) -> str:
        return "".join(f"<h4>{html.escape(n)}</h4>{t._repr_html_()}" for n, t in self.tables.items() if len(t))


class Trace:
    """A trace file, a folder of one run, or a log folder with run=, worker= and span= chosen."""

    def __init__(self, path: str, **chosen: Any) -> None:
        self.path, self._chosen = str(path), chosen

    def ask(self, analysis: str, **words: Any) -> Answer:
        """Any analysis of `tacho --help`; options as words, group_by="name" for --group-by name."""
        words = {**self._chosen, **words}
        line = [analysis.replace("_", "-"), self.path]
        for key, value in words.items():
            if value is None or value is False:
                continue
            line.append("--" + key.replace("_", "-"))
            if value is not True:
                line.append(str(value))
        if "limit" not in words:
            line += ["--limit", "0"]
        return Answer(_program.ask(line))

    def operators(self, **words: Any) -> Table:
        return self.ask("operators", **words)["operators"]

    def kernels(self, **words: Any) -> Table:
        return self.ask("kernels", **words)["kernels"]

    def modules(self, **words: Any) -> Table:
        return self.ask("modules", **words)["modules"]

    def steps(self, **words: Any) -> Table:
        return self.ask("steps", **words)["steps"]

    def advise(self, **words: Any) -> Table:
        return self.ask("advise", **words)["advice"]

    def __getattr__(self, analysis: str) -> Any:
        """Every other analysis by its name: info, overview, memory, pipeline, distributed…"""
        if analysis.startswith("_"):
            raise AttributeError(analysis)
        return lambda **words: self.ask(analysis, **words)

    def export(self, form: str, path: str) -> str:
        return _program.export(self.path, form, path)

    def summary(self) -> str:
        return _program.run(["summary", self.path])

    def __repr__(self) -> str:
        return f"<tacho.Trace {self.path}>"


def load(path: str, **chosen: Any) -> Trace:
    """A trace to ask: any file or folder that `tacho` reads."""
    return Trace(path, **chosen)
