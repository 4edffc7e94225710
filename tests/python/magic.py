"""What must hold in a notebook, with IPython: magic.py [NAME…]

Cells run in a shell of IPython as a kernel runs them; what they display is kept. Run by tests/python/run where IPython
can be installed.
"""
import os
import re
import sys

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

import tacho
from cases import equal, main
from reading import Checker, examples

shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "tacho")
COLORS = "\x1b\\[[0-9;]*m"
LOOP = """
import time, tacho
for _ in range(3):
    with tacho.record_function("work"):
        time.sleep(.002)
"""


def cell(folder, text):
    """(the result, what was displayed as HTML, what was printed)"""
    before = os.getcwd()
    os.chdir(folder)
    try:
        with capture_output() as seen:
            result = shell.run_cell(text)
        return result, [o.data.get("text/html", "") for o in seen.outputs], seen.stdout + seen.stderr
    finally:
        os.chdir(before)


def a_cell_is_recorded_and_shown(folder):
    result, shown, _ = cell(folder, f"%%tacho\n{LOOP}total = 6\ntotal * 7")
    equal((result.success, result.result, shell.user_ns["total"]), (True, 42, 6))
    page = Checker(shown[0])
    text = " ".join(page.texts)
    for words in ("Took ", "No device work was recorded", "Ranges of the program", "work", "Recorded: 3 ranges", "save the trace",
                  "tacho serve tacho_runs/"):
        equal(words in text, True, f"{words}: {text}")
    files = list((folder / "tacho_runs").iterdir())
    equal(len(files), 1)
    equal(f'href="tacho_runs/{files[0].name}" download' in shown[0], True)


def options_are_those_of_tacho_record(folder):
    result, shown, _ = cell(folder, "%%tacho -o 'runs/my run' --stack --shapes --memory --flops -r\ndef f():\n    return 5\n"
                                    "[f() for _ in range(9)]")
    equal((type(result.result), shown), (tacho.Trace, []))
    equal(os.listdir(folder / "runs/my run"), [os.path.basename(result.result.path)])
    os.chdir(folder)
    try:
        equal("Python functions that take longest" in result.result._repr_html_(), True)
        names = result.result.query("select distinct name from slice where kind = 'python'")["name"]
    finally:
        os.chdir("/")
    equal(any(name.endswith(": f") for name in names), True, names)


def a_statement_is_recorded_too(folder):
    result, shown, _ = cell(folder, "x = %tacho sum(range(10)) + len('a b  \"c\"')\nx")
    equal((result.result, len(shown)), (53, 1))
    equal("Nothing was recorded: no supported framework ran" in shown[0], True)


def a_cell_that_ends_with_a_semicolon_shows_no_value(folder):
    result, shown, _ = cell(folder, "%%tacho\n3 + 4;")
    equal((result.result, len(shown)), (None, 1))


def magics_and_shell_commands_work_inside(folder):
    result, _, printed = cell(folder, "%%tacho\n%env TACHO_TEST=5\n!echo from the shell\n1")
    equal((result.result, "from the shell" in printed), (1, True))


def an_exception_is_shown_once_after_what_was_recorded(folder):
    result, shown, printed = cell(folder, f"%%tacho\n{LOOP}1 / 0")
    equal((result.success, type(result.error_in_exec), len(shown)), (False, ZeroDivisionError, 1))
    equal(re.sub(COLORS, "", printed).count("ZeroDivisionError: division by zero"), 1)
    equal(tacho.is_recording(), False)


def wrong_options_are_refused(folder):
    for line, words in (("%%tacho --bogus\n1", "unknown option --bogus"), ("%%tacho -o\n1", "-o needs a value"),
                        ("%%tacho train()\n1", "takes only options"), ("%tacho", "%tacho STATEMENT"),
                        ("%tacho --memory", "%tacho STATEMENT")):
        result, shown, printed = cell(folder, line)
        equal((result.success, shown, words in printed), (False, [], True), printed)
    equal(os.listdir(folder), [])


def inside_another_recording_it_says_so(folder):
    with tacho.profile(str(folder / "outer")):
        result, shown, printed = cell(folder, "%%tacho\n5")
    equal((result.result, shown, "Another recording is already running" in printed), (5, [], True), printed)


def results_of_cells_are_shown(folder):
    cell(folder, f"prof = tacho.profile('runs')\nwith prof:\n{''.join('    ' + l for l in LOOP.splitlines(True))}")
    os.chdir(folder / "runs")  # as a notebook may
    try:
        formats = shell.display_formatter.format(shell.user_ns["prof"])[0]
        trace = shell.display_formatter.format(shell.user_ns["prof"].trace())[0]
        table = shell.display_formatter.format(shell.user_ns["prof"].key_averages())[0]
        slices = shell.display_formatter.format(shell.user_ns["prof"].trace().slices)[0]
        said = re.sub(COLORS, "", shell.object_inspect_text("tacho.profile"))
    finally:
        os.chdir("/")
    equal(formats["text/html"], trace["text/html"])
    equal("No device work was recorded" in trace["text/plain"], True)
    for one in (formats, table, slices):
        Checker(one["text/html"])
    equal("record_shapes: bool = False" in said, True, said)


def cells_of_the_docs_run(folder):
    for page in ("docs/PYTHON.md", "docs/PYTHON.zh.md"):
        blocks = examples(page, "ipython")
        equal(len(blocks) > 2, True, page)
        for block in blocks:
            result, _, printed = cell(folder, block)
            equal(result.success, True, printed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], globals()))
