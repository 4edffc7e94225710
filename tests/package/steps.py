"""What every package must be able to do, tried step by step where it was installed.

tests/package/run does it on this machine, tests/fresh/run and tests/fresh/wheel on others. A Place runs shell
scripts: this machine with an empty environment, or a chroot. Each step is one line with its seconds; what fails
is shown below it and counted.
"""
import contextlib
import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "python"))
from backend import package_version  # noqa: E402

DIST = ROOT / "build/dist"
VERSION = package_version()
MACHINE = os.uname().machine
DEBIAN_NAMES = {"x86_64": "amd64", "aarch64": "arm64"}
NAMES = {"wheel": "tacho-{version}-*_{machine}.whl", "tarball": "tacho-{version}-linux-{machine}.tar.gz",
         "deb": "tacho_{version}_{debian}.deb", "source": "tacho-{version}.tar.gz"}
TRAIN = ROOT / "tests/package/train.py"
SAMPLE = ROOT / "tests/data/sample.pt.trace.json.gz"
READ_BACK = """
import sys, tacho
from tacho import _native
assert _native.USES_EXTENSION, "the extension is not used"
steps = tacho.load(sys.argv[1]).steps()
assert len(steps) == 5, f"{len(steps)} steps, not 5"
print(tacho.__version__)
"""
total = [0, 0, 0]


class Failed(Exception):
    """A step went wrong: what it wrote."""


def say(word, text, seconds=None):
    took = "" if seconds is None else f"{seconds:8.1f} s"
    print(f"{word} {text:<70}{took}", flush=True)


@contextlib.contextmanager
def step(what):
    """One line of the report."""
    began = time.monotonic()
    try:
        yield
    except (Failed, OSError, RuntimeError, AssertionError) as why:
        say("FAIL", what, time.monotonic() - began)
        print("".join(f"    | {line}\n" for line in str(why).splitlines()[-30:]), end="", flush=True)
        total[1] += 1
        return
    say("PASS", what, time.monotonic() - began)
    total[0] += 1


def skip(what):
    say("SKIP", what)
    total[2] += 1


def finish():
    """The exit status, after the line with the counts."""
    print("{} passed, {} failed, {} skipped".format(*total))
    return 1 if total[1] else 0 if total[0] else 77


def host(*words, **more):
    """What a command writes. When this program is ended in the meantime, all that it started is, too."""
    with subprocess.Popen([str(w) for w in words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, universal_newlines=True, start_new_session=True, **more) as process:
        try:
            wrote = process.communicate()[0]
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    if process.returncode:
        raise Failed(f"{' '.join(map(str, words))}\n{wrote}")
    return wrote


def package(kind, machine=MACHINE):
    """The package of this version in build/dist."""
    name = NAMES[kind].format(version=VERSION, machine=machine, debian=DEBIAN_NAMES[machine])
    found = list(DIST.glob(name))
    if not found:
        raise Failed(f"{name} is missing in build/dist: make wheel dist deb ARCH={machine}")
    return found[0]


def expect(text, *patterns):
    for pattern in patterns:
        if not re.search(pattern, text):
            raise Failed(f"not found: {pattern}\nin: {text}")


class Place:
    """This machine, below a folder: nothing of the checkout, of the user's settings or of his path is seen."""

    def __init__(self, name, folder, path="/usr/bin:/bin"):
        self.name, self.folder, self.path = name, Path(folder), path

    def words(self, script):
        """The command that runs a shell script here."""
        return ["/usr/bin/env", "-i", "-C", str(self.folder), f"PATH={self.path}", f"HOME={self.folder}",
                f"TMPDIR={self.folder}", "LC_ALL=C.UTF-8", "/bin/sh", "-ec", script]

    def run(self, script):
        return host(*self.words(script))

    def step(self, what):
        return step(f"{self.name}: {what}")


def _get(url):
    ask = urllib.request.Request(url, headers={"Accept-Encoding": "gzip"})
    with urllib.request.urlopen(ask, timeout=60) as answer:
        body = answer.read()
        return (gzip.decompress(body) if answer.headers.get("Content-Encoding") == "gzip" else body).decode()


def _serve(place, program, logdir):
    """The page of a server in a place, as a browser gets it, and one answer of its API."""
    server = subprocess.Popen(place.words(f"exec {program} serve --port 0 {logdir}"), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, universal_newlines=True)
    try:
        wrote, found = "", None
        while not found and (line := server.stdout.readline()):
            wrote, found = wrote + line, re.search(r"http://\S+/", line)
        expect(wrote, r"http://\S+/")
        address = found.group(0)
        expect(_get(address), "<!doctype html>", r"<script[^>]*src=")
        answer = {"runs": []}
        for _ in range(100):  # the folder is being looked into
            answer = answer if answer["runs"] else json.loads(_get(address + "api/v1/runs"))
            time.sleep(0 if answer["runs"] else 0.1)
        expect(json.dumps(answer["runs"]), '"name": "sample')
    finally:
        server.terminate()
        server.wait()


def use(place, program, sample):
    """A trace is read, a C program recorded, the page served. `sample` is alone in its folder."""
    with place.step("tacho overview of a trace"):
        expect(place.run(f"{program} overview {sample}"), r"The GPU is idle 64\.6 %")
    with place.step("tacho demo records a C program"):
        expect(place.run(f"{program} demo --no-serve -o demo"), "steps")
    with place.step("tacho serve answers the page and its API"):
        _serve(place, program, os.path.dirname(sample))


def use_python(place, venv, train):
    """A Python program is recorded and read back, from the command line and from Python."""
    with place.step("tacho record -- python train.py"):
        place.run(f"PATH={venv}/bin:$PATH; tacho record -o runs/x -- python {train}")
    with place.step("tacho steps, tacho overview of the recording"):
        answer = json.loads(place.run(f"{venv}/bin/tacho steps runs/x --json -q"))
        if len(answer["tables"]["steps"]["rows"]) != 5:
            raise Failed(f"not 5 steps: {answer['tables']['steps']['rows']}")
        expect(place.run(f"{venv}/bin/tacho overview runs/x"), r"backward +5 ", r"forward +5 ")
    with place.step("import tacho reads the recording"):
        version = place.run(f"{venv}/bin/tacho --version").split()[1]
        expect(place.run(f"{venv}/bin/python -c '{READ_BACK}' runs/x"), f"^{re.escape(version)}$")
