"""%tacho and %%tacho: record a statement or a cell of a notebook, and show where its time went.

    %load_ext tacho

    %%tacho -o runs/x --shapes --memory --stack
    train()

    %tacho model(batch)

The code runs in the notebook's interpreter and namespace; its last expression is the result of the cell. A step ends
when the first optimizer steps, unless the code marks its own steps.
"""
import ast
import re
import time
from html import escape
from typing import Any, Callable, Dict, Tuple

from IPython.core.error import UsageError
from IPython.display import display

from ._text import say
from ._values import in_short
from .profiler import Profiler
from .trace import Trace

# Option: the parameter it sets, and its value; "" means that a value follows. Named as in `tacho record`.
OPTIONS = {"-o": ("path", ""), "--output": ("path", ""), "--shapes": ("record_shapes", True),
           "--memory": ("profile_memory", True), "--stack": ("with_stack", True), "--flops": ("with_flops", True),
           "-r": ("returns", True), "--return": ("returns", True)}
OPTION = re.compile(r"\s*(-\w|--[\w-]+)(?=[\s=]|$)")
VALUE = re.compile(r"[\s=]+(?:\"([^\"]*)\"|'([^']*)'|(\S+))")


class Recorded:
    """The trace of a cell, with how long the cell took."""

    def __init__(self, trace: Trace, seconds: float) -> None:
        self.trace, self._time = trace, say("cell_took", time=in_short(round(seconds * 1e9), "ns"))

    def __repr__(self) -> str:
        return f"{self.trace}\n{self._time}, {self.trace.path}"

    def _repr_html_(self) -> str:
        return f"<div>{escape(self._time)}</div>{self.trace._repr_html_()}"


def split(line: str) -> Tuple[Dict[str, Any], str]:
    """The options at the start of a line, and the rest of it as it was written."""
    chosen: Dict[str, Any] = {}
    found = OPTION.match(line)
    while found:
        option, line = found.group(1), line[found.end():]
        if option not in OPTIONS:
            raise UsageError(say("magic_option", option=option, options=" ".join(OPTIONS)))
        name, value = OPTIONS[option]
        if value == "":
            given = VALUE.match(line)
            if not given:
                raise UsageError(say("magic_value", option=option))
            value, line = next(v for v in given.groups() if v is not None), line[given.end():]
        chosen[name] = value
        found = OPTION.match(line)
    return chosen, line.strip()


def prepared(shell: Any, source: str) -> Callable[[], Any]:
    """A function that runs the code as a cell and returns the value of its last expression, or None if the code ends
    with a semicolon."""
    tree = shell.transform_ast(shell.compile.ast_parse(shell.transform_cell(source)))
    name = shell.compile.cache(source, shell.execution_count)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    code = compile(tree, name, "exec")
    value = compile(ast.Expression(last.value), name, "eval") if last else None
    is_silent = source.rstrip().endswith(";")

    def run() -> Any:
        exec(code, shell.user_global_ns, shell.user_ns)
        result = eval(value, shell.user_global_ns, shell.user_ns) if value else None
        return None if is_silent else result
    return run


def record(shell: Any, source: str, chosen: Dict[str, Any]) -> Any:
    returns = chosen.pop("returns", False)
    profiler, run = Profiler(auto_step=True, **chosen), prepared(shell, source)
    began, value = time.perf_counter(), None
    try:
        with profiler:
            value = run()
    finally:
        seconds = time.perf_counter() - began
        if profiler.trace_path is None:
            print(profiler._state())
        elif not returns:
            display(Recorded(profiler.trace(), seconds))
    return profiler.trace() if returns and profiler.trace_path else value


def register(shell: Any) -> None:
    def tacho(line: str, cell: Any = None) -> Any:
        """Records a statement (%tacho) or a cell (%%tacho) and shows where its time went.

        -o, --output DIR  folder for the recording (default: tacho_runs)
        --shapes          shapes and types of the inputs of operators
        --memory          allocations and releases
        --stack           Python functions and the stacks of operators
        --flops           operations of operators
        -r, --return      the result is the trace: t = _"""
        chosen, rest = split(line)
        if cell is not None and rest:
            raise UsageError(say("magic_rest", text=rest))
        if cell is None and not rest:
            raise UsageError(say("magic_empty"))
        return record(shell, rest if cell is None else cell, chosen)

    shell.register_magic_function(tacho, "line_cell", "tacho")
