"""The libraries of the portable program as static archives, from their sources, for one machine.

Each is compiled by the same compiler and for the same C library as the program, so that nothing of this machine
gets in. Only what the program needs is compiled.
"""
import hashlib
import os
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import fetch
from commands import run

# As old as the oldest system in use on clusters: RHEL 8 and its kin.
GLIBC = "2.28"
FLAGS = ["-O2", "-g0", "-fPIC", "-DNDEBUG", "-fvisibility=hidden", "-w",
         "-fstack-protector-strong", "-D_FORTIFY_SOURCE=2"]  # they read other people's bytes, too
# The program for WebAssembly (packaging/wasm.py) has these: it inflates with zlib, and neither serves nor fetches.
IN_WASM = ("zlib", "zstd", "xxhash", "sqlite")
# Vectors, which all browsers of the last years and node have.
WASM_FLAGS = ["-O2", "-g0", "-DNDEBUG", "-fvisibility=hidden", "-w", "-msimd128"]
LICENSES = {"zlib": ["LICENSE"], "zstd": ["LICENSE"], "xxhash": ["LICENSE"], "isa-l": ["LICENSE"],
            "libmicrohttpd": ["COPYING"]}


class Toolchain:
    """Compiler and archiver for a machine, as scripts that make and configure can call."""

    def __init__(self, machine, folder):
        self.machine, self.folder = machine, Path(folder).resolve()
        self.zig = fetch.zig()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.is_wasm = machine == "wasm32"
        self.flags = WASM_FLAGS if self.is_wasm else FLAGS
        target = "wasm32-wasi" if self.is_wasm else f"{machine}-linux-gnu"
        # Without the last word a link also builds a library of run-time checks, for 20 s.
        words = f'cc -target {target}{"" if self.is_wasm else "." + GLIBC} -fno-sanitize=undefined "$@"'
        self.cc = self._script("cc", words, target=target)
        self.ar = self._script("ar", 'ar "$@"')
        self.ranlib = self._script("ranlib", 'ranlib "$@"')
        # What ccache knows the compiler by: its script is new in every checkout.
        self.identity = f"{fetch.ZIG[os.uname().machine][2]} {words}"

    def _script(self, name, words, target=None):
        """The compiler keeps its own run-time libraries for all checkouts; ccache does so with objects."""
        path = self.folder / name
        lines = ["#!/bin/sh"]
        if target:  # the compiler does not know its own name with a version in it
            lines.append(f'[ "$*" != -dumpmachine ] || {{ echo {target}; exit; }}')
        lines += [f"export ZIG_GLOBAL_CACHE_DIR='{fetch.CACHE}/zig-cache' "
                  f"ZIG_LOCAL_CACHE_DIR='{self.folder}/zig-cache'", f"exec '{self.zig}' {words}", ""]
        text = "\n".join(lines)
        if not path.is_file() or path.read_text() != text:
            path.write_text(text)
        path.chmod(0o755)
        return path


def _archive(tools, source, to, files, flags):
    """Compiles files, named relative to `source` so that no path gets into the objects, into an archive."""
    objects = to.with_suffix("")
    objects.mkdir()

    def compile_one(name):
        out = objects / (name.replace("/", "_") + ".o")
        if name.endswith(".asm"):
            run(f"assembling {name}", ["nasm", "-f", "elf64", *[f for f in flags if f.startswith(("-I", "-D"))],
                 "--reproducible", "-o", out, name], cwd=source)
        else:
            kind = [] if name.endswith(".c") else ["-D__ASSEMBLY__"]
            run(f"compiling {name}", [tools.cc, *tools.flags, *kind, *flags, "-c", name, "-o", out], cwd=source)
        return out.name

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        names = list(pool.map(compile_one, files))
    run(f"writing {to.name}", [tools.ar, "rcsD", to, *names], cwd=objects)
    shutil.rmtree(objects)


def _listed(source, *patterns):
    return sorted(p.relative_to(source).as_posix() for pattern in patterns for p in source.glob(pattern))


def _isal_files(source, machine):
    """What ISA-L's own makefiles name for inflating and its checksums."""
    files = []
    lists = [source / part / folder / "Makefile.am" for part in ("igzip", "crc") for folder in ("", machine)]
    for path in filter(Path.is_file, lists):
        text = path.read_text().replace("\\\n", " ")
        for name, words in re.findall(r"^(lsrc\w*)\s*\+=(.*)$", text, re.M):
            if name in ("lsrc", f"lsrc_{machine}"):
                files += words.split()
    return sorted(set(files))


def _isal(tools, source, root):
    headers = _listed(source / "include", "*.h")
    for header in headers:
        _copy(source / "include" / header, root / "include/isa-l" / header)
    names = ("crc.h", "crc64.h", "erasure_code.h", "gf_vect_mul.h", "igzip_lib.h", "mem_routines.h", "raid.h")
    (root / "include/isa-l.h").write_text("".join(f"#include <isa-l/{n}>\n" for n in names))
    folders = ["include/", "igzip/", "crc/"] + ([f"{p}/aarch64/" for p in ("igzip", "crc")]
                                                if tools.machine == "aarch64" else [])
    _archive(tools, source, root / "lib/libisal.a", _isal_files(source, tools.machine),
             [f"-I{f}" for f in folders])


def _zlib(tools, source, root):
    for header in ("zlib.h", "zconf.h"):
        _copy(source / header, root / "include" / header)
    files = [f for f in _listed(source, "*.c") if not f.startswith("gz")]
    _archive(tools, source, root / "lib/libz.a", files, ["-DHAVE_UNISTD_H", "-DHAVE_HIDDEN"])


def _zstd(tools, source, root):
    """The part that decompresses."""
    for header in ("zstd.h", "zstd_errors.h"):
        _copy(source / "lib" / header, root / "include" / header)
    _archive(tools, source, root / "lib/libzstd.a",
             _listed(source, "lib/common/*.c", "lib/decompress/*.[cS]"), ["-Ilib"])


def _xxhash(tools, source, root):
    for header in ("xxhash.h", "xxh3.h"):
        _copy(source / header, root / "include" / header)
    # It takes WebAssembly's vectors for those of ARM, whose header it then misses.
    _archive(tools, source, root / "lib/libxxhash.a", ["xxhash.c"], ["-mno-simd128"] if tools.is_wasm else [])


def _libmicrohttpd(tools, source, root):
    """Its own configure finds out what the target has; without TLS, which the program does not offer."""
    work = root / "libmicrohttpd"
    shutil.copytree(source, work, symlinks=True)
    machine = f"{tools.machine}-linux-gnu"
    options = ["https", "shared", "doc", "examples", "curl", "tools", "dauth", "bauth", "postprocessor",
               "dependency-tracking"]
    run("configuring libmicrohttpd",
        ["./configure", f"--host={machine}", f"--build={os.uname().machine}-linux-gnu", "--enable-static", "--with-pic",
         *(f"--disable-{name}" for name in options), f"CC={tools.cc}", f"AR={tools.ar}", f"RANLIB={tools.ranlib}",
         "CFLAGS=" + " ".join(FLAGS)], cwd=work)
    run("compiling libmicrohttpd", ["make", "-C", "src/microhttpd", "libmicrohttpd.la"], cwd=work,
        env={**os.environ, "MAKEFLAGS": f"-j{os.cpu_count()}"})
    _copy(work / "src/microhttpd/.libs/libmicrohttpd.a", root / "lib/libmicrohttpd.a")
    _copy(source / "src/include/microhttpd.h", root / "include/microhttpd.h")
    shutil.rmtree(work)


def _sqlite(tools, source, root):
    """As Debian builds it where the program needs it, without what it never uses."""
    _copy(source / "sqlite3.h", root / "include/sqlite3.h")
    system = (["-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_WAL", "-D_WASI_EMULATED_GETPID", "-D_WASI_EMULATED_MMAN"]
              if tools.is_wasm else ["-DSQLITE_THREADSAFE=1", "-DHAVE_USLEEP=1"])
    _archive(tools, source, root / "lib/libsqlite3.a", ["sqlite3.c"],
             ["-DSQLITE_ENABLE_COLUMN_METADATA", "-DSQLITE_OMIT_LOAD_EXTENSION",
              "-DSQLITE_ENABLE_MATH_FUNCTIONS", "-DSQLITE_DQS=0", "-DSQLITE_OMIT_DEPRECATED",
              "-DSQLITE_DEFAULT_MEMSTATUS=0", *system])


def _curl(_tools, source, root):
    for header in _listed(source / "include/curl", "*.h"):
        _copy(source / "include/curl" / header, root / "include/curl" / header)


def _copy(source, to):
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, to)


MAKERS = {"zlib": _zlib, "zstd": _zstd, "xxhash": _xxhash, "isa-l": _isal, "libmicrohttpd": _libmicrohttpd,
          "curl": _curl, "sqlite": _sqlite}


def _key(machine):
    """Changes with anything the archives depend on."""
    text = Path(__file__).read_text() + repr((fetch.LIBRARIES, fetch.ZIG, machine))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def licenses(names=tuple(LICENSES)):
    """The texts that must travel with the libraries inside the program."""
    parts = []
    for name in names:
        files = LICENSES[name]
        pin = fetch.LIBRARIES[name]
        for file in files:
            text = (fetch.unpacked(pin, fetch.CACHE / "src") / file).read_text(encoding="utf-8", errors="replace")
            parts.append(f"{pin[3]}\n{'-' * len(pin[3])}\n\n{text.strip()}\n")
    return "\n\n".join(parts)


def build(tools):
    """The folder with include/ and lib/, made once for each change of what they come from."""
    root = fetch.CACHE / f"libraries-{tools.machine}-{_key(tools.machine)}"
    if root.is_dir():
        return root
    scratch = root.with_name(f"{root.name}.{os.getpid()}.tmp")
    shutil.rmtree(scratch, ignore_errors=True)
    for folder in ("lib", "include"):
        (scratch / folder).mkdir(parents=True)

    def make_one(name):
        print(f"  LIB   {tools.machine} {fetch.LIBRARIES[name][3]}", flush=True)
        MAKERS[name](tools, fetch.unpacked(fetch.LIBRARIES[name], fetch.CACHE / "src"), scratch)

    names = IN_WASM if tools.is_wasm else tuple(MAKERS)
    with ThreadPoolExecutor(len(names)) as pool:  # the two longest leave a core idle each
        list(pool.map(make_one, names))
    fetch.move_into_place(scratch, root)
    return root
