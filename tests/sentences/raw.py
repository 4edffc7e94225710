"""Facts of a Kineto or Chrome trace from its raw bytes, without tacho: what the device did, and when."""
import gzip
import json
from collections import defaultdict

DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")
LAUNCHES = ("cuda_runtime", "cuda_driver", "hip_runtime", "runtime", "privateuse1_runtime")
HELD_US = 1000  # a first piece of work that starts so long after its launch waited for something


def union(pairs):
    """Total length of intervals, overlaps counted once."""
    total, end = 0.0, float("-inf")
    for a, b in sorted(pairs):
        if b > end:
            total += b - max(a, end)
            end = b
    return total


def events_of(path):
    """The events of a JSON trace; None when it is another kind of file, or damaged."""
    try:
        with (gzip.open if str(path).endswith(".gz") else open)(path, "rb") as f:
            whole = json.load(f)
    except (OSError, ValueError, EOFError):
        return None
    found = whole.get("traceEvents") if isinstance(whole, dict) else whole
    return found if isinstance(found, list) else None


class Raw:
    """One trace."""

    def __init__(self, events):
        timed = [e for e in events if isinstance(e, dict) and e.get("ph") == "X"
                 and isinstance(e.get("ts"), (int, float)) and isinstance(e.get("dur"), (int, float)) and e["dur"] >= 0]
        self.device = [e for e in timed if str(e.get("cat", "")).lower() in DEVICE]
        self.host = [e for e in timed if str(e.get("cat", "")).lower() not in DEVICE]
        self.names = {str(e.get("name", "")) for e in timed}
        self.starts = min((e["ts"] for e in timed), default=0)
        self.ends = max((e["ts"] + e["dur"] for e in timed if str(e.get("cat", "")) != "Trace"), default=0)

    def busy_us(self):
        """By device: the time in which at least one piece of work runs."""
        by = defaultdict(list)
        for e in self.device:
            by[(e.get("args") or {}).get("device", e.get("pid"))].append((e["ts"], e["ts"] + e["dur"]))
        return {d: union(v) for d, v in by.items()}

    def held_us(self):
        """For how long the device was busy with what was launched before the recording: from the recording's start to
        the first start of a stream whose launch came long before, with nothing recorded in between."""
        launch = {(e.get("args") or {}).get("correlation"): e for e in self.host if str(e.get("cat")) in LAUNCHES}
        first = min(self.device, key=lambda e: e["ts"], default=None)
        if first is None:
            return 0.0
        call = launch.get((first.get("args") or {}).get("correlation"))
        if not call or first["ts"] - (call["ts"] + call["dur"]) < HELD_US:
            return 0.0
        return first["ts"] - self.starts

    def kernel_shares(self):
        """Share of the time of all kernels by name."""
        kernels = [e for e in self.device if e["cat"].lower() == "kernel"]
        total = sum(e["dur"] for e in kernels)
        by = defaultdict(float)
        for e in kernels:
            by[str(e.get("name"))] += e["dur"]
        return {name: t / total for name, t in by.items()} if total else {}
