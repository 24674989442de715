"""Writes jax_reference.safetensors, the gradients by JAX that jax_reference.cpp compares with: `jax_reference.py`, once, where jax,
numpy and safetensors are installed. Everything is in double precision; steps are Dormand and Prince's, of constant size, so that both
sides compute the same numbers but for the order of sums."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from safetensors.numpy import save_file

jax.config.update("jax_enable_x64", True)

# Dormand & Prince 1980, J. Comput. Appl. Math. 6, table 2: the fifth-order weights.
A = [[], [1 / 5], [3 / 40, 9 / 40], [44 / 45, -56 / 15, 32 / 9], [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
     [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656]]
B = [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84]
C = [0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1]


def mlp(layers, x, activation):
    for weight, bias in layers[:-1]:
        x = activation(weight @ x + bias)
    weight, bias = layers[-1]
    return weight @ x + bias


def integrate(field, y, steps):
    h = 1 / steps

    def advance(y, step):
        k = []
        for a, c in zip(A, C):
            k.append(field((step + c) * h, y + h * sum((x * z for x, z in zip(a, k)), jnp.zeros_like(y))))
        return y + h * sum(x * z for x, z in zip(B, k)), None

    return jax.lax.scan(advance, y, jnp.arange(steps))[0]


def ode_loss(layers, y0, data):
    """A neural ODE: squared distances from the data at t = 1, after 20 steps."""
    field = lambda t, y: mlp(layers, y, jnp.tanh)
    end = jax.vmap(lambda y: integrate(field, y, 20))(y0)
    return jnp.sum((end - data) ** 2)


def flow_loss(layers, y0):
    """A continuous normalizing flow in 10 steps: negative log likelihoods with exact traces, and a tenth of the energy."""
    own = lambda t, y: mlp(layers, jnp.append(y, t), lambda x: x * jax.nn.sigmoid(x))

    def field(t, state):
        y = state[:2]
        dydt = own(t, y)
        return jnp.concatenate([dydt, jnp.array([jnp.trace(jax.jacfwd(lambda z: own(t, z))(y)), dydt @ dydt])])

    def of_sample(y):
        end = integrate(field, jnp.concatenate([y, jnp.zeros(2)]), 10)
        return 0.5 * end[:2] @ end[:2] - end[2] + 0.1 * end[3]

    return jnp.sum(jax.vmap(of_sample)(y0))


def draw_layers(random, sizes):
    return [(random.normal(size=(n, m)) / np.sqrt(m), 0.1 * random.normal(size=n)) for m, n in zip(sizes, sizes[1:])]


def tensors(prefix, layers):
    for k, (weight, bias) in enumerate(layers):
        yield f"{prefix}layers.{k}.weight", np.asarray(weight)
        yield f"{prefix}layers.{k}.bias", np.asarray(bias)


def main():
    random = np.random.default_rng(20)
    file = {}

    def add(name, loss, layers, *arrays):
        value, gradients = jax.jit(jax.value_and_grad(loss, argnums=(0, 1)))(layers, *arrays)
        file.update(tensors(f"{name}.", layers))
        file.update(tensors(f"{name}.gradient.", gradients[0]))
        file[f"{name}.loss"] = np.array([value])
        file[f"{name}.y0"], file[f"{name}.gradient.y0"] = arrays[0], np.asarray(gradients[1])

    y0, data = random.normal(size=(2, 8, 2))
    add("ode", ode_loss, draw_layers(random, [2, 24, 16, 2]), y0, data)
    file["ode.data"] = data
    add("flow", flow_loss, draw_layers(random, [3, 12, 2]), y0)
    save_file(file, Path(__file__).with_suffix(".safetensors"))


main()
