"""Makes a recording of server.py small enough to keep.

    tacho export DIR --to chrome -o full.json; python3 bench/serving/keep.py full.json server.pt.trace.json.gz

What is left are the ranges and operators of the server's thread with their times to the nanosecond: no arguments, no
metadata of the machine, no samples.
"""
import gzip
import json
import sys


def main(source, target):
    with open(source, encoding="utf-8") as f:
        full = json.load(f)
    main_thread = next(e["tid"] for e in full["traceEvents"] if e["name"].startswith(("execute_", "step[")))
    events = [{"ph": "M", "name": "process_name", "pid": 1, "tid": 1, "args": {"name": "server"}}]
    events += [{"ph": "X", "cat": e["cat"], "name": e["name"], "pid": 1, "tid": 1, "ts": e["ts"], "dur": e["dur"]}
               for e in full["traceEvents"]
               if e["ph"] == "X" and e["tid"] == main_thread and
               (e["cat"] == "cpu_op" or e["name"].startswith(("execute_", "step[", "sampler")))]
    small = {"schemaVersion": 1, "baseTimeNanoseconds": full["baseTimeNanoseconds"], "traceEvents": events}
    with open(target, "wb") as out, gzip.GzipFile("", "wb", 9, out, 0) as f:
        f.write(json.dumps(small, separators=(",", ":")).encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
