"""Reading results: tacho.load(path).operators(group_by="name+shape") and every other analysis.

A Trace asks the program tacho. Its methods, one for each analysis, are in _analyses.py, which is made
from the same table as the program's own help; tables.py has what they answer.
"""
import os
from typing import Any, Dict, List, Optional, Union

from . import _columns, _program, _view
from ._analyses import FIRST_TABLES, Analyses
from .server import Server
from .tables import Answer, Question, Table


def _options(words: Dict[str, Any]) -> List[str]:
    """group_by="name" as --group-by name, True as an option alone; None and False are left out."""
    line: List[str] = []
    for key, value in words.items():
        option = "--" + key.rstrip("_").replace("_", "-")
        if key == "sort" and isinstance(value, (list, tuple)):
            value = ",".join(value)
        for one in value if isinstance(value, (list, tuple)) else (value,):
            if one is True:
                line.append(option)
            elif one is not None and one is not False:
                line += [option, os.fspath(one) if isinstance(one, os.PathLike) else str(one)]
    return line


class Trace(Analyses):
    """A trace file, a folder of one run, or a log folder with run=, worker= and span= chosen.

    print(trace) is the verdict; as the result of a cell it is shown with bars. Every analysis is a method:
    trace.overview(), trace.operators(group_by="name+shape"); trace.query(sql) answers anything else."""

    def __init__(self, path: Union[str, "os.PathLike[str]"], **chosen: Any) -> None:
        self.path, self._chosen = os.fspath(path), chosen
        self._tables: Dict[str, "_columns.Columns"] = {}

    def ask(self, analysis: str, **words: Any) -> Answer:
        """Any analysis by name; options as keyword arguments, group_by="name" for --group-by name. The analysis "query"
        takes sql=."""
        words = {**self._chosen, **{k: v for k, v in words.items() if v is not None and v is not False}}
        # A comment at its start is not an option.
        sql = ["\n" + str(words.pop("sql"))] if analysis == "query" and "sql" in words else []
        question = Question([analysis.replace("_", "-"), self.path, *sql, *_options(words)], "limit" in words)
        return Answer(_program.ask(question.all()), question)

    def _asked(self, analysis: str, words: Dict[str, Any]) -> Any:
        answer = self.ask(analysis, **words)
        if analysis == "query":
            return next(iter(answer), Table("result", [], [], answer=answer))
        return answer[FIRST_TABLES[analysis]] if analysis in FIRST_TABLES else answer

    @property
    def workers(self) -> List[str]:
        """Names of the workers of the run, by rank."""
        words = {k: v for k, v in self._chosen.items() if k in ("run", "span")}
        line = ["distributed", self.path, *_options(words), "--all-workers", "--table", "overlap"]
        table = Answer(_program.ask([*line, "--limit", "0"]))["overlap"]
        order = sorted(table, key=lambda row: (row["rank"] is None, row["rank"] or 0))
        return [row["worker"] for row in order]

    def worker(self, name: str) -> "Trace":
        """The same run, one worker of it. A name that does not exist raises QuestionError, which lists those that do."""
        return Trace(self.path, **{**self._chosen, "worker": name})._checked()

    def _checked(self) -> "Trace":
        """Fails now if the run, worker or span that was chosen does not exist."""
        if {"run", "worker", "span"} & set(self._chosen):
            _program.run(["info", self.path, "--table", "trace", *_options(self._chosen)])
        return self

    def columns(self, table: str) -> "_columns.Columns":
        """A table of the trace by its name in SQL (`tacho query TRACE .tables`), as columns that numpy and
        pyarrow take without a copy. Read once; a trace that grows is to be loaded again."""
        if table not in self._tables:
            self._tables[table] = _columns.load(self.path, table, _options(self._chosen))
        return self._tables[table]

    @property
    def slices(self) -> "_columns.Columns":
        """Everything with a start and a duration: columns("slice")."""
        return self.columns("slice")

    @property
    def tracks(self) -> "_columns.Columns":
        """Threads and streams: columns("track")."""
        return self.columns("track")

    @property
    def device_work(self) -> "_columns.Columns":
        """Kernels, copies and memsets with their launch and operator: columns("kernel")."""
        return self.columns("kernel")

    @property
    def ops(self) -> "_columns.Columns":
        """Operators with shapes: columns("op")."""
        return self.columns("op")

    def export(self, form: str, path: Union[str, "os.PathLike[str]"], **words: Any) -> str:
        """Writes the trace in another format: chrome, perfetto, csv, stacks, speedscope, tacho,
        memory_flow.svg, arrow."""
        to = os.fspath(path)
        line = ["export", self.path, "--to", form, "-o", to, *_options({**self._chosen, **words})]
        _program.run(line)
        return to

    def summary(self, **words: Any) -> str:
        """The report to read first after a run."""
        return _program.as_wide(["summary", self.path, *_options({**self._chosen, **words})])

    def report(self, path: Union[str, "os.PathLike[str]"] = "report.html", **words: Any) -> str:
        """Writes one HTML file that opens anywhere, without a server, and returns its path. detail="3..5" includes every
        event of these steps."""
        to = os.fspath(path)
        _program.run(["report", self.path, "-o", to, "-q", *_options({**self._chosen, **words})])
        return to

    def serve(self, port: int = 0, **words: Any) -> Server:
        """Starts the page in the background, on a free port unless one is given: server.url is its address,
        server.stop() ends it, and so does the end of the program; server.wait() waits for an interrupt."""
        return Server(self.path, ["--port", str(port), *_options(words)])

    def __enter__(self) -> "Trace":
        return self

    def __exit__(self, *_why: Any) -> None:
        """Nothing is held open."""

    def __repr__(self) -> str:
        chosen = "".join(f" {k}={v}" for k, v in self._chosen.items())
        return f"<tacho.Trace {self.path}{chosen}>"

    def __str__(self) -> str:
        """The verdict, or what was recorded if there is none."""
        return _view.text(self)

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        """What IPython shows in a terminal."""
        printer.text(_view.text(self))

    def _repr_html_(self) -> str:
        return _view.html(self)

    def _repr_markdown_(self) -> Optional[str]:
        return _view.markdown(self)


def load(path: Union[str, "os.PathLike[str]"], **chosen: Any) -> Trace:
    """Opens any file or folder that `tacho` reads; run=, worker=, span= choose. A missing path raises
    TraceNotFoundError, which is also a FileNotFoundError; a run, worker or span that does not exist raises
    QuestionError, which is also a ValueError."""
    trace = Trace(path, **chosen)
    if "://" not in trace.path and not os.path.exists(trace.path):
        try:
            _program.run(["info", trace.path])
        except _program.TachoError as why:
            raise _program.TraceNotFoundError(str(why)) from None
    return trace._checked()
