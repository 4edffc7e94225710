"""JAX: programs recorded by tacho (jax_record.py); one profiled by JAX itself and opened; the code that advice gives
runs."""
import gc
import os
import subprocess
import sys
import tempfile

import jax
import jax.numpy as jnp
import jax_record
import snippets
from checks import Checks, kinds

import tacho

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../truth/record_jax.py")


def profile_of_jax(c, folder):
    log = os.path.join(folder, "log")
    subprocess.run([sys.executable, PROGRAM, log], check=True, timeout=300)
    trace = tacho.load(log)
    c.equal("steps", list(trace.steps().step), [0, 1, 2])
    rows = {r["module"]: r["parent"] for r in trace.modules()}
    c.equal("scopes", [rows.get(n, "") for n in ("jit(train_step)", "mlp", "hidden", "head", "cell")],
            [None, "jit(train_step)", "mlp", "mlp", "jit(rollout)"])
    ops = {r["name"]: r["calls"] for r in trace.operators()}
    c.true("products of matrices", ops.get("dot_general", 0) >= 3 * (5 + 8 + 2), ops.get("dot_general"))
    c.equal("sums over the devices", ops.get("psum"), 6)
    c.equal("ranges of the user", kinds(trace)["annotation"], 6)
    c.equal("damage", trace.info().quality["events_dropped"], [])


def names():
    """What the surrounding program would have."""
    state, batch = {"w": jnp.ones(3)}, jnp.ones(3)

    def train_step(state, batch):
        return {"w": state["w"] - batch}, batch.sum()

    return {"jax": jax, "jnp": jnp, "train_step": train_step, "state": state, "batch": batch,
            "batches": iter([batch, batch]), "loader": [batch], "gc": gc, "params": state,
            "loss": jnp.ones(()), "step": 100, "block": jnp.sin, "vocab_size": 50257, "write": lambda step: None, "helper": lambda: None}


def code_of_advice_runs(c, folder):
    seen = 0
    os.chdir(folder)
    for rule, code in snippets.of("FOR_JAX"):
        try:
            exec(compile(code, rule, "exec"), names())
            seen += 1
        except Exception as problem:
            c.true(f"code of {rule}", False, f"{type(problem).__name__}: {problem}")
        gc.enable()
        if "start_trace" in code:
            jax.profiler.stop_trace()
    c.true("code of advice that ran", seen >= 19, seen)


if __name__ == "__main__":
    checks = Checks()
    print(f"jax {jax.__version__}")
    with tempfile.TemporaryDirectory() as place:
        jax_record.run(checks, place)
        checks.run(profile_of_jax, place)
        checks.run(code_of_advice_runs, place)
    checks.finish()
