"""A decoder of transformers in plain JAX, trained: jax_train.py CASE [STEPS [LOG]]

Cases: `plain`; `sleep` (20 ms away in each step); `float` (a value is read in each step); `shapes` (each step compiles
again); `profiler` (jax.profiler into LOG, from the start); `endless`. Prints the median of its own steps, each of
which is waited for at the end only, and in the case `plain` of the last ten.
"""
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

CASE = sys.argv[1]
STEPS = int(sys.argv[2]) if len(sys.argv) > 2 else 60
LAYERS, WIDTH, HEADS, LENGTH, BATCH = (4, 1024, 16, 512, 8) if jax.default_backend() != "cpu" else (2, 64, 4, 32, 2)
AWAY_SECONDS = 0.02


def norm(x):
    return x / jnp.sqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)


def attend(p, x):
    with jax.named_scope("attention"):
        batch, length, _ = x.shape
        q, k, v = jnp.split(norm(x) @ p["qkv"], 3, -1)
        q, k, v = (t.reshape(batch, length, HEADS, -1).transpose(0, 2, 1, 3) for t in (q, k, v))
        scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(q.shape[-1]).astype(q.dtype)
        mask = jnp.tril(jnp.ones((length, length), bool))
        weights = jax.nn.softmax(jnp.where(mask, scores, -1e4), -1)
        return (weights @ v).transpose(0, 2, 1, 3).reshape(x.shape) @ p["out"]


def feed(p, x):
    with jax.named_scope("mlp"):
        return jax.nn.gelu(norm(x) @ p["up"]) @ p["down"]


def loss_of(params, x):
    h = x
    for i, p in enumerate(params):
        with jax.named_scope(f"layer_{i}"):
            h = h + attend(p, h)
            h = h + feed(p, h)
    return jnp.mean((h[:, :-1] - x[:, 1:]).astype(jnp.float32) ** 2)


@jax.jit
def train_step(params, x):
    loss, gradients = jax.value_and_grad(loss_of)(params, x)
    with jax.named_scope("optimizer"):
        params = jax.tree.map(lambda p, g: p - 0.01 * g, params, gradients)
    return params, loss


def make_params():
    sizes = {"qkv": (WIDTH, 3 * WIDTH), "out": (WIDTH, WIDTH), "up": (WIDTH, 4 * WIDTH), "down": (4 * WIDTH, WIDTH)}
    rng = np.random.default_rng(0)
    return [{name: jnp.asarray(rng.standard_normal(size) * 0.02, jnp.bfloat16) for name, size in sizes.items()}
            for _ in range(LAYERS)]


def main():
    params, rng = make_params(), np.random.default_rng(1)
    if CASE == "profiler":
        jax.profiler.start_trace(sys.argv[3])
    loss = 0.0
    for i in range(STEPS):
        if CASE == "plain" and i == STEPS - 10:
            jax.block_until_ready(params)
            began = time.perf_counter()
        length = LENGTH - i if CASE == "shapes" else LENGTH
        x = rng.standard_normal((BATCH, length, WIDTH), dtype=np.float32).astype(jnp.bfloat16)
        params, loss = train_step(params, x)
        if CASE in ("sleep", "endless"):
            time.sleep(AWAY_SECONDS)
        if CASE == "float":
            float(loss)
        if CASE == "endless" and i == 5:
            print("steps have begun", flush=True)
    jax.block_until_ready(params)
    if CASE == "plain":
        print(f"{(time.perf_counter() - began) / 10 * 1e3:.3f} ms a step")
    if CASE == "profiler":
        jax.profiler.stop_trace()
    print(f"loss {float(loss):.4f} on {jax.devices()[0].device_kind}")


main()
