"""What must hold of reading back from Python: tables, Arrow, notebooks, docs: reading.py [NAME…]

Run by tests/python/run with every interpreter it finds. Nothing but the standard library is needed: a
consumer of Arrow's structures is written out below. Cases with pyarrow, pandas, polars and duckdb run where
these can be imported, and say so where not.
"""
import contextlib
import ctypes
import gc
import importlib
import importlib.util
import inspect
import io
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import threading
import urllib.request
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_int64, c_void_p, py_object
from html.parser import HTMLParser
from pathlib import Path

import tacho
from tacho import _arrow, _html, _library, _program
from tacho._values import in_short, shortened
from cases import Skip, equal, main, script

ROOT = Path(__file__).resolve().parent.parent.parent
DATA = Path(os.environ.get("TACHO_DATA") or "/nowhere")
SAMPLE = ROOT / "tests/data/sample.pt.trace.json.gz"
EMPTY = ROOT / "tests/data/phases.json"


def library(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        raise Skip(f"{name} is not installed") from None


# ---- a consumer of Arrow's structures ----

class Schema(Structure):
    pass


class Array(Structure):
    pass


class Stream(Structure):
    pass


Schema._fields_ = [("format", c_char_p), ("name", c_char_p), ("metadata", c_void_p), ("flags", c_int64),
                   ("n_children", c_int64), ("children", POINTER(POINTER(Schema))), ("dictionary", c_void_p),
                   ("release", CFUNCTYPE(None, POINTER(Schema))), ("private_data", c_void_p)]
Array._fields_ = [("length", c_int64), ("null_count", c_int64), ("offset", c_int64), ("n_buffers", c_int64),
                  ("n_children", c_int64), ("buffers", POINTER(c_void_p)),
                  ("children", POINTER(POINTER(Array))), ("dictionary", c_void_p),
                  ("release", CFUNCTYPE(None, POINTER(Array))), ("private_data", c_void_p)]
Stream._fields_ = [("get_schema", CFUNCTYPE(c_int, POINTER(Stream), POINTER(Schema))),
                   ("get_next", CFUNCTYPE(c_int, POINTER(Stream), POINTER(Array))),
                   ("get_last_error", CFUNCTYPE(c_char_p, POINTER(Stream))),
                   ("release", CFUNCTYPE(None, POINTER(Stream))), ("private_data", c_void_p)]


def stream_in(capsule):
    get = ctypes.PYFUNCTYPE(c_void_p, py_object, c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
    return Stream.from_address(get(capsule, b"arrow_array_stream"))


def metadata_at(address):
    if not address:
        return {}
    n, at, words = ctypes.c_int32.from_address(address).value, address + 4, []
    for _ in range(2 * n):
        size = ctypes.c_int32.from_address(at).value
        words.append(ctypes.string_at(at + 4, size).decode())
        at += 4 + size
    return dict(zip(words[::2], words[1::2]))


def bit(address, i):
    return bool(ctypes.c_uint8.from_address(address + i // 8).value >> i % 8 & 1)


def values_of(array, form):
    n, (validity, values) = array.length, (array.buffers[0], array.buffers[1])
    if form in "uU":
        at = struct.unpack(f"<{n + 1}{'i' if form == 'u' else 'q'}",
                           ctypes.string_at(values, (n + 1) * (4 if form == "u" else 8)))
        found = [ctypes.string_at(array.buffers[2] + a, b - a).decode() for a, b in zip(at, at[1:])]
    elif form == "b":
        found = [bit(values, i) for i in range(n)]
    else:
        kind = {"l": "q", "L": "Q", "g": "d", "tDn": "q"}[form]
        found = list(struct.unpack(f"<{n}{kind}", ctypes.string_at(values, 8 * n)))
    nulls = [validity is not None and not bit(validity, i) for i in range(n)]
    equal(sum(nulls), array.null_count)
    return [None if null else value for null, value in zip(nulls, found)]


def consume(source):
    """{name: (format, metadata, values)} and the table's own metadata, everything released."""
    capsule = source.__arrow_c_stream__()
    stream, schema, array, end = stream_in(capsule), Schema(), Array(), Array()
    equal([stream.get_schema(stream, schema), stream.get_next(stream, array), stream.get_next(stream, end)],
          [0, 0, 0])
    equal(bool(end.release), False)
    stream.release(stream)
    found = {}
    for i in range(schema.n_children):
        column, form = schema.children[i].contents, schema.children[i].contents.format.decode()
        found[column.name.decode()] = (form, metadata_at(column.metadata),
                                       values_of(array.children[i].contents, form))
    about = metadata_at(schema.metadata)
    schema.release(schema)
    array.release(array)
    return found, about


def as_arrow(value, kind):
    """A value of JSON as the columns have it."""
    if value is None:
        return None
    return int(value) if kind == "big" else json.dumps(value) if kind == "object" else value


def every_table_is_the_same_through_arrow(_folder):
    trace, seen = tacho.load(SAMPLE), set()
    for analysis in ("info", "operators", "overview", "memory", "advise", "steps"):
        for table in trace.ask(analysis):
            columns, about = consume(table)
            equal(about["table"], table.name)
            equal(json.loads(about["trace"])["format"], "kineto")
            equal(list(columns), table.names, table.name)
            for c in table.columns:
                form, metadata, values = columns[c.name]
                seen.add(form)
                equal((metadata.get("unit"), metadata.get("help")), (c.unit, c.help), c.name)
                if c.type == "object":
                    values, wanted = [json.loads(v) for v in values], table[c.name]
                else:
                    wanted = [as_arrow(v, c.type) for v in table[c.name]]
                equal(values == wanted, True, f"{analysis} {table.name} {c.name}")
    equal(seen, {"u", "l", "L", "g", "b"})


def times_are_durations_when_asked_for(_folder):
    table = tacho.load(SAMPLE).steps()
    equal([consume(table._arrow(durations=d))[0]["duration"][0] for d in (False, True)], ["l", "tDn"])


def made(columns, n_rows):
    """Bytes as the program writes them: [(name, type, {"values": bytes, …})]."""
    blocks, described = b"", []
    for name, kind, parts in columns:
        described.append({"name": name, "type": kind})
        for part, block in parts.items():
            described[-1][part] = len(blocks)
            blocks += block + b"\0" * (-len(block) % 8)
    about = json.dumps({"rows": n_rows, "bytes": len(blocks), "columns": described}).encode()
    about += b" " * (-len(about) % 8)
    return b"TACHOCOL" + struct.pack("<II", 1, len(about)) + about + blocks


def texts(*words):
    ends = [sum(map(len, words[:i])) for i in range(len(words) + 1)]
    return {"values": struct.pack(f"<{len(ends)}I", *ends), "text": b"".join(words)}


def read(data, durations=False):
    return consume(_arrow.read(io.BytesIO(data), {}, {}, durations))[0]


def texts_are_valid_whatever_a_trace_holds(_folder):
    equal(read(made([("a", "string", texts(b"\xff", b"", "é".encode()))], 3))["a"][2], ["\ufffd", "", "é"])
    letter = "é".encode()
    equal(read(made([("a", "string", texts(letter[:1], letter[1:]))], 2))["a"][2], ["\ufffd", "\ufffd"])
    equal(read(made([("a", "string", texts())], 0))["a"][2], [])


def texts_of_more_than_two_gigabytes_have_longer_positions(_folder):
    most, _arrow.MOST_TEXT = _arrow.MOST_TEXT, 3
    try:
        seen = read(made([("a", "string", texts(b"ab", b"cd")), ("b", "string", texts(b"a", b"b"))], 2))
    finally:
        _arrow.MOST_TEXT = most
    equal([seen["a"][::2], seen["b"][::2]], [("U", ["ab", "cd"]), ("u", ["a", "b"])])


def bits_are_right_at_every_length(_folder):
    for n in (0, 1, 7, 8, 9, 64, 1000):
        flags = bytes(i % 3 == 0 for i in range(n))
        seen = read(made([("x", "bool", {"values": flags, "nulls": bytes(i % 5 == 0 for i in range(n))})], n))
        equal(seen["x"][2], [None if i % 5 == 0 else i % 3 == 0 for i in range(n)], n)


def columns_that_end_early_are_an_error(_folder):
    whole = made([("a", "int", {"values": bytes(80)})], 10)
    for n in (0, 10, 20, len(whole) - 1):
        try:
            _arrow.read(io.BytesIO(whole[:n]), {}, {}, False)
        except (EOFError, ValueError):
            continue
        raise AssertionError(f"{n} bytes were read")
    table = tacho.load(SAMPLE).operators()
    table._answer._question.words[1] = "/nowhere/x"  # as if the trace were gone since
    equal(("aten::copy_" in str(table), str(table._answer)), (True, repr(table._answer)))
    try:
        table.to_arrow()
    except tacho.TachoError as why:
        equal("/nowhere/x" in str(why), True)
        return
    raise AssertionError("no exception")


def resident_bytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def nothing_is_left_of_a_table_that_was_released(_folder):
    data = made([("a", "int", {"values": bytes(8 << 20)})], 1 << 20)

    def once(i):
        columns = _arrow.read(io.BytesIO(data), {}, {}, False)
        capsule, schema = columns.__arrow_c_stream__(), columns.__arrow_c_schema__()
        if i % 2:  # taken by a consumer, else dropped as it is
            stream, array = stream_in(capsule), Array()
            equal(stream.get_next(stream, array), 0)
            del columns, capsule, schema
            array.release(array)

    for i in range(4):
        once(i)
    gc.collect()
    before = resident_bytes()
    for i in range(40):
        once(i)
    gc.collect()
    equal(resident_bytes() - before < 40 << 20, True, "bytes left")


def tables_are_released_on_other_threads(_folder):
    columns, arrays = tacho.load(SAMPLE).operators()._arrow(), []
    for _ in range(50):
        capsule, array = columns.__arrow_c_stream__(), Array()
        stream = stream_in(capsule)
        equal(stream.get_next(stream, array), 0)
        arrays.append(array)
    del columns, capsule
    threads = [threading.Thread(target=a.release, args=(a,)) for a in arrays]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal(any(bool(a.release) for a in arrays), False)


EXIT = """
import sys
sys.path.insert(0, {tests!r})
import ctypes, reading, tacho
columns = tacho.load({trace!r}).operators()._arrow()
capsule, schema = columns.__arrow_c_stream__(), columns.__arrow_c_schema__()
taken, array = columns.__arrow_c_stream__(), reading.Array()
stream = reading.stream_in(taken)
assert stream.get_next(stream, array) == 0
sys.modules["late"] = sys.late = [columns, capsule, schema, taken]
# a consumer that lets go when the interpreter is gone: the C library's own list of what to do at the end
release = ctypes.cast(array.release, ctypes.c_void_p)
libc = ctypes.CDLL(None)
libc.__cxa_atexit.argtypes = [ctypes.c_void_p] * 3
ctypes.pythonapi.Py_IncRef(ctypes.py_object(array))
assert libc.__cxa_atexit(release, ctypes.addressof(array), None) == 0
{more}
print("end")
"""


def a_table_may_be_released_after_the_interpreter_s_end(folder):
    text = EXIT.format(tests=str(ROOT / "tests/python"), trace=str(SAMPLE), more="")
    equal(script(folder, text), "end\n")


def libraries_may_hold_a_table_until_the_end(folder):
    more = []
    for name, take in (("pyarrow", "pyarrow.table(columns)"), ("polars", "polars.DataFrame(columns)"),
                       ("duckdb", "duckdb.sql('from columns')")):
        if importlib.util.find_spec(name):
            more.append(f"import {name}\nsys.{name}_keeps = {take}")
    if not more:
        raise Skip("neither pyarrow nor polars nor duckdb is installed")
    text = EXIT.format(tests=str(ROOT / "tests/python"), trace=str(SAMPLE), more="\n".join(more))
    equal(script(folder, text), "end\n")


# ---- the libraries themselves ----

def pyarrow_takes_tables_without_a_copy(_folder):
    pyarrow = library("pyarrow")
    table = tacho.load(SAMPLE).operators()
    arrow = table.to_arrow()
    arrow.validate(full=True)
    equal(arrow.to_pylist(), table.rows())
    field = arrow.schema.field("host_total")
    equal((str(field.type), field.metadata[b"unit"]), ("int64", b"ns"))
    columns = table._arrow()
    first, second = pyarrow.table(columns), pyarrow.table(columns)
    equal(*[t["calls"].chunks[0].buffers()[1].address for t in (first, second)])
    equal(pyarrow.schema(table).names, table.names)
    peaks = tacho.load(SAMPLE).memory()
    for one in peaks:
        one.to_arrow().validate(full=True)


def tables_of_the_trace_are_columns(_folder):
    trace = tacho.load(SAMPLE)
    slices, rows = trace.slices, trace.ask("info")["events"]
    assert trace.slices is slices and len(slices) == len(slices.start) > 1000 and len(rows) > 0
    assert slices.start.unit == "ns" and slices.start.values.readonly and slices.names[:2] == ["id", "start"]
    first = slices.id[:2]
    equal(first, [1, 2])
    assert slices.parent[0] is None and isinstance(slices.name[-1], str)
    kernels = trace.columns("kernel")
    equal(kernels.name[0], slices.name[kernels.slice[0] - 1])
    equal(sum(1 for k in slices.kind if k == "kernel"), sum(1 for k in trace.device_work.kind if k == "kernel"))
    assert {"stream", "thread"} <= set(trace.tracks.kind) and "shapes" in trace.ops
    held = slices.dur.values
    total = sum(slices.dur[:])
    del trace, slices, kernels
    gc.collect()
    equal(sum(held), total)
    try:
        tacho.load(SAMPLE).columns("nothing")
        raise AssertionError("a table that is not there")
    except tacho.TachoError as why:
        assert "nothing" in str(why)


def numpy_and_pyarrow_take_columns_of_the_trace_without_a_copy(_folder):
    numpy = library("numpy")
    slices = tacho.load(SAMPLE).slices
    starts = numpy.asarray(slices.start)
    address, is_read_only = slices.start.__array_interface__["data"]
    equal((starts.ctypes.data, starts.flags.writeable, is_read_only), (address, False, True))
    pyarrow = library("pyarrow")
    table = pyarrow.table(slices)
    equal(table.column("start").chunk(0).buffers()[1].address, address)
    wanted = int(starts.sum())
    del slices, table
    gc.collect()
    equal(int(starts.sum()), wanted)


def polars_takes_tables(_folder):
    polars = library("polars")
    table = tacho.load(SAMPLE).kernels()
    frame = polars.DataFrame(table)
    equal((frame.columns, frame.rows()), (table.names, [tuple(r.values()) for r in table]))


def duckdb_takes_tables(_folder):
    duckdb = library("duckdb")
    operators = tacho.load(SAMPLE).operators()
    equal(duckdb.sql("select count(*), sum(calls)::bigint from operators").fetchall(),
          [(len(operators), sum(operators.calls))])


def pandas_has_units_help_verdict_and_quality(_folder):
    pandas = library("pandas")
    table = tacho.load(SAMPLE).operators()
    frame = table.to_pandas()
    equal((frame.attrs["units"]["host_total"], frame.attrs["help"]["calls"]), ("ns", table.help["calls"]))
    equal((frame.attrs["quality"]["events_read"], frame.attrs["table"]), (19592, "operators"))
    equal(tacho.load(SAMPLE).advise().to_pandas().attrs["verdict"]["id"], "host_late")
    equal(list(frame["calls"]), table.calls)
    equal(str(frame.dtypes["host_total"]), "int64")
    equal(str(table.to_pandas(durations=True).dtypes["host_total"]), "timedelta64[ns]")
    if hasattr(pandas.DataFrame, "from_arrow"):
        library("pyarrow")
        equal(list(pandas.DataFrame.from_arrow(table)["calls"]), table.calls)


def without_pyarrow_to_arrow_is_what_every_library_takes(folder):
    text = f"""
import sys
sys.modules["pyarrow"] = None
import tacho
columns = tacho.load({str(SAMPLE)!r}).operators().to_arrow()
print(repr(columns), len(columns), type(columns.__arrow_c_stream__()).__name__)
"""
    equal(script(folder, text), "<tacho columns: 77 rows, 28 columns> 77 PyCapsule\n")


# ---- habits ----

def every_analysis_is_a_method_with_its_options(_folder):
    trace = tacho.load(SAMPLE)
    commands = re.findall(r"^  (\w+)", _program.run(["--help"]), re.M)
    analyses = [c for c in commands if re.search(r"^table \w+:$", _program.run([c, "--help"]), re.M)]
    reports = {"budget", "junit", "markdown", "annotations"}  # of check: files for a machine; limits are `require` here
    equal("overview" in analyses and "top" in analyses and len(analyses) >= 11, True, analyses)
    for name in analyses:
        method = getattr(trace, name)
        equal(name in dir(trace), True, name)
        options = set(re.findall(r"^  (?:-\w, )?--([a-z-]+)", _program.run([name, "--help"]), re.M))
        wanted = {o.replace("-", "_") for o in options} - {"logdir", "format", "json", "table", "quiet", "help"}
        taken = {p.rstrip("_") for p in inspect.signature(method).parameters}
        equal(taken, wanted - (reports if name == "check" else set()), name)
        equal(all(f"{p}: " in inspect.getdoc(method) for p in inspect.signature(method).parameters), True, name)
    for wrong in (lambda: trace.operators(grup_by="name"), lambda: trace.operatorz()):
        try:
            wrong()
        except (TypeError, AttributeError):
            continue
        raise AssertionError("accepted")


def options_become_words_of_the_command_line(_folder):
    trace = tacho.load(SAMPLE)
    equal(len(trace.operators(limit=3)), 3)
    equal(trace.operators(sort=["calls:asc", "name"], limit=1)["name"],
          trace.operators(sort="calls:asc,name", limit=1)["name"])
    equal(len(trace.steps(step=3)), 1)
    equal(sum(trace.operators(from_="10ms", to="20ms").calls) < sum(trace.operators().calls), True)
    equal(trace.operators(from_=10_000_000, to="20ms").calls, trace.operators(from_="10ms", to=20_000_000).calls)
    equal("shapes" in trace.operators(group_by="name+shape"), True)


def columns_tables_and_their_help_are_found_by_completion(_folder):
    trace = tacho.load(SAMPLE)
    table, answer = trace.operators(), trace.overview()
    equal("host_total" in dir(table) and "to_arrow" in dir(table) and "breakdown" in dir(answer), True)
    equal((table._ipython_key_completions_(), answer._ipython_key_completions_()),
          (table.names, list(answer.tables)))
    equal(table.columns[5][:3], ("calls", "int", "count"))
    equal("number of calls" in str(table.help) and "number of calls" in table.help["calls"], True)
    equal(len(repr(table)) < 80 and len(repr(trace)) < 200, True)


def what_is_printed_is_the_program_s_own_text(_folder):
    sentence = tacho.load(EMPTY).ask("advise").verdict["text"]["en"]
    empty = tacho.load(EMPTY).advise()
    equal((len(empty), str(empty).startswith(sentence)), (0, True), str(empty))
    trace = tacho.load(SAMPLE)
    equal("1. The CPU launches work too late" in str(trace.advise()), True)
    text = str(trace.overview())
    equal(text.startswith(trace.overview().verdict["text"]["en"]) and "\nbreakdown\n" in text, True, text)
    equal("aten::convolution_backward" in trace.summary(limit=5), True)


class Checker(HTMLParser):
    """Every element is closed, and nothing runs."""

    def __init__(self, text):
        super().__init__()
        self.open, self.texts, self.tags = [], [], []
        self.feed(text)
        self.close()
        equal(self.open, [], "left open")

    def handle_starttag(self, tag, attrs):
        equal(tag in ("script", "style", "iframe") or any(k.startswith("on") for k, _ in attrs), False, tag)
        self.tags.append(tag)
        self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        equal(self.open.pop(), tag)

    def handle_data(self, data):
        self.texts.append(data)


def a_notebook_shows_the_verdict_and_the_average_step(_folder):
    trace = tacho.load(SAMPLE)
    page = Checker(trace._repr_html_())
    text = " ".join(page.texts)
    equal(trace.overview().verdict["text"]["en"] in text and "Average step: 29.9 ms" in text, True, text)
    # A bar with its legend, and a bar for each of the operators that take longest.
    equal(page.tags.count("rect"), 2 * sum(1 for t in trace.overview()["breakdown"]["time"] if t) + 5)
    equal("Operators that take longest" in text and "aten::copy_" in text, True, text)
    equal("Recorded: 3 steps" in text and "1,128 kernels" in text, True, text)
    equal("| Kernel | 7.09 ms | 23.7 % |" in trace._repr_markdown_(), True, trace._repr_markdown_())
    shown = trace.kernels()._repr_html_()
    table = Checker(shown)
    equal("calls" in table.texts and "1.81 ms" in table.texts and table.tags.count("tr") > 3, True)
    equal("(ns)" in shown and "(count)" in shown, True)
    Checker(trace.overview()._repr_html_())
    equal("No issues found, but" in tacho.load(EMPTY).advise()._repr_html_(), True)
    problem = Checker(tacho.Trace("/nowhere/<b>x")._repr_html_())
    equal("b" in problem.tags[2:], False)


def numbers_of_a_notebook_have_three_digits(_folder):
    for value, unit, text in ((999_999, "ns", "1.00 ms"), (600, "ns", "600 ns"), (29_921_000, "ns", "29.9 ms"),
                              (-5_000, "ns", "-5.00 µs"), (3 << 20, "bytes", "3.00 MiB"), (0, "bytes", "0 B"),
                              (0.29, "share", "29.0 %"), (0, "share", "0.0 %"), (12_345, "count", "12,345"),
                              (None, "ns", "-"), (None, "share", "-"),
                              (True, None, "True"), ("x", "ns", "x"), (10**13, "ns", "10000 s")):
        equal(in_short(value, unit), text)
    equal(shortened("abcdefghijkl", 9), "abcdef…kl")


def texts_of_a_notebook_are_escaped(_folder):
    evil = "<script>alert(1)</script>\"'&"
    said = {"severity": evil, "text": {"en": evil}}
    column = tacho.Column(evil, "string", evil, evil)
    for text in (_html.verdict(said, "en"), _html.step([(evil, 5, 1.0)], 1, "en"), _html.problem(evil),
                 _html.title({"path": evil, "run": evil}), _html.line(evil), _html.links(evil, "en"),
                 _html.table([column], {evil: [evil * 20]}, (1, 1), evil),
                 _html.longest(evil, [column], {evil: [evil]}, [1.0]),
                 _html.table([column], {evil: []}, (0, 0), evil)):
        Checker(text)
    equal("<" in _html.markdown(said, [(evil, 5, 1.0)], 1, "en"), False)


def refused(function):
    """The message of the QuestionError that it raises."""
    try:
        function()
    except tacho.QuestionError as why:
        return str(why)
    raise AssertionError("no exception")


def a_worker_that_does_not_exist_is_refused_at_once(_folder):
    ranks = tacho.load(ROOT / "tests/data/two_ranks")
    equal(ranks.worker("rank1").info().trace["worker"], "rank1")
    for wrong in (lambda: ranks.worker("nope"), lambda: tacho.load(ranks.path, worker="nope"),
                  lambda: tacho.load(ranks.path, run="nope"), lambda: tacho.load(ranks.path, span=7)):
        equal("; available: " in refused(wrong), True)


def the_message_of_a_failure_is_without_the_notes_before_it(folder):
    for run in "ab":
        (folder / run).mkdir()
        shutil.copy(SAMPLE, folder / run)
    equal(refused(lambda: tacho.load(folder).operators(sort="cals")), "operators has no column cals; did you mean calls?")


def sql_answers_as_a_table(_folder):
    trace = tacho.load(SAMPLE)
    kinds = trace.query("-- a comment\nselect kind, count(*) as n from slice group by kind order by n desc")
    equal((kinds.names, kinds[0]["kind"], kinds.n == sorted(kinds.n, reverse=True)), (["kind", "n"], "python", True))
    equal(trace.ask("query", sql="select 1 as one")["result"].one, [1])
    equal(len(trace.query("select name from slice where dur < 0")), 0)
    equal("slice" in trace.query(".tables")["table"], True)
    equal(len(trace.query("select * from slice", limit=7)), 7)
    equal(sum(trace.query("select dur from kernel", step=3)["dur"]) < sum(trace.device_work.dur), True)
    equal("syntax error" in refused(lambda: trace.query("selec 1")), True)
    equal("aten::copy_" in str(trace.query("select name from operators limit 1")), True)


def rows_and_parts_of_every_table(folder):
    trace = tacho.load(SAMPLE)
    for table in (trace.operators(), trace.slices, trace.query("select name, dur from slice"), trace.steps()):
        first = table[0]
        equal((list(first), first), (list(table.names), next(iter(table))))
        equal(table[-1], table[len(table) - 1])
        part = table.head(2)
        equal((len(part), part.total_rows, part[1]), (2, len(table), table[1]))
        equal((table[1:3][0], len(table[5:5])), (table[1], 0))
        equal(part.to_dict()[table.names[0]], list(table[table.names[0]][:2]))
        equal(table.names[0] in table and "nothing" not in table, True)
        equal(str(part).split()[0] == table.names[0] and len(str(part).splitlines()) == 3, True, str(part))
        Checker(part._repr_html_())
        Checker(table._repr_html_())
        columns, about = consume(part)
        equal((columns[table.names[0]][2], about["table"]), (list(table[table.names[0]][:2]), part.name))
    for wrong, kind in ((len(table), IndexError), (-len(table) - 1, IndexError), ("nothing", KeyError)):
        try:
            table[wrong]
        except kind as why:
            equal("steps" in str(why), True)
            continue
        raise AssertionError("no exception")


def parts_of_a_table_go_through_arrow_as_the_whole_does(_folder):
    trace = tacho.load(SAMPLE)
    for analysis in ("info", "overview", "memory", "advise"):
        for table in trace.ask(analysis):
            whole, part = consume(table)[0], consume(table[:])[0]
            equal({n: (f, v) for n, (f, _, v) in whole.items() if f != "u"},
                  {n: (f, v) for n, (f, _, v) in part.items() if f != "u"}, table.name)
            for c in table.columns:
                if c.type == "string":
                    equal(part[c.name][2], table[c.name], c.name)


def csv_files_are_those_of_the_program(folder):
    for path in (SAMPLE, ROOT / "tests/data/hostile_names.json", ROOT / "tests/data/two_ranks"):
        trace = tacho.load(path)
        for name, table in (("operators", "operators"), ("overview", "breakdown"), ("advise", "advice"), ("info", "trace")):
            answer = trace.ask(name)
            wanted = _program.run([*answer._question.all(), "--table", table, "--format", "csv"])
            rows = answer[table]
            text = [c.name for c in rows.columns if c.type == "object"]  # JSON, written differently
            if not text:
                equal(rows.to_csv(), wanted, f"{path.name} {table}")
    equal(tacho.load(SAMPLE).operators().head(1).to_csv(folder / "a.csv"), None)
    equal((folder / "a.csv").read_bytes().count(b"\r\n"), 2)
    hostile = tacho.Table("t", [{"name": "a"}], [["=1+1"], ["x\x1b[2J"], ["a,\"b\""], [""], [None], ["\u202etxt"]])
    equal(hostile.to_csv(), "a\r\n'=1+1\r\nx\\x1b[2J\r\n\"a,\"\"b\"\"\"\r\n\"\"\r\n\r\n\\u202etxt\r\n")


def columns_of_a_notebook_are_those_with_values_times_first(_folder):
    trace = tacho.load(SAMPLE)
    shown = [c.name for c in trace.operators()._shown(range(5))]
    equal(shown[:5], ["name", "calls", "share", "device_self", "device_total"])
    equal({"full_name", "info", "subgraph"} & set(shown), set())
    assert shown.index("host_total") < shown.index("side")
    own = trace.query("select dur, name, kind, null as absent from slice limit 3")
    equal([c.name for c in own._shown(range(3))], ["dur", "name", "kind"])  # in the order of the question
    equal(tacho.Table("t", [], []).table(), "no rows\n")
    equal(tacho.load(EMPTY).advise().table().startswith("No issues found, but "), True)


def a_trace_prints_its_verdict(folder):
    trace = tacho.load(SAMPLE)
    equal(str(trace), trace.overview().verdict["text"]["en"])
    equal(str(tacho.load(SAMPLE, lang="zh")), trace.overview().verdict["text"]["zh"])
    equal(repr(trace), f"<tacho.Trace {SAMPLE}>")
    printed = []
    trace._repr_pretty_(type("Printer", (), {"text": staticmethod(printed.append)}), False)
    equal(printed, [str(trace)])
    with tacho.profile(str(folder / "nothing")) as prof:
        pass
    equal("Nothing was recorded: no supported framework ran" in str(prof.trace()), True)


def a_report_is_one_file_and_a_server_ends(folder):
    trace = tacho.load(SAMPLE)
    equal(trace.report(folder / "report.html"), str(folder / "report.html"))
    equal((folder / "report.html").read_bytes()[:15].lower(), b"<!doctype html>")
    with contextlib.redirect_stderr(io.StringIO()) as said:
        server = trace.serve()
    equal(server.url in said.getvalue(), True)
    with server:
        with urllib.request.urlopen(server.url, timeout=20) as page:
            equal((page.status, b"<html" in page.read().lower()), (200, True))
        equal((server.is_running(), server.url in repr(server), server.url in server._repr_html_()), (True, True, True))
        Checker(server._repr_html_())
    equal((server.is_running(), "ended" in repr(server)), (False, True))
    Checker(server._repr_html_())
    server.stop()
    try:
        trace.serve(port=99999)
    except tacho.TachoError as why:
        equal("99999" in str(why), True)
        return
    raise AssertionError("no exception")


def a_server_ends_with_the_program(folder):
    text = f"import tacho\nserver = tacho.load({str(SAMPLE)!r}).serve()\nprint(server._process.pid)"
    pid = int(script(folder, text))
    equal(os.path.exists(f"/proc/{pid}"), False)


def python_m_tacho_is_the_program(folder):
    def same(*words, **more):
        seen = [subprocess.run([*line, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False, **more)
                for line in ([_library.program()], [sys.executable, "-m", "tacho"])]
        equal((seen[1].returncode, seen[1].stdout, seen[1].stderr), (seen[0].returncode, seen[0].stdout, seen[0].stderr))
        return seen[1].returncode

    equal(same("overview", str(SAMPLE), "--stable"), 0)
    equal((same("nothing"), same("info", "/nowhere/x")), (1, 2))
    equal(same("query", "-", "select 1", stdin=subprocess.DEVNULL), 2)
    ends = []
    for line in ([_library.program()], [sys.executable, "-m", "tacho"]):
        reader, writer = os.pipe()
        os.close(reader)  # no reader: the signal that says so is not ignored, as it is in Python
        ends.append(subprocess.run([*line, "operators", str(SAMPLE), "--json"], stdout=writer, stderr=subprocess.PIPE,
                                   timeout=60, check=False).returncode)
        os.close(writer)
    equal(ends[1], ends[0])
    env = [sys.executable, "-c", "import os; print(sorted(k for k in os.environ if 'NVTX' in k or 'ITTNOTIFY' in k))"]
    seen = subprocess.run([sys.executable, "-m", "tacho", "record", "-o", str(folder / "r"), "-q", "--", *env],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    plain = subprocess.run([_library.program(), "record", "-o", str(folder / "p"), "-q", "--", *env],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    equal(seen.stdout.splitlines()[:1], plain.stdout.splitlines()[:1])


def pandas_takes_tables_of_the_trace(_folder):
    pandas = library("pandas")
    slices = tacho.load(SAMPLE).slices
    frame = slices.to_pandas()
    equal((len(frame), frame.attrs["units"]["dur"], int(frame["dur"].sum())), (len(slices), "ns", sum(slices.dur)))
    equal(int(frame["parent"].isna().sum()), sum(1 for p in slices.parent if p is None))
    equal((list(frame["name"][:3]), str(frame["name"].dtype)), (list(slices.name[:3]), "category"))
    equal(str(slices.head(3).to_pandas(durations=True).dtypes["dur"]), "timedelta64[ns]")
    equal(pandas.isna(slices.to_pandas()["step"]).any(), any(s is None for s in slices.step))


def paths_that_are_not_there_are_file_not_found(folder):
    for path in (Path(folder) / "none", str(Path(folder) / "none")):
        try:
            tacho.load(path)
        except FileNotFoundError as why:
            equal(isinstance(why, tacho.TachoError) and "none" in str(why), True)
            continue
        raise AssertionError("no exception")
    try:
        tacho.load(SAMPLE).operators(group_by="nothing")
    except ValueError as why:
        equal(isinstance(why, tacho.TachoError) and "group-by" in str(why), True)
        return
    raise AssertionError("no exception")


def traces_are_context_managers_and_take_paths(folder):
    with tacho.load(SAMPLE, lang="zh") as trace:
        equal("步" in trace.overview()["breakdown"].help["time"], True)
        to = trace.export("chrome", Path(folder) / "x.json")
        equal(Path(to).stat().st_size > 1000, True)
    equal(tacho.__version__, _program.run(["--version"]).split()[1])
    equal((Path(tacho.__file__).parent / "py.typed").is_file(), True)


def a_folder_of_ranks_has_workers(_folder):
    ddp = DATA / "pytorch/ddp"
    if not ddp.is_dir():
        raise Skip(f"{ddp} is not there")
    trace = tacho.load(ddp)
    equal(trace.workers, ["rank0", "rank1", "rank2", "rank3"])
    equal(trace.worker("rank2").info().trace["worker"], "rank2")
    for wrong in (lambda: trace.worker("nope"), lambda: tacho.load(ddp, worker="nope")):
        equal("available: rank0, rank1, rank2, rank3" in refused(wrong), True)
    equal(len(trace.distributed(all_workers=True).overlap), 4)
    equal(tacho.load(SAMPLE).workers, ["sample"])


# ---- the documentation ----

def examples(path, language="python"):
    """The blocks of a language in a page."""
    return re.findall(rf"^```{language}\n(.*?)^```", (ROOT / path).read_text(encoding="utf-8"), re.M | re.S)


# What the program around a block has: a training that takes no framework, and stand-ins for trainers (trainers.py).
AROUND = """
import sys
sys.path.insert(0, {tests!r})
import trainers
from trainers import args, dataset, lightning_module, loader, model, optimizer, train, x, y
"""
LIBRARIES = ("numpy", "pandas", "polars", "duckdb", "pyarrow")


def run_examples(folder, has_libraries):
    """Every block that needs no library, or every one that does and of which all are installed."""
    if os.environ.get("TACHO_EXAMPLES") == "no":
        raise Skip("they run with another interpreter")
    skipped = set()
    for page in ("docs/PYTHON.md", "docs/PYTHON.zh.md"):
        blocks = examples(page)
        equal(len(blocks) > 8, True, page)
        for i, block in enumerate(blocks):
            needed = {name for name in LIBRARIES if re.search(rf"^ *(import|from) {name}\b|\.to_{name}\(", block, re.M)}
            missing = {name for name in needed if not importlib.util.find_spec(name)}
            if bool(needed) != has_libraries or missing:
                skipped |= missing if has_libraries else set()
                continue
            inside = folder / f"{Path(page).name}_{i}"
            (inside / "runs/x").mkdir(parents=True)
            shutil.copy(SAMPLE, inside / "runs/x")
            script(inside, AROUND.format(tests=str(ROOT / "tests/python")) + block)
    if skipped:
        raise Skip(f"blocks with {', '.join(sorted(skipped))}, which are not installed")


def examples_of_the_docs_run(folder):
    run_examples(folder, False)


def examples_of_the_docs_with_libraries_run(folder):
    run_examples(folder, True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], globals()))
