"""A small training program in JAX: two layers with name scopes, Adam by hand, six marked steps."""
import sys, os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
import jax, jax.numpy as jnp, numpy as np
from functools import partial

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
    x = np.ones((64, 64), np.float32); y = np.ones((64, 32), np.float32)
    w = jnp.eye(64); c = jnp.ones((16, 64)); s = jnp.ones((2, 64, 64))
    jax.block_until_ready((train_step(params, m, x, y), rollout(c, w), allreduce(s)))
    opts = jax.profiler.ProfileOptions()
    opts.python_tracer_level = int(os.environ.get("PY", "0"))
    jax.profiler.start_trace(out, profiler_options=opts)
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
if __name__ == "__main__": main(sys.argv[1])
