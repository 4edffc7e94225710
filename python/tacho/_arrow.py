"""Tables through Arrow's C data interface: pyarrow, polars, pandas and duckdb take them without a copy.

`tacho … --format columns` writes a table as binary columns (src/present/emit_columns.c has their layout).
They are read into memory of libtacho.so and handed over as they lie there; only bytes that say "null" or
"true" become bits. The structures are made and released by libtacho.so (include/tacho/arrow.h), so a
consumer may drop them on any thread and after the interpreter's end; Python wraps them into capsules.
"""
import array
import ctypes
import io
import json
import struct
from ctypes import POINTER, Structure, c_char, c_char_p, c_int64, c_size_t, c_void_p, py_object
from typing import IO, Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from . import _native
from ._program import TachoError

MAGIC, VERSION = b"TACHOCOL", 1
MOST_TEXT = 2**31 - 1  # positions of Arrow's utf8 are signed numbers of 32 bits
FORMATS = {"int": b"l", "big": b"L", "real": b"g", "bool": b"b", "string": b"u"}


class _Column(Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("format", c_char_p), ("metadata", c_char_p),
                ("n_nulls", c_int64), ("validity", c_void_p), ("values", c_void_p), ("text", c_void_p)]


def _open() -> Any:
    path = _native.loaded_path()
    lib = ctypes.CDLL(path)
    if not hasattr(lib, "tacho_arrow_memory"):
        raise TachoError(f"{path} in this process is older than the package and does not support Arrow")
    for name, result, takes in (
            ("memory", c_void_p, [c_size_t]), ("memory_drop", None, [c_void_p]),
            ("table_new", c_void_p, [c_void_p, c_int64, c_char_p, POINTER(_Column), c_int64]),
            ("table_drop", None, [c_void_p]), ("stream", c_void_p, [c_void_p]),
            ("stream_drop", None, [c_void_p]), ("schema", c_void_p, [c_void_p]),
            ("schema_drop", None, [c_void_p])):
        function = getattr(lib, f"tacho_arrow_{name}")
        function.restype, function.argtypes = result, takes
    return lib


_lib = _open()


# ---- capsules ----

def _for_ever(thing: Any) -> Any:
    """Keeps it alive beyond this module: capsules may be deleted later."""
    ctypes.pythonapi.Py_IncRef(py_object(thing))
    return thing


_new_capsule = ctypes.PYFUNCTYPE(py_object, c_void_p, c_void_p, c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi))
# A capsule that is being deleted comes as a number: an object would be kept alive once more.
_pointer_in = ctypes.PYFUNCTYPE(c_void_p, c_void_p, c_void_p)(("PyCapsule_GetPointer", ctypes.pythonapi))


class _Kind(NamedTuple):
    name: int
    destructor: int


def _kind(name: bytes, drop: Any) -> _Kind:
    address = ctypes.addressof(_for_ever(ctypes.create_string_buffer(name)))

    def destroy(capsule: int, get: Any = _pointer_in, name: int = address, drop: Any = drop) -> None:
        drop(get(capsule, name))

    thunk = _for_ever(ctypes.PYFUNCTYPE(None, c_void_p)(destroy))
    return _Kind(address, ctypes.cast(thunk, c_void_p).value or 0)


_STREAM = _kind(b"arrow_array_stream", _lib.tacho_arrow_stream_drop)
_SCHEMA = _kind(b"arrow_schema", _lib.tacho_arrow_schema_drop)


def _capsule(kind: _Kind, pointer: Optional[int]) -> Any:
    if not pointer:
        raise MemoryError("there is not enough memory for the table")
    return _new_capsule(pointer, kind.name, kind.destructor)


class Columns:
    """A table for any library that knows Arrow: pyarrow.table(it), polars.DataFrame(it),
    pandas.DataFrame.from_arrow(it), duckdb.sql("from it")."""

    def __init__(self, table: int, names: List[str], n_rows: int) -> None:
        self._table, self.names, self._n_rows = table, names, n_rows

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return _capsule(_STREAM, _lib.tacho_arrow_stream(self._table))

    def __arrow_c_schema__(self) -> Any:
        return _capsule(_SCHEMA, _lib.tacho_arrow_schema(self._table))

    def __len__(self) -> int:
        return self._n_rows

    def __repr__(self) -> str:
        return f"<tacho columns: {self._n_rows} rows, {len(self.names)} columns>"

    def __del__(self, drop: Any = _lib.tacho_arrow_table_drop) -> None:
        drop(self.__dict__.get("_table"))


# ---- reading what the program writes ----

class _Memory:
    """Counted memory of libtacho.so with blocks in it; what it is filled with is known by offsets."""

    def __init__(self, n_bytes: int, kept: bytes = b"") -> None:
        self.n_used, self.n_bytes = len(kept), max(n_bytes, 1)
        self.pointer = _lib.tacho_arrow_memory(self.n_bytes)
        if not self.pointer:
            raise MemoryError(f"there is not enough memory for a table of {n_bytes} bytes")
        self.view = memoryview((c_char * self.n_bytes).from_address(self.pointer)).cast("B")
        self.view[:len(kept)] = kept

    def fill(self, source: IO[bytes], n: int) -> None:
        at = 0
        while at < n:
            got = source.readinto(self.view[at:n])  # type: ignore[attr-defined]
            if not got:
                raise EOFError("the columns end early")
            at += got
        self.n_used = n

    def __del__(self, drop: Any = _lib.tacho_arrow_memory_drop) -> None:
        drop(self.__dict__.get("pointer"))


def _bits(flags: memoryview, one: int) -> bytes:
    """A bit for each byte, set where it is `one`; the first is the lowest."""
    digits = bytes(flags).translate(bytes(49 if i == one else 48 for i in range(256)))[::-1]
    return int(digits or b"0", 2).to_bytes((len(flags) + 7) // 8, "little")


def _rounded(n: int) -> int:
    return (n + 7) // 8 * 8


class _Reader:
    def __init__(self, source: IO[bytes]) -> None:
        head = source.read(16)
        if len(head) < 16 or head[:8] != MAGIC:
            raise EOFError("not a file of columns")
        version, length = struct.unpack("<II", head[8:])
        if version != VERSION:
            raise ValueError(f"columns of version {version}")
        self.about: Dict[str, Any] = json.loads(source.read(length))
        self.n_rows: int = self.about["rows"]
        n_bits = sum(("nulls" in c) + (c["type"] == "bool") for c in self.about["columns"])
        n_bytes = self.about["bytes"]
        self.memory = _Memory(n_bytes + n_bits * _rounded((self.n_rows + 7) // 8))
        self.memory.fill(source, n_bytes)

    def block(self, at: int, n: int) -> memoryview:
        return self.memory.view[at:at + n]

    def put(self, block: bytes) -> int:
        """Adds a block after those that were read; the room for bits is used first, otherwise it is allocated."""
        at = self.memory.n_used
        if at + len(block) > self.memory.n_bytes:
            self.memory = _Memory(at + _rounded(len(block)), bytes(self.memory.view[:at]))
        self.memory.view[at:at + len(block)] = block
        self.memory.n_used = min(at + _rounded(len(block)), self.memory.n_bytes)
        return at

    def is_valid(self, text: int, positions: Any) -> bool:
        """Whether each text is UTF-8; together they may be, although one ends inside a letter."""
        whole = bytes(self.block(text, positions[-1]))
        if whole.isascii():
            return True
        try:
            whole.decode("utf-8")
        except UnicodeDecodeError:
            return False
        return not any(p < len(whole) and whole[p] & 0xC0 == 0x80 for p in positions)

    def texts(self, values: int, text: int) -> Tuple[bytes, int, int]:
        """Format, offset of the positions and of the text, which is valid UTF-8 afterwards."""
        positions = array.array("I", bytes(self.block(values, 4 * (self.n_rows + 1))))
        if not self.is_valid(text, positions):
            fixed = [str(self.block(text + a, b - a), "utf-8", "replace").encode()
                     for a, b in zip(positions, positions[1:])]
            text = self.put(b"".join(fixed))
            positions = array.array("I", [0])
            for one in fixed:
                positions.append(positions[-1] + len(one))
            values = self.put(positions.tobytes())
        if positions[-1] > MOST_TEXT:
            return b"U", self.put(array.array("q", positions).tobytes()), text
        return b"u", values, text

    def column(self, c: Mapping[str, Any], metadata: bytes, durations: bool) -> Dict[str, Any]:
        n, kind = self.n_rows, FORMATS[c["type"]]
        made: Dict[str, Any] = {"name": c["name"].encode(), "metadata": metadata, "values": c["values"]}
        if kind == b"u":
            kind, made["values"], made["text"] = self.texts(c["values"], c["text"])
        elif kind == b"b":
            made["values"] = self.put(_bits(self.block(c["values"], n), 1))
        elif durations and c["type"] == "int" and c.get("unit") == "ns":
            kind = b"tDn"
        if "nulls" in c:
            nulls = self.block(c["nulls"], n)
            made["n_nulls"] = bytes(nulls).count(1)
            made["validity"] = self.put(_bits(nulls, 0))
        made["format"] = kind
        return made


def _column_bytes(kind: str, values: List[Any]) -> Dict[str, bytes]:
    """The blocks of a column as the program writes them."""
    blocks: Dict[str, bytes] = {}
    if kind in ("int", "big"):
        numbers = [int(v or 0) for v in values]
        blocks["values"] = array.array("q", [v - 2**64 if v >= 2**63 else v for v in numbers]).tobytes()
    elif kind == "real":
        blocks["values"] = array.array("d", [float(v or 0) for v in values]).tobytes()
    elif kind == "bool":
        blocks["values"] = bytes(bool(v) for v in values)
    else:
        texts = [(v if isinstance(v, str) else "" if v is None else json.dumps(v)).encode("utf-8", "replace") for v in values]
        ends = array.array("I", [0])
        for text in texts:
            ends.append(ends[-1] + len(text))
        blocks["values"], blocks["text"] = ends.tobytes(), b"".join(texts)
    if any(v is None for v in values):
        blocks["nulls"] = bytes(v is None for v in values)
    return blocks


def written(columns: Sequence[Tuple[Any, List[Any]]], n_rows: int) -> IO[bytes]:
    """Python values in the format of `tacho … --format columns`. columns: pairs of description and values."""
    body, described = b"", []
    for column, values in columns:
        kind = column.type if column.type in FORMATS else "string"
        about: Dict[str, Any] = {"name": column.name, "type": kind, **({"unit": column.unit} if column.unit else {})}
        for part, block in _column_bytes(kind, values).items():
            about[part] = len(body)
            body += block + b"\0" * (_rounded(len(block)) - len(block))
        described.append(about)
    head = json.dumps({"rows": n_rows, "bytes": len(body), "columns": described}).encode()
    return io.BytesIO(MAGIC + struct.pack("<II", VERSION, len(head)) + head + body)


def _metadata(pairs: Mapping[str, Optional[str]]) -> bytes:
    """As Arrow writes it; what has no value is left out."""
    words = [w.encode() for k, v in pairs.items() if v is not None for w in (k, v)]
    return struct.pack("<i", len(words) // 2) + b"".join(struct.pack("<i", len(w)) + w for w in words)


def read(source: IO[bytes], about: Mapping[str, Optional[str]], help_of: Mapping[str, Optional[str]],
         durations: bool) -> Columns:
    """What `tacho … --format columns` writes. `about` becomes the metadata of the table, the unit, the
    type and the help of each column its own."""
    reader = _Reader(source)
    columns = reader.about["columns"]
    made = [reader.column(c, _metadata({"unit": c.get("unit"), "type": c["type"],
                                        "help": help_of.get(c["name"])}), durations) for c in columns]
    start = reader.memory.pointer
    given = (_Column * max(len(made), 1))()
    for to, one in zip(given, made):
        to.size = ctypes.sizeof(_Column)
        to.name, to.format, to.metadata = one["name"], one["format"], one["metadata"]
        to.n_nulls = one.get("n_nulls", 0)
        for block in ("validity", "values", "text"):
            setattr(to, block, start + one[block] if block in one else None)
    table = _lib.tacho_arrow_table_new(start, reader.n_rows, _metadata(about), given, len(made))
    if not table:
        raise MemoryError("there is not enough memory for the table")
    return Columns(table, [c["name"] for c in columns], reader.n_rows)
