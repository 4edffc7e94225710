"""The code that advice gives to copy: every row of advice_code.def for a framework is run as it is.

    for rule, code in snippets.of("FOR_PYTORCH", workers=2, module="cpu"): …

A name in braces is replaced by the value given for it; rows with a name that has no value are left out.
"""
import ast
import re
from pathlib import Path

FILE = Path(__file__).resolve().parent.parent.parent / "src/analyse/advise/advice_code.def"
SHELL = ("export ", "tacho ", "msprof-analyze ", "printf ", "perf_analyzer ", "vllm ", "python3 ")  # how a row that is not Python begins
ROW = re.compile(r'^CODE\((\w+), (\w+), "(\w*)",\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\)', re.M)


def rows():
    """(rule, dialect, text) of each row."""
    text = FILE.read_text(encoding="utf-8").split("#endif", 1)[1]
    found = [(rule, dialect, "".join(ast.literal_eval(part) for part in re.findall(r'"(?:[^"\\]|\\.)*"', parts)))
             for rule, dialect, _, parts in ROW.findall(text)]
    if len(found) != len(re.findall(r"^CODE\(", text, re.M)):
        raise RuntimeError(f"{FILE}: a row cannot be read")
    return found


def of(dialect, **values):
    """(rule, code) of the rows for a framework that are Python."""
    return filled(lambda whom, text: whom in (dialect, "ANY_DIALECT") and not text.startswith(SHELL), values)


def commands(**values):
    """(rule, line) of the rows that are lines of a shell."""
    return filled(lambda _, text: text.startswith(SHELL), values)


def filled(wanted, values):
    for rule, whom, text in rows():
        names = re.findall(r"\{(\w+)\}", text)
        if not wanted(whom, text) or set(names) - set(values):
            continue
        for name in names:
            text = text.replace("{" + name + "}", str(values[name]))
        yield rule, text
