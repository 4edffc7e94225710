"""Where libtacho.so and the program tacho are: next to this file in an installed package, otherwise where
TACHO_LIBRARY and TACHO point, then in the build folder of the source tree, then in lib/ and bin/ of the
prefix this was installed below, then on the path."""
import os
import shutil
from pathlib import Path
from typing import Iterator

HERE = Path(__file__).resolve().parent
TREE = HERE.parent.parent
PREFIX = TREE.parent.parent  # of share/tacho/python/tacho and lib/tacho/python/tacho


def _candidates(variable: str, name: str, folder: str) -> Iterator[Path]:
    yield HERE / "native" / name
    if os.environ.get(variable):
        yield Path(os.environ[variable])
    yield TREE / "build" / name
    yield TREE / "build" / "debug" / name
    yield PREFIX / folder / name


def path() -> str:
    """libtacho.so; what is not found is left to the system's search."""
    for candidate in _candidates("TACHO_LIBRARY", "libtacho.so", "lib"):
        if candidate.is_file():
            return str(candidate)
    return "libtacho.so"


def program() -> str:
    for candidate in _candidates("TACHO", "tacho", "bin"):
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return str(candidate)
    found = shutil.which("tacho")
    if not found:
        raise FileNotFoundError("the program tacho was not found: set TACHO to its path")
    return found
