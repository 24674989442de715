"""The neural ODE of case 5 in plain JAX: a scan over steps, reverse mode through it."""

import time

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import neural
from serve import Arm, serve


def field(w, y):
    return jnp.tanh(jnp.tanh(y @ w[0].T + w[1]) @ w[2].T + w[3]) @ w[4].T + w[5]


class FlatJaxNeural(Arm):
    setting = "jit(grad) of a scan over steps, Dormand–Prince, all states kept, float32"

    def __init__(self, options: dict[str, str]):
        steps = int(options["steps"])
        self.steps, self.lanes = steps, int(options["lanes"])
        self.y0 = jnp.asarray(neural.inputs(self.lanes), jnp.float32)
        self.weights = [jnp.asarray(part, jnp.float32) for part in neural.weights()]
        h = np.float32(1 / steps)

        def step(w, y):
            k = []
            for row in neural.DOPRI5_A:
                k.append(field(w, y + h * sum(np.float32(a) * k[j] for j, a in enumerate(row))))
            return y + h * sum(np.float32(b) * k[i] for i, b in enumerate(neural.DOPRI5_B) if b)

        def loss(w, y):
            end, _ = lax.scan(lambda y, _: (step(w, y), None), y, length=steps)
            return jnp.sum(end * end)
        start = time.perf_counter()
        self.function = jax.jit(jax.grad(loss)).lower(self.weights, self.y0).compile()
        self.compile = time.perf_counter() - start

    def run(self) -> dict[str, float]:
        self.result = jax.block_until_ready(self.function(self.weights, self.y0))
        return {"accepted": self.steps * self.lanes, "evaluations": 6 * self.steps * self.lanes}

    def values(self) -> np.ndarray:
        return neural.flat(self.result)


if __name__ == "__main__":
    serve(FlatJaxNeural)
