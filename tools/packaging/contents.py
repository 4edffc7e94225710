"""What is in each package: the wheel, the tarball, the source release, the Debian package."""
import email.utils
import hashlib
import io
import os
import re
import subprocess
import tarfile
import time

import archives
import libraries
import portable
from archives import Entry, file_entry
from portable import ROOT, backend

# A distributor of the package gives a name (make deb DEB_MAINTAINER='NAME <ADDRESS>'). There is no list to
# write to yet, and a name that ends in .invalid can never belong to anyone (RFC 2606).
MAINTAINER = f"{backend.AUTHOR} <noreply@tacho.invalid>"
DEBIAN_NAMES = {"x86_64": "amd64", "aarch64": "arm64"}
PYTHON = "lib/tacho/python"
# The folder of the file itself, wherever the tarball was unpacked.
PKGCONFIG = """prefix=${{pcfiledir}}/../..

Name: tacho
Description: Performance profiler for deep-learning programs
Version: {version}
Cflags: -I${{prefix}}/include
Libs: -L${{prefix}}/lib -ltacho
"""
CONTROL = """Package: tacho
Version: {version}
Architecture: {machine}
Maintainer: {maintainer}
Installed-Size: {kib}
Depends: libc6 (>= {glibc})
Recommends: libcurl4 | libcurl4t64 | libcurl3-gnutls | libcurl3t64-gnutls
Suggests: python3
Section: devel
Priority: optional
{home_page}Description: performance profiler for deep-learning programs
 tacho records what a training or inference program does on the host and on the
 GPU, reads the traces of PyTorch, PaddlePaddle, MegEngine and MindSpore, and
 says where the time and the memory went: as a page in the browser, in the
 terminal, and as JSON.
"""
# Python leaves compiled files next to ours when root runs it; they are removed with the
# package.
PRERM = """#!/bin/sh
set -e
find /usr/lib/tacho -name __pycache__ -prune -exec rm -rf {} +
"""
# The extension gets what it needs of the C library through libtacho.so. That is loaded by its name into the
# programs that are recorded; nothing else is linked with it, so it needs no version in its name.
OVERRIDES = """tacho: embedded-library
tacho: library-not-linked-against-libc
tacho: package-name-doesnt-match-sonames
tacho: shared-library-lacks-version
"""
DEBIAN_LOG = """tacho ({version}) unstable; urgency=medium

  * What users notice is in CHANGELOG.md.gz.

 -- {maintainer}  {date}
"""
COPYRIGHT = """Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: tacho

Files: *
Copyright: {year} {author}
License: Apache-2.0
 On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.
 .
 The program contains zlib, zstd, xxHash, ISA-L, libmicrohttpd and SQLite; their licenses
 are in /usr/share/doc/tacho/LIBRARIES.
"""


def wheel(machine, folder):
    files = portable.build(machine)
    more = [("{info}/licenses/LIBRARIES", libraries.licenses().encode())]
    tag = f"py3-none-manylinux_{libraries.GLIBC.replace('.', '_')}_{machine}"
    return folder / backend.write_wheel(folder, tag, [files[name] for name in sorted(files)], more)


def _prefix(machine):
    """What is below the prefix of an installed program."""
    files = portable.build(machine)
    entries = [file_entry("bin/tacho", files["tacho"], 0o755),
               file_entry("lib/libtacho.so", files["libtacho.so"]),
               file_entry("libexec/tacho/tacho-demo", files["tacho-demo"], 0o755),
               file_entry(f"{PYTHON}/tacho/native/{backend.EXTENSION}", files[backend.EXTENSION]),
               Entry("lib/pkgconfig/tacho.pc", PKGCONFIG.format(version=backend.package_version()).encode())]
    entries += [file_entry(f"include/tacho/{p.name}", p) for p in (ROOT / "include/tacho").glob("*.h")]
    entries += [file_entry(f"{PYTHON}/{p.relative_to(ROOT / 'python')}", p)
                for p in (ROOT / "python/tacho").rglob("*.py")]
    return entries + [Entry(name, content) for name, content in backend.shared_files()]


def tarball(machine, folder):
    name = f"tacho-{backend.package_version()}-linux-{machine}"
    entries = _prefix(machine)
    entries += [file_entry(p, ROOT / p) for p in ("LICENSE", "README.md", "README.zh.md", "CHANGELOG.md")]
    entries.append(Entry("LICENSE.libraries", libraries.licenses().encode()))
    path = folder / f"{name}.tar.gz"
    path.write_bytes(archives.packed(archives.tar(entries, portable.epoch(), f"{name}/")))
    return path


def source(folder):
    """The files of the last commit: what is not committed is not released. pip can build it."""
    name = f"tacho-{backend.package_version()}"
    asked = subprocess.run(["git", "archive", "--format=tar", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, check=False)
    if asked.returncode:
        raise RuntimeError(f"a source release is made in a git checkout: {asked.stderr.decode().strip()}")
    entries = []
    with tarfile.open(fileobj=io.BytesIO(asked.stdout)) as archive:
        for member in archive:
            if member.isfile():
                mode = 0o755 if member.mode & 0o100 else 0o644
                entries.append(Entry(member.name, archive.extractfile(member).read(), mode))
            elif member.issym():
                entries.append(Entry(member.name, link=member.linkname))
    entries.append(Entry("PKG-INFO", backend.metadata().encode()))
    path = folder / f"{name}.tar.gz"
    path.write_bytes(archives.packed(archives.tar(entries, portable.epoch(), f"{name}/")))
    return path


def _debian_documents(epoch):
    when = time.gmtime(epoch)
    log = DEBIAN_LOG.format(version=backend.package_version(), maintainer=_maintainer(),
                            date=email.utils.formatdate(epoch))
    texts = {"copyright": COPYRIGHT.format(year=when.tm_year, author=backend.AUTHOR).encode(), "LIBRARIES": libraries.licenses().encode(),
             "changelog.gz": archives.packed(log.encode()),
             "CHANGELOG.md.gz": archives.packed((ROOT / "CHANGELOG.md").read_bytes())}
    return [Entry(f"usr/share/doc/tacho/{name}", text) for name, text in texts.items()]


def _debian_files(machine, epoch):
    """As Debian wants it: /usr, man pages and change log packed."""
    entries = []
    for e in _prefix(machine):
        name, content = f"usr/{e.name}", e.content
        if name.startswith("usr/share/man/"):
            name, content = name + ".gz", archives.packed(content)
        elif name.startswith("usr/share/zsh/"):
            name = name.replace("site-functions", "vendor-completions")
        elif name.startswith("usr/lib/pkgconfig/"):  # of no machine in particular
            name = name.replace("usr/lib", "usr/share")
        entries.append(Entry(name, content, e.mode))
    return entries + [Entry("usr/lib/python3/dist-packages/tacho", link="../../tacho/python/tacho"),
                      Entry("usr/share/lintian/overrides/tacho", OVERRIDES.encode()), *_debian_documents(epoch)]


def _maintainer():
    maintainer = os.environ.get("DEB_MAINTAINER") or MAINTAINER
    if not re.fullmatch(r"[^<>\n]*[^<>\s] <[^<>@\s]+@[^<>@\s]+>", maintainer):
        raise RuntimeError(f"DEB_MAINTAINER must be 'NAME <ADDRESS>', not '{maintainer}'")
    return maintainer


def debian(machine, folder):
    version, name = backend.package_version(), DEBIAN_NAMES[machine]
    epoch = portable.epoch()
    files = _debian_files(machine, epoch)
    kib = sum((len(e.content) + 1023) // 1024 for e in files)
    home_page = f"Homepage: {backend.home_page()}\n" if backend.home_page() else ""
    control = CONTROL.format(version=version, machine=name, kib=kib, glibc=libraries.GLIBC, home_page=home_page,
                             maintainer=_maintainer())
    sums = "".join(f"{hashlib.md5(e.content).hexdigest()}  {e.name}\n"
                   for e in sorted(files) if e.link is None)
    about = [Entry("control", control.encode()), Entry("md5sums", sums.encode()),
             Entry("prerm", PRERM.encode(), 0o755), Entry("triggers", b"activate-noawait ldconfig\n")]
    path = folder / f"tacho_{version}_{name}.deb"
    members = [("debian-binary", b"2.0\n"),
               ("control.tar.gz", archives.packed(archives.tar(about, epoch, "./"))),
               ("data.tar.gz", archives.packed(archives.tar(files, epoch, "./")))]
    path.write_bytes(archives.ar(members, epoch))
    return path
