"""Runs the program tacho for its JSON, text, columns and exports; and becomes it, for `python -m tacho`."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from typing import IO, Any, Callable, Dict, Sequence, TypeVar

from . import _library

Made = TypeVar("Made")


class TachoError(Exception):
    """The program failed; the text is its own message."""


class TraceNotFoundError(TachoError, FileNotFoundError):
    """There is nothing at this path."""


class QuestionError(TachoError, ValueError):
    """Unknown option, or unknown value of an option."""


def _environment(**more: str) -> Dict[str, str]:
    unwanted = ("LD_PRELOAD", "TACHO_RECORD", "TACHO_LISTEN")  # not a program to be recorded
    return {**{k: v for k, v in os.environ.items() if k not in unwanted}, **more}


def _message(words: bytes) -> str:
    """The last thing that the program said, without its name: notes come before the failure."""
    said = re.split(r"^tacho(?:: |：)", words.decode(errors="replace"), flags=re.M)
    return said[-1].strip()


def _check(status: int, words: bytes) -> None:
    if status not in (0, 4):  # 4: check found a regression, which is an answer
        kind = QuestionError if status == 1 else TachoError
        raise kind(_message(words) or f"status {status}")


def run(words: Sequence[Any], **environment: str) -> str:
    done = subprocess.run([_library.program(), *map(str, words)], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=_environment(**environment),
                          check=False)
    _check(done.returncode, done.stderr)
    return done.stdout.decode("utf-8", "replace")


def ask(words: Sequence[Any]) -> Any:
    return json.loads(run([*words, "--json"]))


def as_wide(words: Sequence[Any]) -> str:
    """Text that fits the terminal of this program, or a notebook."""
    return run(words, COLUMNS=str(shutil.get_terminal_size((120, 40)).columns))


def text(words: Sequence[Any]) -> str:
    return as_wide([*words, "--format", "text"])


def columns(words: Sequence[Any], read: Callable[[IO[bytes]], Made]) -> Made:
    """What `read` makes of the binary columns, while they are written."""
    line = [_library.program(), *map(str, words), "--format", "columns"]
    with tempfile.TemporaryFile() as errors, \
            subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors,
                             env=_environment()) as program:
        assert program.stdout is not None
        try:
            made = read(program.stdout)
        except (EOFError, ValueError) as why:  # the program says better why there is nothing more
            program.stdout.close()
            status = program.wait()
            errors.seek(0)
            _check(status, errors.read())
            raise TachoError(str(why)) from why
        status = program.wait()
        errors.seek(0)
        _check(status, errors.read())
    return made


def export(trace: str, form: str, to: str) -> str:
    run(["export", trace, "--to", form, "-o", to])
    return to


def language() -> str:
    """The language the program would use: en or zh."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(name)
        if value:
            return "zh" if value[:2] == "zh" and value[2:3] in ("", "_", ".") else "en"
    return "en"


def main(without: Sequence[str] = ()) -> None:
    """Replaces this process with the program tacho. `without`: variables that importing this package has set."""
    program = _library.program()
    for name in ("SIGPIPE", "SIGXFSZ"):  # Python ignores them, and the program would inherit that
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    environment = {k: v for k, v in os.environ.items() if k not in without}
    os.execve(program, [program, *sys.argv[1:]], environment)
