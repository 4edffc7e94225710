"""`tacho record`, tacho.profile and tacho attach with real programs in JAX: what is recorded, and whether what tacho
says of it is true."""
import os
import subprocess
import sys

import jax
import jax.numpy as jnp

import tacho
from tacho import _library
from tacho.hooks import xla_profile

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "jax_program.py")
HAS_RUNS = tuple(int(n) for n in jax.__version__.split(".")[:2]) >= (0, 7)  # XLA numbers runs on the CPU


def record(folder, *words, options=()):
    """Status, output, errors, trace."""
    done = subprocess.run([_library.program(), "record", "-o", folder, *options, "--", sys.executable, PROGRAM, *words],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=300, check=False)
    return done.returncode, done.stdout, done.stderr, tacho.load(folder)


def alone(*words):
    return subprocess.run([sys.executable, PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True, timeout=300, check=False)


def launching_line():
    with open(PROGRAM, encoding="utf-8") as file:
        return next(i for i, line in enumerate(file, 1) if "# the line that launches" in line)


def notes(trace):
    return " ".join(trace.info().quality["notes"])


def names(trace, kind):
    rows = trace.columns("slice")
    return {rows.name[i] for i in range(len(rows.name)) if rows.kind[i] == kind}


def detail(trace, what):
    return [r["name"] for r in trace.idle()["details"] if r["what"] == what]


def a_program_is_recorded_without_a_change(c, folder):
    status, out, _, trace = record(os.path.join(folder, "plain"), "plain", "20")
    c.equal("exit status", status, 0)
    c.equal("its output", out.splitlines()[0], alone("plain", "20").stdout.strip())
    c.equal("steps", list(trace.steps().step), list(range(20)))
    c.equal("files", [n for n in os.listdir(os.path.join(folder, "plain")) if not n.endswith(".tacho")], [])
    lines = {n.rsplit("/", 1)[-1] for n in names(trace, "python")}
    c.true("line of the launch", f"jax_program.py({launching_line()}): take_step" in lines, lines)
    compiled = {n for n in names(trace, "annotation") if n.startswith("jax.compile(")}
    c.true("compilations by name", "jax.compile(train_step)" in compiled, compiled)
    c.true("waits", "jax.block_until_ready" in names(trace, "runtime"))
    c.equal("damage", trace.info().quality["events_dropped"], [])
    if HAS_RUNS:
        c.equal("device", [r["name"] for r in trace.info()["devices"]], ["CPU"])
        kernels = trace.kernels()
        products = sum(r["calls"] for r in kernels if r["op"] == "dot_general")
        c.equal("products of matrices, in each step five", products, 20 * 5)
        links = trace.ask("kernels").quality["links"]
        c.true("links", links and all(r["linked"] == r["total"] for r in links), links)
    modules = {r["module"]: r["parent"] for r in trace.modules()}
    c.true("XLA's module and its scopes", modules.get("layer") == "jit(train_step)", modules)


def planted_causes_are_found(c, folder):
    for case in ("sleep", "input"):
        trace = record(os.path.join(folder, case), case, "20")[3]
        verdict = trace.overview().verdict
        c.true(f"{case}: the device is idle", verdict["values"].get("idle_share", 0) > 0.5, verdict["text"]["en"])
        c.true(f"{case}: the host is away", verdict["id"] in ("gpu_idle_unknown", "gpu_idle_host"), verdict["id"])
        steps = [r["total"] for r in trace.steps()][3:]
        c.true(f"{case}: length of a step", all(20e6 <= ns < 200e6 for ns in steps), steps)
    trace = record(os.path.join(folder, "float"), "float", "20")[3]
    c.true("float: the host waits in it", "np.asarray(jax.Array)" in detail(trace, "sync"), detail(trace, "sync"))
    trace = record(os.path.join(folder, "shapes"), "shapes", "12")[3]
    c.equal("shapes: compilation", trace.idle().verdict["id"], "idle_compiler")
    c.equal("shapes: of what", trace.idle().verdict["values"].get("name"), "jax.compile(train_step)")


def other_programs_are_recorded_too(c, folder):
    trace = record(os.path.join(folder, "marked"), "marked", "8")[3]
    c.equal("marked: the program's steps", len(trace.steps()), 8)
    trace = record(os.path.join(folder, "devices"), "devices", "12")[3]
    c.equal("devices", len(trace.info()["devices"]), 4 if HAS_RUNS else 0)
    c.equal("devices: steps", len(trace.steps()), 12)
    trace = record(os.path.join(folder, "ahead"), "ahead", "12")[3]
    c.equal("compiled ahead of time: steps", len(trace.steps()), 12)
    status, out, _, _ = record(os.path.join(folder, "exit"), "exit", "5")
    c.equal("exit status of the program", (status, out.splitlines()[0][:4]), (7, "loss"))
    status, _, errors, _ = record(os.path.join(folder, "raise"), "raise", "5")
    c.true("its exception", status == 1 and "ValueError: planted" in errors, (status, errors[-300:]))
    status, out, _, _ = record(os.path.join(folder, "none"), "none")
    c.equal("no device", (status, out.splitlines()[0]), (0, "no device"))


def the_programs_own_profiler_wins(c, folder):
    for case, kept in (("profiler", 12), ("later", 10)):
        log = os.path.join(folder, case + "_log")
        status, _, _, trace = record(os.path.join(folder, case), case, "12", log)
        c.equal(f"{case}: exit status", status, 0)
        c.true(f"{case}: said", "jax.profiler itself" in notes(trace), notes(trace))
        c.equal(f"{case}: steps until then", len(trace.steps()), kept)
        theirs = tacho.load(log)
        c.true(f"{case}: the program's profile", kinds_of(theirs).get("framework", 0) > 0)


def kinds_of(trace):
    return {r["kind"]: r["count"] for r in trace.info()["events"]}


def the_window_is_bounded_and_can_be_chosen(c, folder):
    status, out, _, trace = record(os.path.join(folder, "long"), "sleep", "120")
    c.true("long: it ran to its end", status == 0 and out.startswith("loss"), out.splitlines()[:1])
    c.true("long: steps", 50 <= len(trace.steps()) < 120, len(trace.steps()))
    c.true("long: said", "--steps A..B" in notes(trace), notes(trace))
    trace = record(os.path.join(folder, "steps"), "plain", "20", options=("--steps", "5..8"))[3]
    c.equal("--steps", list(trace.steps().step), [5, 6, 7, 8])
    if HAS_RUNS:
        c.true("--steps: device work", len(trace.kernels()) > 0)
    trace = record(os.path.join(folder, "flight"), "sleep", "20", options=("--flight", "30s"))[3]
    c.equal("--flight: steps, without XLA's profiler", len(trace.steps()), 20)
    c.true("--flight: calls", "train_step" in names(trace, "annotation"))


def a_profiler_in_the_program(c, folder):
    @jax.jit
    def train_step(w, x):
        return w - 0.01 * jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)

    kind, w, x = type(train_step), jnp.ones((64, 64)), jnp.ones((32, 64))
    with tacho.profile(path=folder, schedule=tacho.schedule(wait=1, warmup=1, active=3, repeat=2)) as profiler:
        for _ in range(12):
            w = train_step(w, x)
            profiler.step()
    c.equal("spans", len(profiler.spans), 2)
    for path, wanted in zip(profiler.spans, ([2, 3, 4], [7, 8, 9])):
        trace = tacho.load(path)
        c.equal("steps of a span", list(trace.steps().step), wanted)
        if HAS_RUNS:
            c.equal("products of a span", {r["op"]: r["calls"] for r in trace.kernels()}.get("dot_general"), 3)
    c.equal("one file each", sorted(os.listdir(folder)), sorted(os.path.basename(p) for p in profiler.spans))
    c.true("functions are as they were", type(train_step) is kind and train_step.lower(w, x) is not None)
    c.true("and so is jax.profiler", isinstance(xla_profile.library().ProfilerSession, type))


def a_running_program(c, folder):
    env = {**os.environ, "LD_PRELOAD": _library.path(), "TACHO_LISTEN": "1"}
    program = subprocess.Popen([sys.executable, "-u", PROGRAM, "endless", "1000000"], env=env, stdout=subprocess.PIPE)
    try:
        program.stdout.readline()  # its steps have begun
        for i in range(2):
            to = os.path.join(folder, str(i))
            done = subprocess.run([_library.program(), "attach", str(program.pid), "--for", "2s", "-o", to],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, timeout=60,
                                  check=False)
            trace = tacho.load(to)
            c.true("attach: steps", done.returncode == 0 and len(trace.steps()) > 20, done.stdout[-400:])
            if HAS_RUNS:
                c.true("attach: device work", len(trace.kernels()) > 0)
            c.equal("attach: files", len(os.listdir(to)), 1)
    finally:
        program.kill()
        program.wait()


def run(checks, folder):
    for test in (a_program_is_recorded_without_a_change, planted_causes_are_found, other_programs_are_recorded_too,
                 the_programs_own_profiler_wins, the_window_is_bounded_and_can_be_chosen, a_profiler_in_the_program,
                 a_running_program):
        place = os.path.join(folder, test.__name__)
        os.mkdir(place)
        checks.run(test, place)
