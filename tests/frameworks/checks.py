"""What the tests of the frameworks share: checks with names, a count at the end."""
import sys
import traceback


class Checks:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def equal(self, what, seen, wanted):
        if seen == wanted:
            self.passed += 1
            print(f"  {what}: {_short(seen)}")
        else:
            self.failed += 1
            print(f"FAIL {what}: {_short(seen, 2000)}, not {_short(wanted, 2000)}")

    def true(self, what, holds, seen=""):
        self.equal(f"{what} {seen}".strip(), bool(holds), True)

    def skip(self, what):
        self.skipped += 1
        print(f"SKIP {what}")

    def run(self, function, *args):
        try:
            function(self, *args)
        except Exception:
            self.failed += 1
            print(f"FAIL {function.__name__}\n{traceback.format_exc()}")

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped")
        sys.exit(1 if self.failed else 0)


def _short(value, most=150):
    text = str(value)
    return text if len(text) <= most else text[:most] + "…"


def stages(trace):
    """How often each stage was."""
    return {r["stage"]: r["calls"] for r in trace.overview()["stages"]
            if r["stage"] in ("data_loading", "forward", "backward", "optimizer")}


def kinds(trace):
    """Without garbage collections, which come when they like."""
    found = {r["kind"]: r["count"] for r in trace.info()["events"]}
    found.pop("garbage", None)
    return found


def modules(trace):
    """Name, parent and calls of each module."""
    return sorted((r["module"], r["parent"], r["calls"]) for r in trace.modules())


def annotations(trace, search):
    """Names of user ranges and stages in the Chrome form."""
    import json
    import os
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        to = os.path.join(folder, "t.json")
        trace.export("chrome", to)
        with open(to, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
    return sorted({e["name"] for e in events if e.get("ph") == "X" and search in e["name"]})
