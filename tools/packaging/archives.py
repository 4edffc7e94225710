"""Archives whose bytes depend on their content alone: tar, gzip and Debian's format.

A file to be packed is an Entry: its name in the archive, its bytes or where a link leads, its mode.
Names are sorted, owners are root, times are given, and folders are written before what is in them.
"""
import gzip
import io
import tarfile
from collections import namedtuple
from pathlib import PurePosixPath

Entry = namedtuple("Entry", "name content mode link", defaults=(b"", 0o644, None))


def file_entry(name, path, mode=0o644):
    return Entry(name, path.read_bytes(), mode)


def _folders(entries):
    found = {str(p) for e in entries for p in PurePosixPath(e.name).parents}
    return sorted(found - {".", "/"})


def _add(archive, name, kind, mode, epoch, content=b"", link=""):
    info = tarfile.TarInfo(name)
    info.type, info.mode, info.mtime, info.size, info.linkname = kind, mode, epoch, len(content), link
    info.uname = info.gname = "root"
    archive.addfile(info, io.BytesIO(content))


def tar(entries, epoch, top=""):
    """The bytes of a tar archive, every name below `top`."""
    out = io.BytesIO()
    everything = [(f, None) for f in _folders(entries)] + [(e.name, e) for e in entries]
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
        if top:
            _add(archive, top.rstrip("/"), tarfile.DIRTYPE, 0o755, epoch)
        for name, entry in sorted(everything, key=lambda pair: pair[0].split("/")):
            if entry is None:
                _add(archive, top + name, tarfile.DIRTYPE, 0o755, epoch)
            elif entry.link is not None:
                _add(archive, top + name, tarfile.SYMTYPE, 0o777, epoch, link=entry.link)
            else:
                _add(archive, top + name, tarfile.REGTYPE, entry.mode, epoch, entry.content)
    return out.getvalue()


def packed(content):
    return gzip.compress(content, 9, mtime=0)


def ar(members, epoch):
    """The bytes of an ar archive: (name, bytes) in this order."""
    parts = [b"!<arch>\n"]
    for name, content in members:
        head = f"{name:<16}{epoch:<12}{0:<6}{0:<6}{'100644':<8}{len(content):<10}`\n"
        parts += [head.encode(), content, b"\n" if len(content) % 2 else b""]
    return b"".join(parts)
