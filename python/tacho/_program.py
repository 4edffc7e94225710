"""Asking the program tacho: its JSON, its exports; and being it, for the script `tacho`."""
import json
import os
import subprocess
import sys
from typing import Any, List, Sequence

from . import _library


class TachoError(Exception):
    """The program could not do what was asked; its own words."""


def run(words: Sequence[str]) -> str:
    env = {k: v for k, v in os.environ.items()
           if k not in ("LD_PRELOAD", "TACHO_RECORD", "TACHO_LISTEN")}  # not a program to be recorded
    done = subprocess.run([_library.program(), *map(str, words)], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, check=False)
    if done.returncode != 0:
        raise TachoError(done.stderr.decode(errors="replace").strip() or f"status {done.returncode}")
    return done.stdout.decode("utf-8", "replace")


def ask(words: Sequence[str]) -> Any:
    return json.loads(run([*words, "--json"]))


def export(trace: str, form: str, to: str) -> str:
    run(["export", trace, "--to", form, "-o", to])
    return to


def main(arguments: List[str] = sys.argv) -> None:
    program = _library.program()
    os.execv(program, [program, *arguments[1:]])
