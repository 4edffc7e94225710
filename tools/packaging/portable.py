"""The program for any Linux of one machine: linked with its libraries, for an old C library.

The Makefile of the tree builds it, with another compiler and folder; this file names what is different.
"""
import contextlib
import fcntl
import os
import re
import subprocess
import sys
from pathlib import Path

import libraries
from commands import run

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "python"))
import backend  # noqa: E402

MACHINES = ("x86_64", "aarch64")
PROGRAMS = ("tacho", "libtacho.so", "tacho-demo")
LINKED = "-lisal -lz -lzstd -lxxhash -lmicrohttpd -lsqlite3 -lm -ldl -pie"
# What this compiler alone warns of.
QUIET = "-Wno-enum-float-conversion -Wno-enum-enum-conversion"
# Of this machine's own file, and of what is in lib/ when it is in lib/tacho/python/tacho/native.
RUNPATH = "$ORIGIN:$ORIGIN/../../../.."


def epoch():
    """The time every packed file has: that of the last commit, or of the release that was unpacked."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch:
        return int(epoch)
    if (ROOT / ".git").exists():
        asked = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, stdout=subprocess.PIPE, check=False)
        if asked.returncode == 0 and asked.stdout.strip():
            return int(asked.stdout)
    return int((ROOT / "Makefile").stat().st_mtime)


def _environment(tools):
    """Without the words of a make around us; ccache finds the objects of other checkouts."""
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    return {**env, "CCACHE_COMPILERCHECK": f"string:{tools.identity}", "CCACHE_NOHASHDIR": "1"}


def make(tools, folder, targets, words):
    """Runs the Makefile with another compiler, which is pinned: a warning is an error nowhere else than here."""
    run(f"building for {tools.machine}",
        ["make", "--no-print-directory", f"-j{os.cpu_count()}", f"B={folder}", f"CC={tools.cc}",
         f"ARCHIVER={tools.ar}", "WERROR=1", f"CPPFLAGS=-Ibuild/portable/{tools.machine}/root/include", *words,
         *(f"{folder}/{name}" for name in targets)],
        shown=True, cwd=ROOT, env=_environment(tools))


def _make(tools, folder, targets):
    """No -march, no debug information."""
    root = f"build/portable/{tools.machine}/root"
    found = f"-L{root}/lib " if (ROOT / root).exists() else ""
    make(tools, folder, targets,
         [f"MACHINE={tools.machine}-linux-gnu", "HAVE_ISAL=1", f"CFLAGS=-g0 -fPIC {QUIET}", f"LDFLAGS={found}-s",
          f"LIBS={LINKED}", "DEMO_LIBS=-pie"])


def newest_symbol(path):
    """The newest version of the C library that a file asks for, as numbers."""
    text = subprocess.run(["readelf", "-W", "--version-info", str(path)], stdout=subprocess.PIPE, check=True)
    found = re.findall(rb"Name: GLIBC_([0-9.]+)", text.stdout)
    return max((tuple(map(int, v.split(b"."))) for v in found), default=(0,))


def needed(path):
    """The libraries a file asks for."""
    text = subprocess.run(["readelf", "-W", "--dynamic", str(path)], stdout=subprocess.PIPE, check=True)
    return re.findall(r"\(NEEDED\).*\[(.*)\]", text.stdout.decode())


def check(path):
    limit = tuple(map(int, libraries.GLIBC.split(".")))
    if newest_symbol(path) > limit:
        raise RuntimeError(f"{path} needs a C library newer than {libraries.GLIBC}")
    allowed = re.compile(r"(libc|libm|libdl|libpthread|librt)\.so\.\d|ld-linux.*|libtacho\.so")
    others = [name for name in needed(path) if not allowed.fullmatch(name)]
    if others:
        raise RuntimeError(f"{path} needs {', '.join(others)}")


@contextlib.contextmanager
def alone(folder):
    """`make wheel dist deb` makes the three at the same time, from one program."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def build(machine, programs=PROGRAMS, objects=()):
    """The files by their names, checked: the programs and the extension for Python. `objects` are compiled, too."""
    work = ROOT / "build/portable" / machine
    with alone(work):
        return _build(machine, work, programs, objects)


def link_libraries(tools, work):
    """A fixed name for their folder: the program is built again when its flags change."""
    root = work / "root"
    root.unlink(missing_ok=True)
    root.symlink_to(libraries.build(tools))


def _build(machine, work, programs, objects):
    tools = libraries.Toolchain(machine, work / "tools")
    if "tacho" in programs:  # the others need only the C library
        link_libraries(tools, work)
    _make(tools, f"build/portable/{machine}/obj", [*programs, *objects])
    extension = work / "obj" / backend.EXTENSION
    run(f"building {extension.name} for {machine}",
        backend.extension_command([tools.cc, "-g0", "-s"], work / "obj", extension, RUNPATH), cwd=ROOT)
    files = [work / "obj" / name for name in (*programs, backend.EXTENSION)]
    for path in files:
        check(path)
    if len((ROOT / "build/gen/page_files.inc").read_text().splitlines()) < 2:
        raise RuntimeError("the page is missing: make web builds it")
    return {path.name: path for path in files}
