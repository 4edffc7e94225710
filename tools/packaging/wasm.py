"""tacho in WebAssembly: the static site, the one file and the package for node, from one program."""
import shutil

import archives
import fetch
import libraries
import portable
from commands import run
from portable import ROOT, backend

WORK = ROOT / "build/portable/wasm32"
# zlib inflates; what the C library of WASI lacks, its emulations and src/wasm have.
LINKED = "-lz -lzstd -lxxhash -lsqlite3 -lm " + " ".join(
    f"-lwasi-emulated-{name}" for name in ("mman", "signal", "process-clocks", "getpid"))
STACK_BYTES = 4 << 20  # what deep traces and SQL need
OUT = "build/wasm"


def program():
    """The path of the module."""
    with portable.alone(WORK):
        tools = libraries.Toolchain("wasm32", WORK / "tools")
        portable.link_libraries(tools, WORK)
        folder = "build/portable/wasm32/obj"
        portable.make(tools, folder, ["tacho.wasm"],
                      ["VARIANT=wasm", "MACHINE=wasm32-wasi", "HAVE_ISAL=", f"CFLAGS={portable.QUIET}",
                       f"LDFLAGS=-L{WORK}/root/lib -s -Wl,-z,stack-size={STACK_BYTES} -Wl,--export=__wasm_call_ctors",
                       f"LIBS={LINKED}"])
        return WORK / "obj/tacho.wasm"


def _licenses():
    """What must travel with the libraries, and with the C library, which is inside, too. SQLite asks for nothing."""
    inside = fetch.zig().parent / "lib/libc"
    own = [("wasi-libc", inside / "wasi/LICENSE-MIT"), ("musl", inside / "musl/COPYRIGHT")]
    texts = [f"{name}\n{'-' * len(name)}\n\n{path.read_text(encoding='utf-8').strip()}\n" for name, path in own]
    known = [name for name in libraries.IN_WASM if name in libraries.LICENSES]
    return "\n\n".join(["The program contains these libraries.\n", libraries.licenses(known), *texts])


def build(folder=ROOT / OUT):
    """The site, the file and the package as folders; tests use them as they are."""
    if not shutil.which("node"):
        raise RuntimeError("node is missing: tools/setup web installs it")
    module = program()
    texts = WORK / "licenses.txt"
    texts.write_text(_licenses(), encoding="utf-8")
    run("making the site", ["node", "web/site.mjs", module, backend.package_version(), texts, folder], shown=True, cwd=ROOT)
    return folder


def _files(folder, top):
    return [archives.file_entry(f"{top}/{p.relative_to(folder)}", p, 0o755 if p.suffix == ".mjs" else 0o644)
            for p in sorted(folder.rglob("*")) if p.is_file()]


def package(to):
    """What is given away: tacho-VERSION.html, tacho-VERSION-site.tar.gz and tacho-VERSION-npm.tgz."""
    made = build()
    version = backend.package_version()
    single = to / f"tacho-{version}.html"
    shutil.copyfile(made / "tacho.html", single)
    yield single
    for name, ending, top in (("site", "site.tar.gz", f"tacho-{version}-site"), ("npm", "npm.tgz", "package")):
        path = to / f"tacho-{version}-{ending}"
        path.write_bytes(archives.packed(archives.tar(_files(made / name, top), portable.epoch())))
        yield path
