"""What the program answers: a Table has named columns with units, an Answer all tables of an analysis.

Both know the question they answer. Printing them shows the program's own text, as on the terminal, and
to_arrow() asks for the same table as binary columns, which need no parsing.
"""
import json
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence

from . import _html, _program
from ._values import in_words


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


class Table:
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
        self.verdict: Optional[Dict[str, Any]] = answer.verdict if answer else None
        self.quality: Dict[str, Any] = answer.quality if answer else {}

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, name: str) -> List[Any]:
        return self._columns[name]

    def __getattr__(self, name: str) -> List[Any]:
        columns = self.__dict__.get("_columns", {})
        if name in columns:
            return columns[name]
        raise AttributeError(f"table {self.__dict__.get('name')} has no column {name}")

    def __dir__(self) -> List[str]:
        return sorted({*super().__dir__(), *self.names})

    def _ipython_key_completions_(self) -> List[str]:
        return self.names

    def __contains__(self, name: str) -> bool:
        return name in self._columns

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        for i in range(self._n):
            yield {n: self._columns[n][i] for n in self.names}

    def rows(self) -> List[Dict[str, Any]]:
        return list(self)

    def row(self, **what: Any) -> Dict[str, Any]:
        """The first row with these values; raises KeyError if there is no such row."""
        for row in self:
            if all(row[k] == v for k, v in what.items()):
                return row
        raise KeyError(f"no row of {self.name} with {what}")

    def to_dict(self) -> Dict[str, List[Any]]:
        return {n: list(c) for n, c in self._columns.items()}

    def _about(self) -> Dict[str, Any]:
        """What belongs to the table as a whole."""
        about: Dict[str, Any] = {"table": self.name}
        if self._answer:
            about.update(analysis=self._answer.analysis, trace=self._answer.trace, verdict=self.verdict,
                         quality=self.quality)
        return about

    def to_pandas(self, durations: bool = False) -> Any:
        """A DataFrame; df.attrs has units, help, verdict and quality. With durations, times become
        timedelta64, otherwise whole nanoseconds."""
        import pandas
        frame = pandas.DataFrame(self._columns, columns=self.names)
        for c in self.columns:
            if durations and c.unit == "ns" and c.type == "int":
                frame[c.name] = pandas.to_timedelta(frame[c.name], unit="ns")
        frame.attrs.update(self._about(), units=dict(self.units), help=dict(self.help))
        return frame

    def _arrow(self, durations: bool = False) -> Any:
        from . import _arrow
        if not self._answer or not self._answer._question:
            raise _program.TachoError(f"table {self.name} is not the answer of a trace")
        about = {k: v if isinstance(v, str) else json.dumps(v, ensure_ascii=False)
                 for k, v in self._about().items() if v is not None}
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
        shown = [n for n in self.names if any(self._columns[n][i] is not None for i in order)]
        cells = [shown] + [[in_words(self._columns[n][i], self.units[n]) for n in shown] for i in order]
        widths = [min(max(len(row[k]) for row in cells), 55) for k in range(len(shown))]
        lines = ["  ".join(_fit(c, w, k == 0) for k, (c, w) in enumerate(zip(row, widths))).rstrip()
                 for row in cells]
        return "\n".join(lines) + "\n"

    def __repr__(self) -> str:
        rows = "1 row" if self._n == 1 else f"{self._n} rows"
        return f"<tacho.Table {self.name}: {rows}, {len(self.names)} columns>"

    def __str__(self) -> str:
        """The program's own text with the verdict before it, at most 100 rows."""
        text = self._answer._text(100, "--table", self.name) if self._answer else None
        return self.table() if text is None else text

    def _repr_html_(self) -> str:
        language = _program.language()
        sentence = self.verdict["text"][language] if self.verdict else None
        return _html.table(self.columns, self._columns, self._n, sentence, language)


# torch.profiler's names of columns, for sort_by
_TORCH = {"cpu_time_total": "host_total", "self_cpu_time_total": "host_self", "cpu_time": "mean",
          "device_time_total": "device_total", "self_device_time_total": "device_self",
          "cuda_time_total": "device_total", "self_cuda_time_total": "device_self", "count": "calls"}


def _column_of(name: str, names: Sequence[str]) -> str:
    name = _TORCH.get(name, name)
    if name not in names:
        raise KeyError(f"no column {name}; there are {', '.join(names)}")
    return name


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
