"""The shapes of files that take the most time or memory for their size: for bench/worst and tests/fault/limits.

Most are written by `gentrace worst`; the others are in formats whose rows need much more than their text.
"""
import gzip
import struct
import subprocess
from collections import namedtuple
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# include/tacho/format.h
FILE_HEADER_BYTES, CHUNK_BYTES, CHUNK_HEADER_BYTES, N_CHUNKS_AT = 4096, 65536, 64, 32
CHUNK_OF_SIDES, CODE, STACK = 2, 9, 10


def write_ids(out, n):
    """Requests of which nothing is known."""
    out.write(b'[{"id":0,"timestamps":[{"name":"REQUEST_START","ns":1}]}')
    for i in range(1, n):
        out.write(b',{"id":%d}' % i)
    out.write(b"]")


def write_calls(out, n):
    """A profile in which functions return that were never called."""
    half = n // 2
    frames = b",".join(b'{"name":"f%d"}' % i for i in range(half + 1))
    events = b",".join([b'{"type":"O","frame":%d,"at":%d}' % (i, i) for i in range(1, half + 1)]
                       + [b'{"type":"C","frame":0,"at":%d}' % (half + i) for i in range(half)])
    out.write(b'{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[' + frames
              + b']},"profiles":[{"type":"evented","unit":"none","name":"x","startValue":0,"endValue":9,"events":[' + events + b"]}]}")


def write_folded(out, n):
    """Stacks that have nothing in common."""
    for i in range(n // 8):
        out.write(b";".join(b"a%d_%d" % (i, k) for k in range(8)) + b" 1\n")


def write_gpus(out, n):
    """rocprofv3's table of a machine with very many processors."""
    out.write(b"Agent_Type,Node_Id,Name,Start_Timestamp,End_Timestamp,Kernel_Name,Correlation_Id,Agent_Id,Queue_Id\n")
    for i in range(n):
        out.write(b"GPU,%d,g,%d,%d,k,%d,%d,%d\n" % (i, i, i + 5, i, i, i))


def side(kind, body):
    """A side record of a recording."""
    body += b"\0" * (-len(body) % 8)
    return struct.pack("<II", 8 + len(body), kind) + body


def write_recording(out, n):
    """Stacks whose name is a hundred times as long as their record."""
    bodies = [side(CODE, struct.pack("<QQ", 1, 1) + b"f" * 3000 + b".py\0main")]
    bodies += [side(STACK, struct.pack("<IIII", 100 * i, 0, 1, i)) for i in range(1, n)]
    chunks = [b""]
    for one in bodies:
        if CHUNK_HEADER_BYTES + len(chunks[-1]) + len(one) > CHUNK_BYTES:
            chunks.append(b"")
        chunks[-1] += one
    head = bytearray(gzip.decompress((ROOT / "tests/data/recording_v1.tacho.gz").read_bytes())[:FILE_HEADER_BYTES])
    struct.pack_into("<Q", head, N_CHUNKS_AT, len(chunks))
    out.write(head)
    for chunk in chunks:
        out.write((struct.pack("<I", CHUNK_OF_SIDES).ljust(CHUNK_HEADER_BYTES, b"\0") + chunk).ljust(CHUNK_BYTES, b"\0"))


def write_requests(out, n):
    """A trace of a server of models: the reader holds the whole file, because parts of a request are anywhere in it."""
    for i in range(n):
        stamps = ",".join(f'{{"name":"{name}","ns":{ns}}}' for name, ns in (
            ("REQUEST_START", 5 * i), ("REQUEST_END", 10 ** 12 - i), ("QUEUE_START", 5 * i), ("COMPUTE_START", 5 * i + 100)))
        out.write(f'{"," if i else "["}{{"id":{i},"model_name":"m{i % 3}","timestamps":[{stamps}]}}'.encode())
    out.write(b"]")


# write: None: gentrace does. n_time, n_memory: rows for bench/worst and tests/fault/limits (0: not judged there); end: of the file's name.
Shape = namedtuple("Shape", "n_time n_memory end write", defaults=(".json", None))
SHAPES = {
    "deep": Shape(32_000, 100_000), "tracks": Shape(50_000, 150_000), "processes": Shape(30_000, 100_000),
    "steps": Shape(50_000, 150_000), "one-name": Shape(200_000, 600_000), "all-names": Shape(100_000, 300_000),
    "stacks": Shape(50_000, 150_000), "same-start": Shape(32_000, 100_000), "same-hash": Shape(30_000, 100_000),
    "frames": Shape(32_000, 60_000),
    "requests": Shape(100_000, 250_000, ".json", write_requests), "ids": Shape(200_000, 0, ".json", write_ids),
    "calls": Shape(100_000, 0, ".json", write_calls), "folded": Shape(200_000, 0, ".txt", write_folded),
    "gpus": Shape(10_000, 0, "_kernel_trace.csv", write_gpus),
    "recording": Shape(50_000, 100_000, ".tacho", write_recording),
}


def write(shape, n, path, gentrace):
    """The shape with n rows as a file."""
    with open(path, "wb") as out:
        if SHAPES[shape].write:
            SHAPES[shape].write(out, n)
        else:
            subprocess.run([gentrace, "worst", shape, str(n)], stdout=out, check=True)
