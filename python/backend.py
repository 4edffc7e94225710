"""The build backend of the package: a wheel with the Python files, libtacho.so, the program tacho and,
for Python 3.10 and later, the extension. Standard library only, nothing is fetched.

pip calls build_wheel in this folder of the source tree; make builds what is missing.
TACHO_STAGE names a folder with a libtacho.so and a tacho to use unchanged.
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
LEAST = (3, 10)  # the extension's interface
METADATA = """Metadata-Version: 2.1
Name: tacho
Version: {version}
Summary: Recorder and analyser for deep-learning programs
Requires-Python: >=3.8
"""
ENTRY_POINTS = "[console_scripts]\ntacho = tacho._program:main\n"


def _version():
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
    subprocess.run([make, "-s", "-C", str(TREE), "build/tacho", "build/libtacho.so"], check=True,
                   stdout=sys.stderr)
    return TREE / "build"


def _extension(stage, folder):
    """Path of the extension, or None if it cannot be built: the package then uses ctypes."""
    headers = Path(sysconfig.get_paths()["include"])
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    if sys.version_info[:2] < LEAST or not compiler or not (headers / "Python.h").is_file():
        return None
    to = Path(folder) / "_tacho.abi3.so"
    command = [*compiler.split(), "-shared", "-fPIC", "-O2", "-std=gnu11",
               "-DPy_LIMITED_API=0x030a0000", f"-I{TREE / 'include'}", f"-I{headers}",
               str(HERE / "native" / "_tacho.c"), f"-L{stage}", "-ltacho", "-ldl",
               "-Wl,-rpath,$ORIGIN", "-o", str(to)]
    done = subprocess.run(command, stdout=sys.stderr, check=False)
    return to if done.returncode == 0 else None


def _tag(has_extension):
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"cp310-abi3-{platform}" if has_extension else f"py3-none-{platform}"


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
        lines = self.records + [f"{self.info}/RECORD,,", ""]
        self.zip.writestr(f"{self.info}/RECORD", "\n".join(lines))
        self.zip.close()


def _metadata(version, tag):
    wheel = f"Wheel-Version: 1.0\nGenerator: tacho\nRoot-Is-Purelib: false\nTag: {tag}\n"
    return {"METADATA": METADATA.format(version=version), "WHEEL": wheel,
            "entry_points.txt": ENTRY_POINTS, "top_level.txt": "tacho\n"}


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    stage, version = _stage(), _version()
    with tempfile.TemporaryDirectory() as scratch:
        extension = _extension(stage, scratch)
        tag, info = _tag(extension is not None), f"tacho-{version}.dist-info"
        name = f"tacho-{version}-{tag}.whl"
        wheel = _Wheel(Path(wheel_directory) / name, info)
        for source in sorted((HERE / "tacho").rglob("*.py")):
            wheel.add(source.relative_to(HERE).as_posix(), source.read_bytes())
        wheel.add("tacho/py.typed", b"")
        for file in (stage / "libtacho.so", stage / "tacho", extension):
            if file is not None:
                wheel.add(f"tacho/native/{file.name}", file.read_bytes(), 0o755)
        for file, text in _metadata(version, tag).items():
            wheel.add(f"{info}/{file}", text.encode())
        wheel.finish()
    return name


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("the package is built in the source tree: pip install ./python")


def get_requires_for_build_wheel(config_settings=None):
    return []
