"""What a package contains, as its archive has it: names, permissions, owners, links, interpreters, and where it was built.

The members are read from the archive, because unpacking changes permissions and owners.
"""
import io
import os
import posixpath
import re
import stat
import subprocess
import tarfile
import tempfile
import zipfile
from pathlib import Path

INTERPRETERS = {"/bin/sh", "/bin/bash", "/usr/bin/python3", "/usr/bin/env python3", "/usr/bin/env bash", "python"}


class Member:
    """One file, folder or link: its name, the bits of its mode, who owns it, where it points to, its bytes."""

    def __init__(self, name, mode, *, owner=(0, 0), link=None, data=b""):
        self.name, self.mode, self.owner, self.link, self.data = name, mode, owner, link, data


def read_wheel(path):
    with zipfile.ZipFile(path) as wheel:
        for info in wheel.infolist():
            mode = info.external_attr >> 16
            link = wheel.read(info).decode() if stat.S_ISLNK(mode) else None
            yield Member(info.filename, mode or stat.S_IFREG, link=link, data=wheel.read(info))


def _read_tar(archive):
    kinds = {tarfile.REGTYPE: stat.S_IFREG, tarfile.DIRTYPE: stat.S_IFDIR, tarfile.SYMTYPE: stat.S_IFLNK}
    for info in archive:
        data = archive.extractfile(info).read() if info.isreg() else b""
        yield Member(info.name, kinds.get(info.type, stat.S_IFCHR) | info.mode, owner=(info.uid, info.gid),
                     link=info.linkname if info.issym() else None, data=data)


def read_tarball(path):
    with tarfile.open(path) as archive:
        yield from _read_tar(archive)


def read_deb(path):
    files = subprocess.run(["dpkg-deb", "--fsys-tarfile", path], capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(files)) as archive:
        yield from _read_tar(archive)


def _faults_of_name(m):
    inside = posixpath.normpath(posixpath.join(posixpath.dirname(m.name), m.link or ""))
    if m.name.startswith("/") or ".." in m.name.split("/") or re.search(r"[\\\x00-\x1f]", m.name):
        yield "its name leads out of the folder it is unpacked in"
    if m.link is not None and (m.link.startswith("/") or inside.startswith("../")):
        yield f"it links to {m.link}"


def _faults_of_mode(m):
    if not (stat.S_ISREG(m.mode) or stat.S_ISDIR(m.mode) or stat.S_ISLNK(m.mode)):
        yield "it is neither a file nor a folder nor a link"
    bits = stat.S_IMODE(m.mode)
    if not stat.S_ISLNK(m.mode) and bits not in ((0o755,) if stat.S_ISDIR(m.mode) else (0o644, 0o755)):
        yield f"its permissions are {bits:o}"
    if m.owner != (0, 0):
        yield f"its owner is {m.owner}"


def _run_path(data):
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        told = subprocess.run(["readelf", "-W", "-d", file.name], capture_output=True, text=True, check=True).stdout
    found = re.search(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", told)
    return found.group(1).split(":") if found else []


def _faults_of_bytes(m, builders):
    is_executable = bool(stat.S_IMODE(m.mode) & 0o111)
    if m.data[:4] == b"\x7fELF":
        # Only these two need libtacho.so; they look for it in their own folder, wherever the package is unpacked.
        is_beside = posixpath.basename(m.name) in ("tacho-demo", "_tacho.abi3.so")
        yield from (f"it looks for libraries in {place or 'the current folder'}" for place in _run_path(m.data)
                    if not is_beside or not re.fullmatch(r"\$ORIGIN(/.+)?", place))
    elif stat.S_ISREG(m.mode) and m.data[:2] == b"#!":
        interpreter = m.data[2:].split(b"\n")[0].decode(errors="replace").strip()
        if interpreter not in INTERPRETERS:
            yield f"its interpreter is {interpreter}"
    elif stat.S_ISREG(m.mode) and is_executable:
        yield "it is executable, but neither a program nor a script"
    for place in builders:
        if re.search(rb"(?<![\w/.-])" + re.escape(place.encode()), m.data):  # not the end of another path
            yield f"it names a folder of the machine that built it: {place}"


def builder_folders(*more):
    """Folders of this machine that no package may name."""
    here = [Path(__file__).resolve().parent.parent.parent, *more]
    home = os.path.expanduser("~")
    return sorted({str(p) + "/" for p in here} | ({home + "/"} if len(home) > 1 else set()))


def faults(members, builders):
    """What is wrong with a package, a sentence for each member and fault."""
    seen = set()
    for m in members:
        wrong = [*_faults_of_name(m), *_faults_of_mode(m), *_faults_of_bytes(m, builders)]
        if m.name in seen:
            wrong.append("it is there twice")
        seen.add(m.name)
        yield from (f"{m.name}: {what}" for what in wrong)
    if not seen:
        yield "the package is empty"
