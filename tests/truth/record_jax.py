"""A small training program in JAX, profiled by JAX itself: python3 tests/truth/record_jax.py LOG

Two layers in name scopes with a gradient and an update by hand, a loop, and a sum over two virtual devices of the CPU;
three steps are marked. tests/data/jax is its output.
"""
import os
import sys
from functools import partial

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402


def layer(p, x, name):
    with jax.named_scope(name):
        return jax.nn.relu(x @ p["w"] + p["b"])


def loss(params, x, y):
    with jax.named_scope("mlp"):
        h = layer(params[0], x, "hidden")
        with jax.named_scope("head"):
            out = h @ params[1]["w"] + params[1]["b"]
    return jnp.mean((out - y) ** 2)


@jax.jit
def train_step(params, m, x, y):
    g = jax.grad(loss)(params, x, y)
    with jax.named_scope("optimizer"):
        m = jax.tree.map(lambda a, b: 0.9 * a + b, m, g)
        params = jax.tree.map(lambda p, v: p - 0.01 * v, params, m)
    return params, m


@jax.jit
def rollout(x, w):
    def body(c, _):
        with jax.named_scope("cell"):
            return jnp.tanh(c @ w), None
    return jax.lax.scan(body, x, None, length=8)[0]


@partial(jax.pmap, axis_name="d")
def allreduce(x):
    return jax.lax.psum(jnp.sin(x) @ x, "d")


def main(out, steps=3):
    k = jax.random.PRNGKey(0)
    params = [{"w": jax.random.normal(k, (64, 128)), "b": jnp.zeros(128)},
              {"w": jax.random.normal(k, (128, 32)), "b": jnp.zeros(32)}]
    m = jax.tree.map(jnp.zeros_like, params)
    x, y = np.ones((64, 64), np.float32), np.ones((64, 32), np.float32)
    w, c, s = jnp.eye(64), jnp.ones((16, 64)), jnp.ones((2, 64, 64))
    jax.block_until_ready((train_step(params, m, x, y), rollout(c, w), allreduce(s)))
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    jax.profiler.start_trace(out, profiler_options=options)
    for i in range(steps):
        with jax.profiler.StepTraceAnnotation("train", step_num=i):
            with jax.profiler.TraceAnnotation("load batch"):
                x = x * 1.0
            params, m = train_step(params, m, x, y)
            with jax.profiler.TraceAnnotation("rollout"):
                r = rollout(c, w)
            a = allreduce(s)
            jax.block_until_ready((params, r, a))
    jax.profiler.stop_trace()


if __name__ == "__main__":
    main(sys.argv[1])
