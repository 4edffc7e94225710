"""Finds libtacho.so and the program tacho: next to this file in an installed package, else where
TACHO_LIBRARY and TACHO point, else in the build folder of the source tree, else on the path."""
import os
import shutil
from pathlib import Path
from typing import Iterator

HERE = Path(__file__).resolve().parent
TREE = HERE.parent.parent


def _candidates(variable: str, name: str) -> Iterator[Path]:
    yield HERE / "native" / name
    if os.environ.get(variable):
        yield Path(os.environ[variable])
    yield TREE / "build" / name
    yield TREE / "build" / "debug" / name


def path() -> str:
    """Path of libtacho.so; if it is not found, the system searches for it."""
    for candidate in _candidates("TACHO_LIBRARY", "libtacho.so"):
        if candidate.is_file():
            return str(candidate)
    return "libtacho.so"


def program() -> str:
    for candidate in _candidates("TACHO", "tacho"):
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return str(candidate)
    found = shutil.which("tacho")
    if not found:
        raise FileNotFoundError("the program tacho was not found: set TACHO to its path")
    return found
