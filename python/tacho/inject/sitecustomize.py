"""`tacho record` and `tacho prove` put this at the front of PYTHONPATH, so that Python programs need no change.

Python imports it before the program. It hooks each framework tacho knows when its import is done. The
program's own sitecustomize, if there is one, still runs. No failure here reaches the program.
"""
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def _next_one():
    """The sitecustomize that this one hides."""
    own = sys.modules.pop("sitecustomize", None)
    kept = list(sys.path)
    sys.path[:] = [p for p in sys.path if os.path.abspath(p or ".") != HERE]
    try:
        import sitecustomize  # noqa: F401
    except ImportError:
        if own is not None:
            sys.modules["sitecustomize"] = own
    finally:
        sys.path[:] = [p for p in kept if os.path.abspath(p or ".") != HERE]


def _watch():
    if sys.version_info < (3, 8) or not os.environ.get("TACHO_RECORD"):
        return
    since = time.perf_counter_ns()
    package = os.path.dirname(os.path.dirname(HERE))
    sys.path.append(package)  # last: an installed package comes first
    try:
        from tacho.hooks import watch
        watch.begin()
        if hasattr(watch, "once"):  # an installed package may be older than this file
            watch.once(since)
    except Exception as why:
        if os.environ.get("TACHO_DEBUG"):
            sys.stderr.write("tacho: {}\n".format(why))
    finally:
        sys.path.remove(package)


def _prove():
    if not os.environ.get("TACHO_PROVE"):
        return
    sys.path.insert(0, HERE)
    try:
        import tacho_prove
        tacho_prove.begin()
    except Exception as why:
        sys.stderr.write("tacho: {}\n".format(why))
    finally:
        sys.path.remove(HERE)


_next_one()
_watch()
_prove()
