#!/usr/bin/python3
"""Makes rocm.pftrace.gz: the training of ../rocm/make.py as rocprofv3 writes it for Perfetto, and threads.pftrace: what a
program with Perfetto's SDK writes. make.py [FOLDER]; --corpus writes small ones of every kind to the fuzzer's corpus."""
import importlib.util
import struct
import sys
import zlib
from pathlib import Path

HERE = Path(__file__).resolve().parent
SPEC = importlib.util.spec_from_file_location("rocm", HERE.parent / "rocm/make.py")
ROCM = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(ROCM)
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4


def varint(v):
    out, v = b"", v & (1 << 64) - 1
    while v > 127:
        out, v = out + bytes([v & 127 | 128]), v >> 7
    return out + bytes([v])


def message(*fields):
    """(number, value) of every field: an int, a float, text, or the bytes of a message; a negative number is a field
    of eight bytes."""
    out = b""
    for number, value in fields:
        if number < 0:
            out += varint(-number << 3 | 1) + struct.pack("<d" if isinstance(value, float) else "<Q", value)
        elif isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            value = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(value)) + value
    return out


class Writer:
    """The packets of one sequence, with each word defined once."""

    def __init__(self, sequence=1):
        self.sequence, self.parts, self.words = sequence, [], {}

    def packet(self, *fields, flags=2):
        self.parts.append(message((1, message(*fields, (10, self.sequence), (13, flags)))))

    def bytes(self):
        return b"".join(self.parts)

    def track(self, uuid, name="", parent=0, *fields):
        self.packet((60, message((1, uuid), *([(2, name)] if name else []), (5, parent), *fields)), flags=0)

    def word(self, new, table, text):
        key = (table, text)
        if key not in self.words:
            self.words[key] = len(self.words) + 1
            new.append((table, message((1, self.words[key]), (2, text))))
        return self.words[key]

    def event(self, kind, track, time, name="", category="", args=(), more=(), clock=0):
        new, fields = [], [(9, kind), (11, track)]
        if category:
            fields.append((3, self.word(new, 1, category)))
        if name:
            fields.append((10, self.word(new, 2, name)))
        for key, value in args:
            number = {int: 3, float: -5}.get(type(value), 6)
            fields.append((4, message((1, self.word(new, 3, key)), (number, value))))
        words = [(12, message(*new))] if new else []
        self.packet((8, time), *([(58, clock)] if clock else []), *words, (11, message(*fields, *more)))


def snapshot(*clocks):
    return message(*((1, message((1, i), (2, value), *more)) for i, value, *more in clocks))


def make_rocm(steps):
    w = Writer()
    w.packet((6, snapshot((6, 5000000), (1, 1700000000000000000), (64, 0, (3, 1)))), (42, 1), (59, message((58, 64))),
             flags=1)
    w.track(100, "", 0, (3, message((1, 908), (6, "train"))))
    w.track(101, "", 100, (4, message((1, 908), (2, 908), (5, "main"))))
    w.track(201, "COMPUTE AGENT [1] STREAM [1] (GPU)", 100)
    w.track(202, "COPY to AGENT [1] STREAM [1] (GPU)", 100)
    order = {"call": 0, "marker": 1, "copy": 2, "kernel": 3}  # kind by kind, not in the order of time
    for what, start, end, ident, more in sorted(ROCM.events(steps), key=lambda e: order[e[0]]):
        category = {"call": "hip_api", "marker": "marker_api", "copy": "memory_copy", "kernel": "kernel_dispatch"}[what]
        name = {"copy": "MEMORY_COPY_HOST_TO_DEVICE", "kernel": ROCM.KERNELS.get(more, "")}.get(what, more)
        args = [("begin_ns", start), ("end_ns", end), ("delta_ns", end - start), ("corr_id", ident)]
        if what == "kernel":
            args += [("agent", "Agent-1"), ("queue", 4), ("group_segment_size", 1024), ("workgroup_size", 256),
                     ("grid_size", 65536)]
        if what == "copy":
            args += [("src_agent", "Agent-0"), ("dst_agent", "Agent-1"), ("copy_bytes", more)]
        track = {"copy": 202, "kernel": 201}.get(what, 101)
        w.event(BEGIN, track, start, name, category, args, [(-47, ident ^ 0x5bd1e995 << 32)], clock=6)
        w.event(END, track, end, clock=6)
    w.packet((1, message((1, 0))), flags=0)  # of another data source
    return w.bytes()


def make_threads():
    w = Writer(2)
    w.packet((6, snapshot((6, 1000000), (1, 1700000000000000000), (3, 900000), (64, 0, (3, 1), (4, 1000)))),
             (59, message((58, 64), (11, message((11, 11), (31, 13))))), (42, 1), (87, 1), flags=1)
    w.track(10, "", 0, (3, message((1, 7), (6, "server"))))
    w.track(11, "", 10, (4, message((1, 7), (2, 8), (5, "worker"))))
    w.track(12, "heap", 10, (8, message((3, 3), (4, 1024))))
    w.track(13, "thread time", 11, (8, message((1, 1), (5, 1))))
    w.track(14, "requests", 10)
    for i in range(3):
        w.event(BEGIN, 11, 10, "handle", "rpc", [("size", 5 + i), ("share", 0.5), ("who", "client")],
                [(-47, 70 + i), (12, 100)])
        w.event(BEGIN, 11, 2, "parse", "rpc", (),
                [(4, message((10, "tree"), (11, message((10, "list"), (12, message((4, -1)))))))])
        w.event(END, 11, 5)
        w.event(COUNTER, 12, 1, more=[(30, 40 + i)])
        w.event(INSTANT, 11, 1, "log", "rpc")
        w.event(END, 11, 4, more=[(12, 50)])
        w.event(BEGIN, 14, 1, "answer", "rpc", (), [(-48, 70 + i)])
        w.event(END, 14, 3)
    w.event(BEGIN, 11, 1, "open", "rpc")
    return w.bytes()


def make_old():
    """As Chrome wrote it first."""
    w = Writer(3)
    w.packet((44, message((1, 7), (2, 9), (6, 1000))), (12, message((2, message((1, 3), (2, "old"))))), flags=1)
    for phase, delta, more in (("X", 5, [(3, 10)]), ("B", 20, []), ("E", 5, []), ("S", 1, [(6, 77)]), ("F", 9, [(6, 77)])):
        w.packet((11, message((1, delta), (6, message((1, 3), (2, ord(phase)), *more)))))
    return w.bytes()


if __name__ == "__main__":
    if "--corpus" in sys.argv:
        corpus = HERE.parents[1] / "fuzz/corpus/perfetto"
        threads = make_threads()
        (corpus / "rocm.pftrace").write_bytes(make_rocm(1))
        (corpus / "threads.pftrace").write_bytes(threads)
        (corpus / "old.pftrace").write_bytes(make_old())
        (corpus / "packed.pftrace").write_bytes(message((1, message((50, zlib.compress(threads))))))
        (corpus / "damaged.pftrace").write_bytes(threads[:400] + b"\xff" * 20 + threads[420:-7])
    else:
        folder = Path(sys.argv[1] if len(sys.argv) > 1 else HERE)
        ROCM.pack(folder / "rocm.pftrace.gz", make_rocm(4))
        (folder / "threads.pftrace").write_bytes(make_threads())
