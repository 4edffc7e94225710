"""JAX on the CPU (common.py)."""
import functools

import jax
import jax.numpy as jnp
import numpy as np

from common import run


def layers(depth=8, width=128):
    keys = jax.random.split(jax.random.PRNGKey(0), depth)
    return [jax.random.normal(k, (width, width)) * 0.05 for k in keys]


def loss_of(weights, x):
    for w in weights:
        x = jnp.tanh(x @ w)
    return jnp.mean(x * x)


def update(weights, x):
    value, grads = jax.value_and_grad(loss_of)(weights, x)
    return [w - 0.1 * g for w, g in zip(weights, grads)], value


def not_compiled(bad, steps):
    step = update if bad else jax.jit(update)
    weights, x = layers(), jnp.ones((32, 128))
    for _ in steps:
        weights, value = step(weights, x)  # mistake
        steps.loss(value.block_until_ready())


def compiled_again(bad, steps):
    """A new function in each step: nothing that was compiled is found again."""
    weights, x = layers(), jnp.ones((32, 128))
    kept = jax.jit(update)
    for _ in steps:
        step = jax.jit(lambda w, v: update(w, v)) if bad else kept  # mistake
        weights, value = step(weights, x)
        steps.loss(value.block_until_ready())


def other_lengths(bad, steps):
    weights = layers()
    step = jax.jit(update)
    for i in steps:
        x = jnp.ones((32 + i if bad else 64, 128))  # mistake
        weights, value = step(weights, x)
        steps.loss(value.block_until_ready())


def values_read(bad, steps):
    """A loop over time in Python, each value read on the host."""
    weights = layers(1, 64)[0]
    cell = jax.jit(lambda s, w: jnp.tanh(s @ w) + 0.01)
    scan = jax.jit(lambda s, w: jax.lax.scan(lambda c, _: (jnp.tanh(c @ w) + 0.01, c.sum()), s, None, 300))
    for _ in steps:
        state, total = jnp.ones((8, 64)), 0.0
        if bad:
            for _ in range(300):
                total += float(state.sum())  # mistake
                state = cell(state, weights)
        else:
            state, sums = scan(state, weights)
            total = float(np.asarray(sums).sum())
        steps.loss(total)


def batch_made_on_the_host(bad, steps):
    weights = layers(2)
    step = jax.jit(update)
    rng = np.random.default_rng(0)
    for _ in steps:
        if bad:
            x = np.array([[rng.normal() for _ in range(128)] for _ in range(256)], np.float32)  # mistake
        else:
            x = rng.normal(size=(256, 128)).astype(np.float32)
        weights, value = step(weights, x)
        steps.loss(value.block_until_ready())


if __name__ == "__main__":
    run({name: value for name, value in list(globals().items()) if callable(value)})
