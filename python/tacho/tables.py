"""What the program answers: a Table has named columns with units, an Answer all tables of an analysis.

Both know the question they answer. Printing them shows the program's own text, as on the terminal, and
to_arrow() asks for the same table as binary columns, which need no parsing. A part of a table (head(), a
slice) has only its values. Rows is the common part of these tables and those of the trace (_columns.py).
"""
import json
import os
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Union

from . import _html, _program
from ._text import say
from ._values import csv_field, in_words, safe


class Column(NamedTuple):
    name: str
    type: str
    unit: Optional[str]
    help: Optional[str]


class Help(Dict[str, Optional[str]]):
    """What each column means, by name; print or call it for a readable list."""

    def __init__(self, columns: Sequence[Column]) -> None:
        super().__init__((c.name, c.help) for c in columns)
        self._columns = columns

    def __str__(self) -> str:
        width = max((len(c.name) for c in self._columns), default=0)
        return "\n".join(f"{c.name.ljust(width)}  {c.help or ''}{f' ({c.unit})' if c.unit else ''}"
                         for c in self._columns)

    def __call__(self, *names: str) -> None:
        print(Help([c for c in self._columns if not names or c.name in names]))


class Question(NamedTuple):
    """The command line that gives this answer again."""
    words: Sequence[str]
    has_limit: bool

    def text(self, most_rows: int, *more: str) -> str:
        limit = () if self.has_limit else ("--limit", str(most_rows))
        return _program.text([*self.words, *limit, *more]).rstrip("\n")

    def all(self) -> List[str]:
        return [*self.words, *(() if self.has_limit else ("--limit", "0"))]


class Rows:
    """Rows of named columns: table["name"] is a column, table[0] a row, table[:5] and head() a shorter table. A
    subclass has its columns, with a name, a type, a unit and a help each, and their values."""

    def _described(self) -> Sequence[Any]:
        raise NotImplementedError

    def _values(self, name: str) -> Sequence[Any]:
        raise NotImplementedError

    def _title(self) -> str:
        raise NotImplementedError

    def _about(self) -> Dict[str, Any]:
        """What belongs to the table as a whole."""
        return {"table": self._title()}

    def __len__(self) -> int:
        raise NotImplementedError

    def __contains__(self, name: object) -> bool:
        return any(c.name == name for c in self._described())

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        return (self._row(i) for i in range(len(self)))

    def _row(self, i: int) -> Dict[str, Any]:
        return {c.name: self._values(c.name)[i] for c in self._described()}

    def __getitem__(self, which: Union[str, int, slice]) -> Any:
        if isinstance(which, slice):
            return self._part(which)
        if hasattr(which, "__index__"):
            i = which.__index__()  # type: ignore[union-attr]
            if not -len(self) <= i < len(self):
                raise IndexError(f"table {self._title()} has {len(self)} rows, and no row {i}")
            return self._row(i + len(self) if i < 0 else i)
        if which not in self:
            raise KeyError(f"table {self._title()} has no column {which}; it has "
                           + ", ".join(c.name for c in self._described()))
        return self._values(str(which))

    def _part(self, which: slice) -> "Table":
        chosen = range(len(self))[which]
        columns = [self._values(c.name) for c in self._described()]
        described = [{"name": c.name, "type": c.type, "unit": c.unit, "help": c.help} for c in self._described()]
        part = Table(self._title(), described, [[column[i] for column in columns] for i in chosen], len(self))
        part._about_whole = self._about()
        return part

    def head(self, n: int = 5) -> "Table":
        """The first n rows, as a table."""
        return self._part(slice(0, max(0, n)))

    def to_dict(self) -> Dict[str, List[Any]]:
        """The values of each column, by name."""
        return {c.name: list(self._values(c.name)) for c in self._described()}

    def to_csv(self, path: Union[None, str, "os.PathLike[str]"] = None) -> Optional[str]:
        """Writes a CSV file as `tacho … --format csv` does; without a path returns its text. None is an empty field,
        times are nanoseconds."""
        columns = [self._values(c.name) for c in self._described()]
        lines = [",".join(csv_field(c.name) for c in self._described())]
        lines += [",".join(csv_field(column[i]) for column in columns) for i in range(len(self))]
        text = "".join(line + "\r\n" for line in lines)
        if path is None:
            return text
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        return None

    def _for_pandas(self, name: str) -> Any:
        return list(self._values(name))

    def to_pandas(self, durations: bool = False) -> Any:
        """A DataFrame; df.attrs has units, help, verdict and quality. With durations, times become timedelta64, otherwise
        they are whole nanoseconds. What was not recorded is missing, never 0."""
        import pandas
        described = self._described()
        frame = pandas.DataFrame({c.name: self._for_pandas(c.name) for c in described},
                                 columns=[c.name for c in described])
        for c in described:
            if durations and c.unit == "ns" and c.type == "int":
                frame[c.name] = pandas.to_timedelta(frame[c.name], unit="ns")
        frame.attrs.update(self._about(), units={c.name: c.unit for c in described},
                           help={c.name: c.help for c in described})
        return frame

    def _repr_html_(self) -> str:
        return self.head(_html.MOST_ROWS)._repr_html_()


# The order of columns that the registry does not list for a screen.
_UNITS = ("ns", "share", "bytes", "count")


def _rank(column: Column) -> int:
    if column.type in ("string", "object"):
        return len(_UNITS) + 1
    return _UNITS.index(column.unit) if column.unit in _UNITS else len(_UNITS)


class Table(Rows):
    def __init__(self, name: str, columns: Sequence[Dict[str, Any]], rows: Sequence[Sequence[Any]],
                 total_rows: Optional[int] = None, answer: Optional["Answer"] = None) -> None:
        self.name = name
        self.columns = [Column(c["name"], c.get("type", "string"), c.get("unit"), c.get("help"))
                        for c in columns]
        self.names: List[str] = [c.name for c in self.columns]
        self.units: Dict[str, Optional[str]] = {c.name: c.unit for c in self.columns}
        self.help = Help(self.columns)
        self._columns: Dict[str, List[Any]] = {
            n: [row[i] for row in rows] for i, n in enumerate(self.names)}
        self._n = len(rows)
        self.total_rows = total_rows if total_rows is not None else self._n
        self._answer = answer
        self._about_whole: Optional[Dict[str, Any]] = None  # of the table that this is a part of
        self.verdict: Optional[Dict[str, Any]] = answer.verdict if answer else None
        self.quality: Dict[str, Any] = answer.quality if answer else {}

    def __len__(self) -> int:
        return self._n

    def _described(self) -> Sequence[Column]:
        return self.columns

    def _values(self, name: str) -> List[Any]:
        return self._columns[name]

    def _title(self) -> str:
        return self.name

    def __getattr__(self, name: str) -> List[Any]:
        columns = self.__dict__.get("_columns", {})
        if name in columns:
            return columns[name]
        raise AttributeError(f"table {self.__dict__.get('name')} has no column {name}")

    def __dir__(self) -> List[str]:
        return sorted({*super().__dir__(), *self.names})

    def _ipython_key_completions_(self) -> List[str]:
        return self.names

    def rows(self) -> List[Dict[str, Any]]:
        return list(self)

    def row(self, **what: Any) -> Dict[str, Any]:
        """The first row with these values; raises KeyError if there is no such row."""
        for row in self:
            if all(row[k] == v for k, v in what.items()):
                return row
        raise KeyError(f"no row of {self.name} with {what}")

    def _about(self) -> Dict[str, Any]:
        about: Dict[str, Any] = {"table": self.name}
        if self._answer:
            about.update(analysis=self._answer.analysis, trace=self._answer.trace, verdict=self.verdict,
                         quality=self.quality)
        return self._about_whole or about

    def _arrow(self, durations: bool = False) -> Any:
        from . import _arrow
        about = {k: v if isinstance(v, str) else json.dumps(v, ensure_ascii=False)
                 for k, v in self._about().items() if v is not None}
        if not self._answer or not self._answer._question:
            source = _arrow.written([(c, self._columns[c.name]) for c in self.columns], self._n)
            return _arrow.read(source, about, self.help, durations)
        words = [*self._answer._question.all(), "--table", self.name]
        return _program.columns(words, lambda source: _arrow.read(source, about, self.help, durations))

    def to_arrow(self, durations: bool = False) -> Any:
        """A pyarrow.Table if pyarrow is installed, otherwise an object that every library with Arrow's
        PyCapsule interface accepts. Units and help are the metadata of the fields. With durations times
        are duration[ns], otherwise int64. The columns are not copied."""
        columns = self._arrow(durations)
        try:
            import pyarrow
        except ImportError:
            return columns
        return pyarrow.table(columns) if hasattr(pyarrow.Table, "__arrow_c_stream__") else columns

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Arrow's PyCapsule interface: polars.DataFrame(table), pyarrow.table(table), duckdb…"""
        return self._arrow().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> Any:
        return self._arrow().__arrow_c_schema__()

    def table(self, sort_by: Optional[str] = None, row_limit: int = 100, **_more: Any) -> str:
        """Text like key_averages().table(); sort_by is a column, largest first."""
        order = list(range(self._n))
        if sort_by is not None:
            column = self._columns[_column_of(sort_by, self.names)]
            order.sort(key=lambda i: (column[i] is None, -(column[i] or 0)
                                      if not isinstance(column[i], str) else column[i]))
        if row_limit >= 0:
            order = order[:row_limit]
        if not order:
            return f"{self._sentence()}\n"
        shown = [c.name for c in self._shown(order)]
        cells = [shown] + [[safe(in_words(self._columns[n][i], self.units[n])) for n in shown] for i in order]
        widths = [min(max(len(row[k]) for row in cells), 55) for k in range(len(shown))]
        lines = ["  ".join(_fit(c, w, k == 0) for k, (c, w) in enumerate(zip(row, widths))).rstrip()
                 for row in cells]
        return "\n".join(lines) + "\n"

    def _sentence(self) -> str:
        """The text of a table without rows."""
        return self.verdict["text"][_program.language()] if self.verdict else say("no_rows")

    def _shown(self, order: Sequence[int]) -> List[Column]:
        """The columns with values in these rows: the first, those that a screen shows, then times, shares, sizes,
        counts and the rest. A text column that repeats another one is left out."""
        from ._analyses import SHOWN
        chosen = SHOWN.get((self._about().get("analysis", ""), self.name), "").split()
        ranked = self.columns[1:]
        if chosen:  # a query keeps the order of its SELECT
            ranked.sort(key=lambda c: (chosen.index(c.name) if c.name in chosen else len(chosen), _rank(c)))
        shown: List[Column] = []
        for c in [*self.columns[:1], *ranked]:
            values = [self._columns[c.name][i] for i in order]
            repeats = c.type == "string" and any(values == [self._columns[s.name][i] for i in order] for s in shown)
            if not repeats and any(v is not None for v in values):
                shown.append(c)
        return shown

    def __repr__(self) -> str:
        rows = "1 row" if self._n == 1 else f"{self._n} rows"
        return f"<tacho.Table {self.name}: {rows}, {len(self.names)} columns>"

    def __str__(self) -> str:
        """The program's own text with the verdict before it, at most 100 rows."""
        text = self._answer._text(100, "--table", self.name) if self._answer else None
        return self.table() if text is None else text

    def _repr_html_(self) -> str:
        rows = range(min(self._n, _html.MOST_ROWS))
        return _html.table(self._shown(rows), self._columns, (self._n, self.total_rows), self._sentence())


# torch.profiler's names of columns, for sort_by; a table of ranges has no self time.
_TORCH = {"cpu_time_total": ("host_total",), "self_cpu_time_total": ("host_self", "host_total"),
          "cpu_time": ("mean", "host_mean"), "count": ("calls",),
          **{f"{device}_time_total": ("device_total",) for device in ("device", "cuda", "xpu")},
          **{f"self_{device}_time_total": ("device_self", "device_total") for device in ("device", "cuda", "xpu")}}


def _column_of(name: str, names: Sequence[str]) -> str:
    found = [n for n in _TORCH.get(name, (name,)) if n in names]
    if not found:
        raise KeyError(f"no column {name}; there are {', '.join(names)}")
    return found[0]


def _fit(text: str, width: int, left: bool) -> str:
    if len(text) > width:
        text = text[:width - 1] + "…"
    return text.ljust(width) if left else text.rjust(width)


class Answer:
    """All tables of one analysis, with the data quality and the verdict."""

    def __init__(self, data: Dict[str, Any], question: Optional[Question] = None) -> None:
        self.analysis: str = data["analysis"]
        self.trace: Dict[str, Any] = data.get("trace", {})
        self.quality: Dict[str, Any] = data.get("quality", {})
        self.verdict: Optional[Dict[str, Any]] = data.get("verdict")
        self._question = question
        self.tables = {name: Table(name, t["columns"], t["rows"], t.get("total_rows"), self)
                       for name, t in data["tables"].items()}

    def __getitem__(self, name: str) -> Table:
        return self.tables[name]

    def __getattr__(self, name: str) -> Table:
        tables = self.__dict__.get("tables", {})
        if name in tables:
            return tables[name]
        raise AttributeError(f"{self.__dict__.get('analysis')} has no table {name}")

    def __dir__(self) -> List[str]:
        return sorted({*super().__dir__(), *self.tables})

    def __iter__(self) -> Iterator[Table]:
        return iter(self.tables.values())

    def _ipython_key_completions_(self) -> List[str]:
        return list(self.tables)

    def _text(self, most_rows: int, *more: str) -> Optional[str]:
        """None if the program cannot be asked again: the trace may be gone."""
        try:
            return self._question.text(most_rows, *more) if self._question else None
        except _program.TachoError:
            return None

    def __repr__(self) -> str:
        full = [f"{n} ({len(t)})" for n, t in self.tables.items() if len(t)]
        return f"<tacho.Answer {self.analysis}: {', '.join(full) or 'no rows'}>"

    def __str__(self) -> str:
        """The program's own text: the verdict, then ten rows of each table unless limit= said more."""
        text = self._text(10)
        return repr(self) if text is None else text

    def _repr_html_(self) -> str:
        head = _html.verdict(self.verdict, _program.language()) if self.verdict else ""
        return head + "".join(f"<h4>{_html.escape(n)}</h4>{t._repr_html_()}"
                              for n, t in self.tables.items() if len(t))
