"""Numbers at the ends of their range, column by column.

A column is what has one meaning in a file: the values of a key (JSON, pickle), a place in a line (text, CSV), a column of
a table (SQLite), a field of a message (protobuf). Differences and sums of it go wrong when all of it is large, when all of it is small, or when both are
mixed; changes of chance to single numbers seldom meet that.
"""
import gzip
import itertools
import pickle
import re
import sqlite3
import tempfile
from pathlib import Path

MOST, LEAST = 2**63 - 1, -2**63
WAYS = {"most": (MOST,), "least": (LEAST,), "mixed": (MOST, LEAST, 0, 2**62, -1), "half": (2**62, -2**62 - 1),
        "real": ("1e308", "-1e308", "1e-320")}
JSON_VALUE = rb'"%s"\s*:\s*\[?\s*"?(-?\d[\d.eE+-]*)'
ANY_KEY = re.compile(rb'"([^"\\]{1,60})"\s*:\s*\[?\s*"?-?\d')
CELL = re.compile(rb"[^,\s]+")
NUMBER = re.compile(rb"-?\d[\d.eE+-]*")
SQLITE = b"SQLite format 3\0"


def unpacked(data):
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def is_json(data):
    return data[:4096].lstrip()[:1] in (b"{", b"[")


def words(way):
    return itertools.cycle([str(value).encode() for value in WAYS[way]])


# ---- JSON -----------------------------------------------------------------------------------------


def json_columns(data):
    return sorted(set(ANY_KEY.findall(data)))


def set_json(data, key, way):
    value, out, at = words(way), [], 0
    for hit in re.finditer(JSON_VALUE % re.escape(key), data):
        out += [data[at:hit.start(1)], next(value)]
        at = hit.end(1)
    return b"".join(out) + data[at:]


# ---- lines ----------------------------------------------------------------------------------------


def line_columns(data):
    places = set()
    for line in data.split(b"\n")[:200]:
        places |= {i for i, cell in enumerate(CELL.findall(line)) if NUMBER.fullmatch(cell)}
    return sorted(places)[:64]


def set_place(line, place, value):
    for i, hit in enumerate(CELL.finditer(line)):
        if i == place and NUMBER.fullmatch(hit.group()):
            return line[:hit.start()] + next(value) + line[hit.end():]
    return line


def set_lines(data, place, way):
    value = words(way)
    return b"\n".join(set_place(line, place, value) for line in data.split(b"\n"))


# ---- databases ------------------------------------------------------------------------------------


def with_database(data, work):
    """What `work` makes of the database, and its bytes after that."""
    with tempfile.TemporaryDirectory(prefix="tacho-extremes-") as folder:
        path = Path(folder) / "db"
        path.write_bytes(data)
        with sqlite3.connect(path) as db:
            made = work(db)
        db.close()
        return made, path.read_bytes()


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def database_columns(data):
    def list_all(db):
        tables = [name for name, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT NULL")]
        return [(table, row[1]) for table in tables for row in db.execute(f"PRAGMA table_info({quoted(table)})")
                if db.execute(f"SELECT 1 FROM {quoted(table)} WHERE typeof({quoted(row[1])}) IN ('integer', 'real') LIMIT 1")
                .fetchone()]
    return with_database(data, list_all)[0]


def set_database(data, column, way):
    table, name = map(quoted, column)
    values = [float(value) if isinstance(value, str) else value for value in WAYS[way]]
    choice = " ".join(f"WHEN {i} THEN ?" for i in range(len(values)))

    def update(db):
        db.execute(f"UPDATE OR IGNORE {table} SET {name} = CASE rowid % {len(values)} {choice} END "
                   f"WHERE typeof({name}) IN ('integer', 'real')", values)
    return with_database(data, update)[1]


# ---- protobuf -------------------------------------------------------------------------------------


def varint_at(data, at):
    """(value, place after it); None where there is none."""
    value = 0
    for i in range(10):
        if at + i >= len(data):
            return None
        value |= (data[at + i] & 0x7f) << 7 * i
        if data[at + i] < 0x80:
            return value, at + i + 1
    return None


def varint(value):
    value, out = value % 2**64, bytearray()
    while value > 0x7f:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def message(data):
    """[(field, wire type, bytes or number)]; None where the bytes are not a message."""
    at, fields = 0, []
    while at < len(data):
        key = varint_at(data, at)
        if not key or not 0 < key[0] >> 3 < 20000:
            return None
        (tag, at), kind = key, key[0] & 7
        size = {1: 8, 5: 4}.get(kind)
        if kind in (0, 2):
            got = varint_at(data, at)
            if not got:
                return None
            value, at = got
            size = value if kind == 2 else 0
        if size is None or at + size > len(data):
            return None
        fields.append((tag >> 3, kind, value if kind == 0 else data[at:at + size]))
        at += size
    return fields


def inner(kind, value):
    return message(value) if kind == 2 and len(value) > 1 and not value.isascii() else None


def message_columns(data, above=()):
    found = set()
    for field, kind, value in message(data) or []:
        path = (*above, field)
        if kind != 2:
            found.add((*path, kind))
        elif inner(kind, value) and len(path) < 8:
            found |= set(message_columns(value, path))
    return sorted(found)


def set_message(data, column, way, value=None):
    """All numbers of the field whose path and wire type the column is."""
    value, out = value or itertools.cycle(WAYS[way]), bytearray()
    for field, kind, old in message(data):
        out += varint(field << 3 | kind)
        if kind == 0:
            out += varint(int(float(next(value)) % 2**64) if column == (field, kind) else old)
        elif kind == 2:
            new = set_message(old, column[1:], way, value) if column[0] == field and len(column) > 2 and inner(kind, old) else old
            out += varint(len(new)) + new
        else:
            size = len(old)
            out += (int(float(next(value))) % 2**(8 * size)).to_bytes(size, "little") if column == (field, kind) else old
    return bytes(out)


# ---- pickles --------------------------------------------------------------------------------------


def is_pickle(data):
    return data[:1] == b"\x80" and data[-1:] == b"."


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def pickle_columns(data):
    found = set()

    def walk(value):
        for key, one in value.items() if isinstance(value, dict) else ((None, one) for one in value) if isinstance(value, list) else ():
            if is_number(one) or isinstance(one, list) and one and is_number(one[0]):
                found.add(key)
            walk(one)
    walk(pickle.loads(data))
    return sorted(key for key in found if isinstance(key, str))


def set_pickle(data, column, way):
    value = itertools.cycle([float(one) if isinstance(one, str) else one for one in WAYS[way]])

    def changed(key, one):
        if isinstance(one, dict):
            return {name: changed(name, inside) for name, inside in one.items()}
        if isinstance(one, list):
            return [changed(key, inside) for inside in one]
        return next(value) if key == column and is_number(one) else one
    return pickle.dumps(changed(None, pickle.loads(data)), protocol=2)


# ---- cases ----------------------------------------------------------------------------------------


def kind_of(data):
    """(columns, set) for the format, None where numbers have no separate place."""
    if data.startswith(SQLITE):
        return database_columns, set_database
    if is_json(data):
        return json_columns, set_json
    if is_pickle(data):
        return pickle_columns, set_pickle
    if b"\0" in data[:4096] or not data[:4096].isascii():
        return (message_columns, set_message) if message(data) else None
    return line_columns, set_lines


def columns_of(data):
    data = unpacked(data)
    kind = kind_of(data)
    return kind[0](data) if kind else []


def with_extremes(data, column, way):
    packed, data = data[:2] == b"\x1f\x8b", unpacked(data)
    try:
        data = kind_of(data)[1](data, column, way)
    except (sqlite3.Error, OverflowError):
        pass  # a view that stands for a table, a key: the file stays as it is
    return gzip.compress(data, 1) if packed else data


def cases(files, is_folder):
    """(path, column, way): a column of files of one name in a folder once, a key of other JSON once."""
    met = set()
    for path in files:
        name = re.sub(r"\d+", "", path.name)
        try:
            data = unpacked(path.read_bytes())
            columns = columns_of(data)
        except (OSError, EOFError, ValueError, LookupError, sqlite3.Error, pickle.UnpicklingError):
            continue
        for column in columns:
            place = ("" if is_json(data) and not is_folder(path) else name, column)
            if place not in met:
                met.add(place)
                yield from ((path, column, way) for way in WAYS)
