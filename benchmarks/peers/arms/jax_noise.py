"""The stochastic equation of case 9 in JAX without a solver library: a scan over steps. diffrax_noise.py has another end of it."""

import math
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import noise
from serve import Arm, Lanes, serve

jax.config.update("jax_enable_x64", True)


class JaxNoise(Arm):
    """Moments of y(1), or the gradient of the second one."""

    def __init__(self, options: dict[str, str]):
        self.options, self.steps, self.lanes = options, int(options["steps"]), Lanes(options).num_run
        self.wants_gradient = options["task"] == "noise-gradient"
        self.p = jnp.asarray([noise.MU, noise.SIGMA])
        self.keys = jax.random.split(jax.random.key(7), self.lanes)
        self.setting = self.describe()

        def moments(p, keys):
            y = self.end(p, keys)
            return jnp.stack([y.mean(), (y * y).mean()])
        function = jax.grad(lambda p, keys: moments(p, keys)[1]) if self.wants_gradient else moments
        start = time.perf_counter()
        self.function = jax.jit(function).lower(self.p, self.keys).compile()
        self.compile = time.perf_counter() - start

    def describe(self) -> str:
        return "jit, scan over steps, Threefry, one key a step, normals in single precision" + (", reverse mode" if self.wants_gradient else "")

    def end(self, p, keys):
        """y(1) of every path. Of the keys one is enough here."""
        h, root, shape = 1 / self.steps, math.sqrt(1 / self.steps), keys.shape

        def step(y, key):
            z = jax.random.normal(key, shape, jnp.float32).astype(y.dtype)
            return y + y * (p[0] * h + p[1] * root * z), None
        return lax.scan(step, jnp.ones(shape), jax.random.split(keys[0], self.steps))[0]

    def run(self) -> dict[str, float]:
        self.result = jax.block_until_ready(self.function(self.p, self.keys))
        return {"accepted": self.steps * self.lanes}

    def values(self) -> np.ndarray:
        return np.asarray(self.result)


if __name__ == "__main__":
    serve(JaxNoise)
