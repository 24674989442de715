"""The neural ODE of case 5 by diffrax: all lanes as one state, which steps of constant size allow, and which is faster than vmap."""

import time

import diffrax
import jax
import jax.numpy as jnp
import numpy as np

import neural
from flat_jax_neural import field
from serve import Arm, serve


class DiffraxNeural(Arm):
    def __init__(self, options: dict[str, str]):
        steps = int(options["steps"])
        self.steps, self.lanes = steps, int(options["lanes"])
        self.y0 = jnp.asarray(neural.inputs(self.lanes), jnp.float32)
        self.weights = [jnp.asarray(part, jnp.float32) for part in neural.weights()]
        self.setting = f"Dopri5, ConstantStepSize, RecursiveCheckpointAdjoint(checkpoints={steps}), all lanes one state, float32"
        times = jnp.linspace(0, 1, steps + 1)

        def loss(w, y):
            solved = diffrax.diffeqsolve(diffrax.ODETerm(lambda t, y, w: field(w, y)), diffrax.Dopri5(), 0.0, 1.0, None, y, w,
                                         stepsize_controller=diffrax.StepTo(times), max_steps=steps,
                                         adjoint=diffrax.RecursiveCheckpointAdjoint(checkpoints=steps))
            return jnp.sum(solved.ys[0] ** 2)
        start = time.perf_counter()
        self.function = jax.jit(jax.grad(loss)).lower(self.weights, self.y0).compile()
        self.compile = time.perf_counter() - start

    def run(self) -> dict[str, float]:
        self.result = jax.block_until_ready(self.function(self.weights, self.y0))
        return {"accepted": self.steps * self.lanes}

    def values(self) -> np.ndarray:
        return neural.flat(self.result)


if __name__ == "__main__":
    serve(DiffraxNeural)
