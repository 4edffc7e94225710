"""Runs the commands of a build. One that fails ends with its cause, not with its command line."""
import re
import subprocess
import sys

# What compilers, linkers, make and configure write where something went wrong, and where it is called from.
CAUSE = re.compile(r"error:|undefined (symbol|reference)|^>>> |No rule to make|[Cc]ommand not found|: not found")
MOST_LINES = 8


def cause(text):
    """The lines of an output that say what went wrong: the last ones where none is known to."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    found = [line for line in lines if CAUSE.search(line)]
    return "\n".join(f"    {line}" for line in (found[:MOST_LINES] or lines[-MOST_LINES:]))


def run(what, words, shown=False, **more):
    """Runs a command; `shown` passes on what it writes while it runs. RuntimeError says that `what` failed."""
    lines = []
    with subprocess.Popen([str(w) for w in words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", **more) as process:
        for line in process.stdout:
            lines.append(line)
            if shown:
                sys.stdout.write(line)
                sys.stdout.flush()
    if process.returncode:
        raise RuntimeError(f"{what} failed (status {process.returncode}):\n{cause(''.join(lines))}")
