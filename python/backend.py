"""The build backend of the package: a wheel with the Python files, libtacho.so, the program tacho, its
demonstration and the extension. Standard library only, nothing is fetched.

pip calls build_wheel, in a checkout or in the source release; make builds what is missing there.
TACHO_STAGE names a folder with libtacho.so and tacho that are to be used as they are. `make wheel` writes
the wheel for any Linux with write_wheel.
"""
import base64
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TREE = HERE.parent
EXTENSION = "_tacho.abi3.so"
SUMMARY = "Performance profiler for deep-learning programs: why is the GPU idle, and what to change"
AUTHOR = "The tacho developers"
KEYWORDS = ("cuda", "deep-learning", "gpu", "jax", "megengine", "mindspore", "paddlepaddle", "performance", "profiler",
            "pytorch", "trace")
CLASSIFIERS = (
    "Development Status :: 4 - Beta",
    "Environment :: Console",
    "Environment :: GPU :: NVIDIA CUDA",
    "Environment :: Web Environment",
    "Intended Audience :: Developers",
    "Intended Audience :: Science/Research",
    "License :: OSI Approved :: Apache Software License",
    "Natural Language :: Chinese (Simplified)",
    "Natural Language :: English",
    "Operating System :: POSIX :: Linux",
    "Programming Language :: C",
    "Programming Language :: Python :: 3",
    "Programming Language :: Python :: 3 :: Only",
    "Topic :: Scientific/Engineering :: Artificial Intelligence",
    "Topic :: Software Development :: Debuggers",
    "Topic :: System :: Benchmark",
    "Typing :: Typed",
)
COMPLETIONS = {"tacho.bash": "share/bash-completion/completions/tacho",
               "_tacho": "share/zsh/site-functions/_tacho",
               "tacho.fish": "share/fish/vendor_completions.d/tacho.fish"}
# What a build needs, and what Debian calls it. The headers are those that the Makefile asks the compiler for.
PACKAGES = {"make": "make", "gcc": "gcc", "/usr/bin/python3": "python3", "stdlib.h": "libc6-dev", "zlib.h": "zlib1g-dev",
            "zstd.h": "libzstd-dev", "xxhash.h": "libxxhash-dev", "microhttpd.h": "libmicrohttpd-dev",
            "curl/curl.h": "libcurl4-openssl-dev", "sqlite3.h": "libsqlite3-dev"}
# The program itself cannot be in bin/: it finds what belongs to it next to its own file.
SCRIPT = """#!python
import os
import sys
from importlib.util import find_spec

program = os.path.join(find_spec("tacho").submodule_search_locations[0], "native", "tacho")
os.execv(program, [program, *sys.argv[1:]])
"""


def _setting(name):
    """A variable of the Makefile, the one place that holds it."""
    text = (TREE / "Makefile").read_text(encoding="utf-8")
    return re.search(rf"^{name} :=[ \t]*(.*)$", text, re.M).group(1).strip()


def package_version():
    return _setting("VERSION")


def home_page():
    """The address of the project; empty while it has none."""
    return _setting("HOME_PAGE")


def _missing():
    """What a build needs and this machine lacks, of PACKAGES; without a compiler no header is found."""
    compiler = shlex.split(os.environ.get("CC") or "gcc")
    programs = {"make": "make", "gcc": compiler[0], "/usr/bin/python3": "/usr/bin/python3"}
    absent = [name for name, program in programs.items() if not shutil.which(program)]
    for header in (name for name in PACKAGES if name.endswith(".h")):
        words = [*compiler, *shlex.split(os.environ.get("CPPFLAGS", "")), "-E", "-x", "c", "-"]
        if "gcc" in absent or subprocess.run(words, input=f"#include <{header}>\n".encode(), check=False,
                                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
            absent.append(header)
    return absent


def _stage():
    """The folder with libtacho.so and tacho, built if needed."""
    given = os.environ.get("TACHO_STAGE")
    if given:
        return Path(given)
    absent = _missing()
    if absent:
        sys.exit(f"tacho cannot be built: this machine has no {', '.join(absent)}; on Debian and Ubuntu, "
                 f"`apt-get install -y {' '.join(PACKAGES[name] for name in absent)}` installs what is missing")
    done = subprocess.run(["make", "-s", "-C", str(TREE), "build/tacho", "build/libtacho.so", "build/tacho-demo"],
                          stdout=sys.stderr, check=False)
    if done.returncode:
        sys.exit("tacho cannot be built: make failed, see above")
    return TREE / "build"


def extension_command(compiler, stage, to, runpath="$ORIGIN"):
    """How the extension is compiled: it needs no headers of Python."""
    return [*compiler, "-shared", "-fPIC", "-O2", "-std=gnu11", "-fvisibility=hidden", f"-I{TREE / 'include'}",
            str(HERE / "native" / "_tacho.c"), f"-L{stage}", "-ltacho", "-ldl", f"-Wl,-rpath,{runpath}",
            "-o", str(to)]


def _extension(stage, folder):
    """Path of the extension, or None if it cannot be built: the package then uses ctypes."""
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        return None
    to = Path(folder) / EXTENSION
    done = subprocess.run(extension_command(shlex.split(compiler), stage, to), stdout=sys.stderr, check=False)
    return to if done.returncode == 0 else None


def shared_files():
    """Man pages and completions: (name below the prefix, bytes)."""
    pages = [(f"share/man/man1/{p.name}", p.read_bytes()) for p in sorted((TREE / "docs/man").glob("*.1"))]
    return pages + [(to, (TREE / "completions" / name).read_bytes()) for name, to in COMPLETIONS.items()]


class _Wheel:
    """A zip file that keeps a list of its contents."""

    def __init__(self, path, info):
        self.zip, self.info, self.records = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED), info, []

    def add(self, name, data, mode=0o644):
        entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
        entry.external_attr = (0o100000 | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.zip.writestr(entry, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.records.append(f"{name},sha256={digest},{len(data)}")

    def finish(self):
        name = f"{self.info}/RECORD"
        lines = self.records + [f"{name},,", ""]
        self.add(name, "\n".join(lines).encode())
        self.zip.close()


def _description():
    """What python/README.md says to users; the rest is about this folder."""
    return (HERE / "README.md").read_text(encoding="utf-8").split("\n## In the source tree")[0] + "\n"


def metadata():
    """The metadata of the package: METADATA of a wheel, PKG-INFO of the source release. Of version 2.1, because
    `pip show` of many systems does not know how later ones name the license."""
    fields = [("Metadata-Version", "2.1"), ("Name", "tacho"), ("Version", package_version()), ("Summary", SUMMARY),
              ("Author", AUTHOR), ("Maintainer", AUTHOR), ("License", "Apache-2.0"),
              *([("Project-URL", f"Homepage, {home_page()}")] if home_page() else []),
              ("Keywords", ",".join(KEYWORDS)), *(("Classifier", name) for name in CLASSIFIERS),
              ("Requires-Python", ">=3.8"), ("Description-Content-Type", "text/markdown")]
    return "".join(f"{name}: {value}\n" for name, value in fields) + "\n" + _description()


def write_wheel(folder, tag, natives, more=()):
    """The wheel's name. natives: files for tacho/native; more: (name in the wheel, bytes) of others, where
    {info} and {data} stand for the folders of the wheel format."""
    version = package_version()
    name, info, data = (f"tacho-{version}{rest}" for rest in (f"-{tag}.whl", ".dist-info", ".data"))
    more = [*((f"{{data}}/data/{file}", content) for file, content in shared_files()), *more,
            ("{info}/licenses/LICENSE", (TREE / "LICENSE").read_bytes())]
    wheel = _Wheel(Path(folder) / name, info)
    for source in sorted((HERE / "tacho").rglob("*.py")):
        wheel.add(source.relative_to(HERE).as_posix(), source.read_bytes())
    wheel.add("tacho/py.typed", b"")
    for file in natives:
        wheel.add(f"tacho/native/{file.name}", file.read_bytes(), 0o755)
    wheel.add(f"{data}/scripts/tacho", SCRIPT.encode(), 0o755)
    for file, content in more:
        wheel.add(file.format(info=info, data=data), content)
    about = f"Wheel-Version: 1.0\nGenerator: tacho\nRoot-Is-Purelib: false\nTag: {tag}\n"
    for file, text in (("METADATA", metadata()), ("WHEEL", about), ("top_level.txt", "tacho\n")):
        wheel.add(f"{info}/{file}", text.encode())
    wheel.finish()
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    stage = _stage()
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    with tempfile.TemporaryDirectory() as scratch:
        extension = _extension(stage, scratch)
        natives = [stage / "libtacho.so", stage / "tacho", *([extension] if extension else [])]
        if (stage / "tacho-demo").is_file():
            natives.append(stage / "tacho-demo")
        return write_wheel(wheel_directory, f"py3-none-{platform}", natives)


def build_sdist(sdist_directory, config_settings=None):
    """The source release: it is packed by the tools that make the other packages."""
    sys.path.insert(0, str(TREE / "tools/packaging"))
    import contents
    try:
        return contents.source(Path(sdist_directory)).name
    except RuntimeError as why:
        sys.exit(str(why))


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """So that pip knows the package before it is compiled."""
    info = f"tacho-{package_version()}.dist-info"
    folder = Path(metadata_directory) / info
    folder.mkdir()
    (folder / "METADATA").write_text(metadata(), encoding="utf-8")
    return info


def get_requires_for_build_wheel(config_settings=None):
    return []
