"""A small training program in JAX that knows nothing of tacho: jax_program.py CASE [STEPS]

Each case plants something that a recording must show: `plain`, `sleep` and `input` (the host is away), `float` (a
value is read in each step), `shapes` (each step compiles again), `marked` (StepTraceAnnotation), `devices` (four of
them), `ahead` (compiled ahead of time), `profiler` (uses jax.profiler itself, from the start), `later` (after ten
steps), `exit` (status 7), `raise`, `none` (no device is used), `endless`.
"""
import os
import sys
import time

CASE = sys.argv[1]
STEPS = int(sys.argv[2]) if len(sys.argv) > 2 else 20
if CASE == "devices":
    os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402

WIDTH, BATCH, AWAY_SECONDS = 64, 32, 0.02


def loss_of(params, x, y):
    for w, b in params:
        with jax.named_scope("layer"):
            x = jax.nn.relu(x @ w + b)
    return jnp.mean((x - y) ** 2)


@jax.jit
def train_step(params, x, y):
    loss, gradients = jax.value_and_grad(loss_of)(params, x, y)
    return jax.tree.map(lambda p, g: p - 0.01 * g, params, gradients), loss


def batches():
    rng = np.random.default_rng(0)
    for i in range(STEPS):
        if CASE == "input":
            time.sleep(AWAY_SECONDS)
        rows = BATCH + i if CASE == "shapes" else BATCH
        yield rng.standard_normal((rows, WIDTH), dtype=np.float32), np.ones((rows, WIDTH), np.float32)


def take_step(step, params, x, y):
    params, loss = step(params, x, y)  # the line that launches
    if CASE in ("sleep", "endless"):
        time.sleep(AWAY_SECONDS)
    if CASE == "float":
        float(loss)
    return params, loss


def train():
    keys = jax.random.split(jax.random.PRNGKey(0), 2)
    params = [(jax.random.normal(k, (WIDTH, WIDTH)) * 0.1, jnp.zeros(WIDTH)) for k in keys]
    step, where = train_step, None
    if CASE == "devices":
        where = NamedSharding(Mesh(np.array(jax.devices()), ("d",)), PartitionSpec("d"))
    if CASE == "ahead":
        step = train_step.lower(params, *next(batches())).compile()
    if CASE == "profiler":
        jax.profiler.start_trace(sys.argv[3])
    loss = None
    for i, (x, y) in enumerate(batches()):
        if CASE == "endless" and i == 5:
            print("steps have begun")
        if CASE == "later" and i == 10:
            jax.profiler.start_trace(sys.argv[3])
        if where is not None:
            x, y = jax.device_put((x, y), where)
        if CASE == "marked":
            with jax.profiler.StepTraceAnnotation("train", step_num=100 + i):
                take_step(step, params, x, y)
                params, loss = take_step(step, params, x, y)
        else:
            params, loss = take_step(step, params, x, y)
    jax.block_until_ready(params)
    if CASE in ("profiler", "later"):
        jax.profiler.stop_trace()
    return float(loss)


if CASE == "none":
    print("no device")
else:
    print(f"loss {train():.6f}")
if CASE == "exit":
    sys.exit(7)
if CASE == "raise":
    raise ValueError("planted")
