"""The build backend of the package: a wheel with the Python files, libtacho.so, the program tacho, its
demonstration and the extension. Standard library only, nothing is fetched.

pip calls build_wheel in this folder, which lies in the source tree; make builds what is missing there.
TACHO_STAGE names a folder with libtacho.so and tacho that are to be used as they are. `make wheel` writes
the wheel for any Linux with write_wheel.
"""
import base64
import hashlib
import os
import re
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
METADATA = """Metadata-Version: 2.1
Name: tacho
Version: {version}
Summary: Performance profiler for deep-learning programs
Requires-Python: >=3.8
Description-Content-Type: text/markdown

{description}"""
# The program itself cannot be in bin/: it finds what belongs to it beside its own file.
SCRIPT = """#!python
import os
import sys
from importlib.util import find_spec

program = os.path.join(find_spec("tacho").submodule_search_locations[0], "native", "tacho")
os.execv(program, [program, *sys.argv[1:]])
"""


def package_version():
    found = re.search(r"^VERSION := (\S+)", (TREE / "Makefile").read_text(encoding="utf-8"), re.M)
    return found.group(1)


def _stage():
    """The folder with libtacho.so and tacho, built if needed."""
    given = os.environ.get("TACHO_STAGE")
    if given:
        return Path(given)
    make = shutil.which("make")
    if not make:
        raise RuntimeError("make is needed to build libtacho.so and tacho")
    subprocess.run([make, "-s", "-C", str(TREE), "build/tacho", "build/libtacho.so",
                    "build/tacho-demo"], check=True,
                   stdout=sys.stderr)
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
    done = subprocess.run(extension_command(compiler.split(), stage, to), stdout=sys.stderr, check=False)
    return to if done.returncode == 0 else None


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


def _metadata(version, tag):
    wheel = f"Wheel-Version: 1.0\nGenerator: tacho\nRoot-Is-Purelib: false\nTag: {tag}\n"
    description = (HERE / "README.md").read_text(encoding="utf-8")
    return {"METADATA": METADATA.format(version=version, description=description), "WHEEL": wheel,
            "top_level.txt": "tacho\n"}


def write_wheel(folder, tag, natives, more=()):
    """The wheel's name. natives: files for tacho/native; more: (name in the wheel, bytes) of others, where
    {info} and {data} stand for the folders of the wheel format."""
    version = package_version()
    name, info, data = (f"tacho-{version}{rest}" for rest in (f"-{tag}.whl", ".dist-info", ".data"))
    wheel = _Wheel(Path(folder) / name, info)
    for source in sorted((HERE / "tacho").rglob("*.py")):
        wheel.add(source.relative_to(HERE).as_posix(), source.read_bytes())
    wheel.add("tacho/py.typed", b"")
    for file in natives:
        wheel.add(f"tacho/native/{file.name}", file.read_bytes(), 0o755)
    wheel.add(f"{data}/scripts/tacho", SCRIPT.encode(), 0o755)
    for file, content in more:
        wheel.add(file.format(info=info, data=data), content)
    for file, text in _metadata(version, tag).items():
        wheel.add(f"{info}/{file}", text.encode())
    wheel.add(f"{info}/licenses/LICENSE", (TREE / "LICENSE").read_bytes())
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
    raise NotImplementedError("the package is built in the source tree: pip install ./python")


def get_requires_for_build_wheel(config_settings=None):
    return []
