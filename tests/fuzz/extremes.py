"""Numbers at the ends of their range, column by column.

A column is what has one meaning in a file: the values of a key (JSON), a place in a line (text, CSV), a column of a
table (SQLite). Differences and sums of it go wrong when all of it is large, when all of it is small, or when both are
mixed; changes of chance to single numbers seldom meet that.
"""
import gzip
import itertools
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


# ---- cases ----------------------------------------------------------------------------------------


def kind_of(data):
    """(columns, set) for the format, None where numbers have no place of their own."""
    if data.startswith(SQLITE):
        return database_columns, set_database
    if is_json(data):
        return json_columns, set_json
    return (line_columns, set_lines) if b"\0" not in data[:4096] else None


def columns_of(data):
    data = unpacked(data)
    kind = kind_of(data)
    return kind[0](data) if kind else []


def with_extremes(data, column, way):
    packed, data = data[:2] == b"\x1f\x8b", unpacked(data)
    try:
        data = kind_of(data)[1](data, column, way)
    except sqlite3.Error:
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
        except (OSError, EOFError, sqlite3.Error):
            continue
        for column in columns:
            place = ("" if is_json(data) and not is_folder(path) else name, column)
            if place not in met:
                met.add(place)
                yield from ((path, column, way) for way in WAYS)
