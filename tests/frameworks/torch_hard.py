"""PyTorch recorded where things go wrong: the program prints and ends as it does without tacho.

200 threads, loaders of a fork server and of spawn, little address space, a full disk, a limit on the size
of files, a file that is cut while it is written, a program that is killed.
"""
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import tacho
from tacho import _library

PROGRAM = Path(__file__).with_name("torch_hard_program.py")
TIMEOUT = 300


def start(words, before=None):
    return subprocess.Popen([str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            preexec_fn=before, start_new_session=True)


def result(process):
    out, err = process.communicate(timeout=TIMEOUT)
    return {"status": process.returncode, "said": [x for x in out.splitlines() if x.startswith(("step ", "others "))],
            "err": err}


def recorded(to, *words, options=(), before=None):
    """What it says and its status, under tacho record."""
    return start([_library.program(), "record", "-o", to, *options, "--", sys.executable, PROGRAM, *words], before)


def both(c, what, to, *words, options=(), before=None):
    """Runs it plain and recorded; the two must be the same. What tacho itself said is returned."""
    plain = result(start([sys.executable, PROGRAM, *words], before))
    under = result(recorded(to, *words, options=options, before=before))
    c.equal(f"{what}: status", (plain["status"], under["status"]), (0, 0))
    c.equal(f"{what}: results", under["said"], plain["said"])
    if under["status"]:
        print(under["err"][-2000:])
    return under["err"]


def steps_of(to, **which):
    return list(tacho.load(str(to), **which).steps().step)


def loaders_of_every_kind(c, folder):
    for context in ("spawn", "forkserver"):
        to = Path(folder) / context
        both(c, f"{context} loaders", to, 6, f"context={context}")
        c.equal(f"{context} loaders: steps", len(steps_of(to)) >= 6, True)
        names = sorted(p.name for p in to.glob("*.tacho"))
        c.equal(f"{context} loaders: all files can be read", [bool(tacho.load(str(to / n)).info()) for n in names],
                [True] * len(names))


def two_hundred_threads(c, folder):
    both(c, "200 threads", folder, 6, "threads=200")
    trace = tacho.load(folder)
    c.equal("200 threads: nothing is lost", trace.info().quality["events_dropped"], [])
    calls = {r["name"]: r["calls"] for r in trace.operators()}
    c.equal("200 threads: their operators", calls.get("aten::tanh"), 200 * 50)


def little_address_space(c, folder):
    """A little more than the program itself needs: there is no room for the recorder's usual window."""
    measure = ("import sys, runpy; sys.argv = [sys.argv[1], '4']; runpy.run_path(sys.argv[0], run_name='__main__'); "
               "print(open('/proc/self/status').read().split('VmPeak:')[1].split()[0])")
    done = subprocess.run([sys.executable, "-c", measure, str(PROGRAM)], capture_output=True, text=True, check=True,
                          timeout=TIMEOUT)
    limit = int(done.stdout.split()[-1]) * 1024 + (1 << 30)

    def narrow():
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    both(c, "RLIMIT_AS", folder, 6, before=narrow)
    c.equal("RLIMIT_AS: steps", len(steps_of(folder)) >= 6, True)


def small_files(c, folder):
    """Also the sealed trace and the cache may not be larger; then the recording stays as it is."""
    def narrow():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
    both(c, "RLIMIT_FSIZE", folder, 80, options=("--shapes", "--memory"), before=narrow)
    c.equal("RLIMIT_FSIZE: losses are counted", lost(folder) > 0, True)


def lost(folder):
    quality = tacho.load(str(folder)).info().quality
    return sum(row.get("count", 1) for row in quality["events_dropped"])


def full_disk(c, folder):
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", folder], capture_output=True,
                      check=False).returncode:
        print("  full disk: no right to mount one")
        return
    try:
        both(c, "full disk", Path(folder) / "runs", 80, options=("--shapes", "--memory"))
        c.equal("full disk: losses are counted", lost(Path(folder) / "runs") > 0, True)
    finally:
        subprocess.run(["umount", folder], check=True)


def wait_for_file(to, process):
    until = time.monotonic() + TIMEOUT
    while time.monotonic() < until and process.poll() is None:
        for path in Path(to).glob("*.tacho") if Path(to).is_dir() else ():
            return path
        time.sleep(0.01)
    raise RuntimeError("no recording was begun")


def a_file_that_is_cut(c, folder):
    plain = result(start([sys.executable, PROGRAM, 40]))
    process = recorded(folder, 40)
    path = wait_for_file(folder, process)

    def cut():
        for _ in range(20):
            time.sleep(0.03)
            if path.exists() and process.poll() is None:
                os.truncate(path, 0)
    cutter = threading.Thread(target=cut)
    cutter.start()
    under = result(process)
    cutter.join()
    c.equal("file cut: status", under["status"], 0)
    c.equal("file cut: results", under["said"], plain["said"])
    notes = []
    for other in sorted(Path(folder).glob("*.tacho")):
        if other != path and other.stat().st_size:
            notes += tacho.load(str(other)).info().quality["notes"]
    c.equal("file cut: it is told", any("was made shorter" in n for n in notes), True)


def program_of(folder):
    """The process that the others, workers of its loader, belong to."""
    pids = {int(re.search(r"_(\d+)\.\d+\.tacho", path.name).group(1)) for path in Path(folder).glob("*.tacho")}
    parent = {pid: int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1]) for pid in pids}
    return next(pid for pid in pids if parent[pid] not in pids)


def a_program_that_never_stops(c, folder):
    process = recorded(folder, 0)
    lines = [process.stdout.readline() for _ in range(10)]
    c.equal("never stops: it runs", lines[-1].split()[:2], ["step", "9"])
    wait_for_file(folder, process)
    os.kill(program_of(folder), signal.SIGKILL)
    process.communicate(timeout=TIMEOUT)
    c.equal("never stops: killed", process.returncode, 137)
    c.equal("never stops: what was recorded is there", len(steps_of(folder)) >= 9, True)


def all_tests(c, top):
    for test in (loaders_of_every_kind, two_hundred_threads, little_address_space, small_files, full_disk,
                 a_file_that_is_cut, a_program_that_never_stops):
        folder = tempfile.mkdtemp(dir=top, prefix=test.__name__)
        c.run(test, folder)
