"""neural_cde.py PROGRAM: diffrax's neural controlled equation beside examples/neural_cde, on the same series.

PROGRAM, example_neural_cde, writes its series, trains and says what it took. diffrax then trains a network of the same sizes on them, by the
same optimiser, steps and tolerances, under jit and vmap as its own example does. Run it by the Python of build/peers/venv.
"""

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
import optax

jax.config.update("jax_enable_x64", True)
HIDDEN, WIDTH, CHANNELS, STEPS = 8, 32, 3, 40


def series(folder: Path, name: str):
    """Times and values as diffrax takes them: filled up at the end with the last ones, which stand still."""
    turn = np.fromfile(folder / f"{name}_turn")
    times = np.fromfile(folder / f"{name}_knots").reshape(-1, len(turn)).T
    values = np.fromfile(folder / f"{name}_values").reshape(-1, len(turn)).T.reshape(*times.shape, CHANNELS)
    length = (~np.isnan(times)).sum(axis=1)
    for row, count in enumerate(length):
        values[row, count:] = values[row, count - 1]
        times[row, count:] = times[row, count - 1] + 0.1 * np.arange(1, times.shape[1] - count + 1)
    return jnp.asarray(times), jnp.asarray(values), jnp.asarray(turn), jnp.asarray(times[np.arange(len(turn)), length - 1])


def weights(key):
    keys = jax.random.split(key, 2)

    def layer(key, rows, columns):
        limit = np.sqrt(6 / (rows + columns))
        return [jax.random.uniform(key, (rows, columns), minval=-limit, maxval=limit), jnp.zeros(rows)]
    return [*layer(keys[0], WIDTH, HIDDEN), *layer(keys[1], HIDDEN * CHANNELS, WIDTH), jnp.full(HIDDEN, 0.1), jnp.asarray(0.1)]


def matrix(t, z, w):
    return jnp.tanh(w[2] @ jnp.tanh(w[0] @ z + w[1]) + w[3]).reshape(HIDDEN, CHANNELS)


def logit(w, times, values, end, max_steps):
    term = diffrax.ControlTerm(matrix, diffrax.LinearInterpolation(times, values)).to_ode()
    # Steps to the knots, where the path has corners.
    control = diffrax.ClipStepSizeController(diffrax.PIDController(rtol=1e-3, atol=1e-4), jump_ts=times)
    solved = diffrax.diffeqsolve(term, diffrax.Tsit5(), times[0], end, None, jnp.zeros(HIDDEN), w, stepsize_controller=control,
                                 max_steps=max_steps)
    return w[4] @ solved.ys[-1] + w[5], solved.stats["num_steps"]


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        told = subprocess.run([sys.argv[1], name], capture_output=True, text=True, check=True).stdout
        seen, held_out = series(Path(name), "seen"), series(Path(name), "held_out")
    print("eddy:   ", told.strip())
    of_eddy = float(re.search(r"steps of ([\d.]+) ms", told)[1])
    w = weights(jax.random.PRNGKey(1))

    def all_logits(w, given, max_steps):
        return jax.vmap(lambda *one: logit(w, *one, max_steps))(given[0], given[1], given[3])
    taken = int(jnp.max(jax.jit(all_logits, static_argnums=2)(w, seen, 4096)[1]))
    adam = optax.adam(1e-2)

    def step(w, state, given):
        loss, gradient = jax.value_and_grad(lambda w: jnp.mean(jax.nn.softplus(-given[2] * all_logits(w, given, 2 * taken)[0])))(w)
        updates, state = adam.update(gradient, state)
        return optax.apply_updates(w, updates), state, loss
    state = adam.init(w)
    start = time.perf_counter()
    compiled = jax.jit(step).lower(w, state, seen).compile()
    compiling = time.perf_counter() - start
    start = time.perf_counter()
    for _ in range(STEPS):
        w, state, loss = compiled(w, state, seen)
    loss.block_until_ready()
    took = 1e3 * (time.perf_counter() - start) / STEPS
    right = float(jnp.mean(all_logits(w, held_out, 4096)[0] * held_out[2] > 0))
    print(f"diffrax:  cross entropy {loss:.4f} after {STEPS} steps of {took:.1f} ms; {100 * right:.1f} % of held-out series right; "
          f"{compiling:.0f} s to compile; {took / of_eddy:.1f} times eddy's time")


if __name__ == "__main__":
    main()
