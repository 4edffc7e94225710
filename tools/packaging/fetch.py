"""What the packages are made from, pinned: each file by its address and SHA-256, kept in a cache.

A file that is already in the cache with the right checksum is not fetched again, so a second build needs no
network. TACHO_FETCHED names another cache.
"""
import hashlib
import os
import shutil
import sys
import tarfile
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

CACHE = Path(os.environ.get("TACHO_FETCHED")
             or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tacho-packaging")

# The second one keeps what the first has dropped.
DEBIAN = ("http://deb.debian.org/debian/pool/main/",
          "https://snapshot.debian.org/archive/debian/20260901T000000Z/pool/main/")
PYPI = ("https://files.pythonhosted.org/packages/",)
NPM = ("https://registry.npmjs.org/",)

# name: (mirrors, path below them, SHA-256, folder in the archive)
LIBRARIES = {
    "zlib": (DEBIAN, "z/zlib/zlib_1.3.dfsg+really1.3.1.orig.tar.gz",
             "60dd315c07f616887caa029408308a018ace66e3d142726a97db164b3b8f69fb", "zlib-1.3.1"),
    "zstd": (DEBIAN, "libz/libzstd/libzstd_1.5.7+dfsg.orig.tar.xz",
             "0c092ef267edce57ba7f3f2645c861f72eaf5e76273c6c3632869423464b90a5", "zstd-1.5.7"),
    "xxhash": (DEBIAN, "x/xxhash/xxhash_0.8.3.orig.tar.gz",
               "aae608dfe8213dfd05d909a57718ef82f30722c392344583d3f39050c7f29a80", "xxHash-0.8.3"),
    "isa-l": (DEBIAN, "libi/libisal/libisal_2.31.1.orig.tar.gz",
              "e1d5573a4019738243b568ab1e1422e6ab7557c5cae33cc8686944d327ad6bb4", "isa-l-2.31.1"),
    "libmicrohttpd": (DEBIAN, "libm/libmicrohttpd/libmicrohttpd_1.0.1.orig.tar.gz",
                      "a89e09fc9b4de34dde19f4fcb4faaa1ce10299b9908db1132bbfa1de47882b94",
                      "libmicrohttpd-1.0.1"),
    "curl": (DEBIAN, "c/curl/curl_8.14.1.orig.tar.gz",  # headers alone: the library is loaded on use
             "6766ada7101d292b42b8b15681120acd68effa4a9660935853cf6d61f0d984d4", "curl-8.14.1"),
    # SQLite 3.53.4 as one file: Debian's sources need Tcl to make it, this package carries it.
    "sqlite": (NPM, "better-sqlite3/-/better-sqlite3-13.0.3.tgz",
               "77e0513dc1a469fb3bceec4c7fb5ad3f403109787eda05be047ec17fd56868cb", "package/deps/sqlite3"),
}
ZIG = {
    "aarch64": (PYPI, "02/21/abee2f0524f54fe3e8783748b9df79bb07d4b955e6b465677d1cfbda335c/ziglang-0.17.0-py3-"
                "none-manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64.whl",
                "d2804f94f54f7fcf8169f4b212a619ad688a4e2e6592e976f0cf2e58e2cd8af3", "ziglang"),
    "x86_64": (PYPI, "fe/6f/e1c380fe61db36cb464d5d4d18c557338812500986885373e2550d4ebf6b/ziglang-0.17.0-py3-"
               "none-manylinux_2_12_x86_64.manylinux2010_x86_64.musllinux_1_1_x86_64.whl",
               "97079827064a7492cce5541ceb438ae8003ce1e54e399676da2d62fb7a5dc08b", "ziglang"),
}
# Looks over the workflows of .github (tests/tools/workflows-test).
ZIZMOR = {
    "aarch64": (PYPI, "be/18/8d66db6e98c89f5d647236e282062d8ccc73f7ba759f7ef8dd6204683518/zizmor-1.32.0-py3-none-"
                "manylinux_2_24_aarch64.whl",
                "0cdd38fca6eb34ceb567548548d706332e3535ea66894b9168c048e03207b68c", "zizmor-1.32.0.data/scripts"),
    "x86_64": (PYPI, "6f/b2/45f4fcb6f428e774750709ecf5320ba6d96393c03b941d9f37a4586f6924/zizmor-1.32.0-py3-none-"
               "manylinux_2_28_x86_64.whl",
               "84a6acb975accc13408786a2bd274b572537ca19c933ebbc13e78f3988562071", "zizmor-1.32.0.data/scripts"),
}


class FetchError(Exception):
    """A file could not be had, with the reason."""


class Unreachable(FetchError):
    """No mirror answered."""


def _digest(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def _download(url, to):
    print(f"  FETCH {url}", file=sys.stderr, flush=True)
    part = to.with_name(f"{to.name}.{os.getpid()}.tmp")
    try:
        with urllib.request.urlopen(url, timeout=60) as answer, open(part, "wb") as file:
            shutil.copyfileobj(answer, file)
        os.replace(part, to)
    finally:
        part.unlink(missing_ok=True)


def fetch(pin):
    """The path of a pinned file."""
    mirrors, where, wanted, _ = pin
    path = CACHE / where.rsplit("/", 1)[-1]
    if path.is_file() and _digest(path) == wanted:
        return path
    CACHE.mkdir(parents=True, exist_ok=True)
    reasons, kind = [], Unreachable
    for mirror in mirrors:
        try:
            _download(mirror + where, path)
        except (OSError, urllib.error.URLError) as why:
            reasons.append(f"{mirror}{where}: {why}")
            continue
        found = _digest(path)
        if found == wanted:
            return path
        path.unlink()
        reasons.append(f"{mirror}{where}: SHA-256 is {found}, not {wanted}")
        kind = FetchError
    raise kind("\n".join(reasons))


def unpacked(pin, into):
    """The folder of a pinned archive below `into`, unpacked once."""
    folder = Path(into) / pin[3]
    if folder.is_dir():
        return folder
    path = fetch(pin)
    scratch = Path(into) / f"{pin[3]}.{os.getpid()}.tmp"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            wheel.extractall(scratch)
    else:
        with tarfile.open(path) as archive:
            archive.extractall(scratch)
    move_into_place(scratch / pin[3], folder)
    shutil.rmtree(scratch)
    return folder


def move_into_place(scratch, folder):
    """A folder gets its name when it is complete; another build may have been faster."""
    try:
        scratch.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise
        shutil.rmtree(scratch)


def _program(pins, name):
    """A program of this machine, from its package: an executable file."""
    machine = os.uname().machine
    if machine not in pins:
        raise FetchError(f"{name} is pinned for {' and '.join(pins)}, not for {machine}")
    program = unpacked(pins[machine], CACHE / f"{name}-{pins[machine][2][:12]}") / name
    program.chmod(0o755)
    return program


def zig():
    """The compiler."""
    return _program(ZIG, "zig")


def zizmor():
    """The linter of workflows."""
    return _program(ZIZMOR, "zizmor")
