"""Tables of a trace as columns that are not copied: tacho.load(path).slices.start.

The program writes a table as an Arrow stream (src/base/arrow_ipc.h) into memory that is mapped here; a
column is a view of its block. Blocks are read-only, and stay mapped while anything refers to them.
"""
import ctypes
import mmap
import os
import struct
import subprocess
import tempfile
from typing import Any, Dict, List, Optional, Sequence

from . import _library, _program
from .tables import Rows

# Arrow's types: (of the union, bits, signed) → letter of the struct module
_INTS = {(64, True): "q", (64, False): "Q", (32, True): "i", (32, False): "I", (16, False): "H", (8, False): "B"}
_INT, _FLOAT, _UTF8 = 2, 3, 5
_SCHEMA, _DICTIONARY, _BATCH = 1, 2, 3


class _Record:
    """A table of a FlatBuffer."""

    def __init__(self, view: memoryview, at: int) -> None:
        self.view, self.at = view, at
        self.list = at - self.number("i", at)

    def number(self, letter: str, at: int) -> Any:
        return struct.unpack_from("<" + letter, self.view, at)[0]

    def place(self, i: int) -> int:
        """Value of the i-th field; 0 if it is absent."""
        if 4 + 2 * i >= self.number("H", self.list):
            return 0
        offset = self.number("H", self.list + 4 + 2 * i)
        return self.at + offset if offset else 0

    def value(self, i: int, letter: str) -> Any:
        at = self.place(i)
        return self.number(letter, at) if at else 0

    def follow(self, at: int) -> int:
        return at + int(self.number("I", at))

    def record(self, i: int) -> "_Record":
        return _Record(self.view, self.follow(self.place(i)))

    def records(self, i: int) -> List["_Record"]:
        at = self.follow(self.place(i))
        return [_Record(self.view, self.follow(at + 4 + 4 * k)) for k in range(self.number("I", at))]

    def pairs(self, i: int) -> List[Any]:
        at = self.follow(self.place(i))
        return [struct.unpack_from("<qq", self.view, at + 4 + 16 * k) for k in range(self.number("I", at))]

    def text(self, i: int) -> str:
        at = self.follow(self.place(i))
        return str(self.view[at + 4:at + 4 + self.number("I", at)], "utf-8")

    def about(self, i: int) -> Dict[str, str]:
        return {pair.text(0): pair.text(1) for pair in self.records(i)}


class Column(Sequence[Any]):
    """One column. `values` is a read-only view of its numbers; of a column of names they are places in
    `words`. Where `validity` has a bit 0 (lowest first) nothing was recorded; without it all values were.
    numpy.asarray(column) takes the numbers without a copy; column[i] is a value, a name or None."""

    def __init__(self, name: str, values: memoryview, validity: Optional[memoryview], address: int,
                 about: Dict[str, str], words: Optional[List[str]]) -> None:
        self.name, self.values, self.validity, self.words = name, values, validity, words
        self.unit, self.help = about.get("unit"), about.get("help")
        self._address = address

    @property
    def type(self) -> str:
        return "string" if self.words is not None else "real" if self.values.format == "d" else "int"

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        i = i + len(self) if i < 0 else i
        value = self.values[i]
        if self.validity is not None and not self.validity[i >> 3] >> (i & 7) & 1:
            return None
        return value if self.words is None else self.words[value]

    @property
    def __array_interface__(self) -> Dict[str, Any]:
        kind = {"q": "<i8", "Q": "<u8", "i": "<i4", "I": "<u4", "H": "<u2", "B": "|u1", "d": "<f8"}
        return {"version": 3, "shape": (len(self),), "typestr": kind[self.values.format],
                "data": (self._address, True)}

    def __repr__(self) -> str:
        unit = f" in {self.unit}" if self.unit else ""
        return f"<tacho.Column {self.name}: {len(self)} values{unit}>"


class Columns(Rows):
    """A table of the trace. Columns are attributes or items: slices.start, slices["start"]; slices[0] is a row."""

    def __init__(self, stream: mmap.mmap) -> None:
        self._stream = stream
        self._view = memoryview(stream).toreadonly()
        # While it exists the memory stays mapped, no matter what refers to it.
        self._held = ctypes.c_char.from_buffer(stream)
        self._address = ctypes.addressof(self._held)
        self._columns: Dict[str, Column] = {}
        self._words: Dict[int, List[str]] = {}
        self._fields: List[_Record] = []
        self.n_rows = 0
        self._read()

    def _read(self) -> None:
        at = 0
        while struct.unpack_from("<ii", self._view, at) != (-1, 0):
            length = struct.unpack_from("<i", self._view, at + 4)[0]
            root = _Record(self._view, at + 8 + struct.unpack_from("<I", self._view, at + 8)[0])
            kind, header, body = root.value(1, "B"), root.record(2), at + 8 + length
            if kind == _SCHEMA:
                self._fields, self.about = header.records(1), header.about(2)
            elif kind == _DICTIONARY:
                self._words[header.value(0, "q")] = self._texts(header.record(1), body)
            elif kind == _BATCH:
                self._take(header, body)
            at = body + root.value(3, "q")

    def _texts(self, batch: _Record, body: int) -> List[str]:
        (_, _), (first, n), (text, _) = batch.pairs(2)
        places = self._view[body + first:body + first + n].cast("i")
        return [str(self._view[body + text + a:body + text + b], "utf-8") for a, b in zip(places, places[1:])]

    def _take(self, batch: _Record, body: int) -> None:
        blocks = batch.pairs(2)
        self.n_rows = batch.value(0, "q")
        for i, field in enumerate(self._fields):
            (valid, n_valid), (first, n) = blocks[2 * i:2 * i + 2]
            bits = self._view[body + valid:body + valid + n_valid] if n_valid else None
            values = self._view[body + first:body + first + n].cast(self._letter(field))
            column = Column(field.text(0), values, bits, self._address + body + first, field.about(6),
                            self._words.get(i))
            column._table = self  # type: ignore[attr-defined]  # numpy holds the column, it the memory
            self._columns[column.name] = column

    @staticmethod
    def _letter(field: _Record) -> str:
        kind = field.value(2, "B")
        if kind == _UTF8:
            return "i"  # places in the dictionary
        if kind == _FLOAT:
            return "d"
        return _INTS[field.record(3).value(0, "i"), bool(field.record(3).value(1, "B"))]

    @property
    def names(self) -> List[str]:
        return list(self._columns)

    def __len__(self) -> int:
        return self.n_rows

    def _described(self) -> Sequence[Column]:
        return list(self._columns.values())

    def _values(self, name: str) -> Column:
        return self._columns[name]

    def _title(self) -> str:
        return self.about.get("table", "")

    def _for_pandas(self, name: str) -> Any:
        """The numbers without a copy if all were recorded, otherwise an array with missing values."""
        import numpy
        import pandas
        column = self._columns[name]
        values, missing = numpy.asarray(column), numpy.zeros(len(column), dtype=bool)
        if column.validity is not None:
            bits = numpy.unpackbits(numpy.frombuffer(column.validity, dtype=numpy.uint8), bitorder="little")
            missing = bits[:len(column)] == 0
        if column.words is not None:
            return pandas.Categorical.from_codes(numpy.where(missing, -1, values), _distinct(column.words))
        if not missing.any():
            return values
        if column.type == "real":
            return numpy.where(missing, numpy.nan, values)
        return pandas.arrays.IntegerArray(values.copy(), missing)

    def __getattr__(self, name: str) -> Column:
        columns = self.__dict__.get("_columns", {})
        if name in columns:
            return columns[name]
        raise AttributeError(f"the table has no column {name}")

    def __dir__(self) -> List[str]:
        return sorted({*super().__dir__(), *self.names})

    def _ipython_key_completions_(self) -> List[str]:
        return self.names

    def to_arrow(self) -> Any:
        """A pyarrow.Table over the same memory."""
        import pyarrow
        return pyarrow.ipc.open_stream(pyarrow.py_buffer(self._view)).read_all()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Arrow's PyCapsule interface, where pyarrow is installed."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return f"<tacho.Columns {self.about.get('table')}: {self.n_rows} rows, {len(self._columns)} columns>"


def _distinct(words: Sequence[str]) -> List[str]:
    """pandas needs distinct categories, but two names can become the same text when bad characters are replaced."""
    seen: Dict[str, int] = {}
    made = []
    for word in words:
        n = seen[word] = seen.get(word, 0) + 1
        made.append(word if n == 1 else f"{word} ({n})")
    return made


def load(path: str, table: str, options: Sequence[str]) -> Columns:
    line = [_library.program(), "export", path, "--to", "arrow", "--table", table, "-q", *options]
    with tempfile.TemporaryFile() as errors, os.fdopen(os.memfd_create("tacho"), "rb") as file:
        done = subprocess.run(line, stdin=subprocess.DEVNULL, stdout=file, stderr=errors,
                              env=_program._environment(), check=False)
        errors.seek(0)
        _program._check(done.returncode, errors.read())
        # Private: a write past the views stays in this process.
        return Columns(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
