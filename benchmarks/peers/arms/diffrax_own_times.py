"""The neural ODE of case 12 by diffrax: data at times of each lane's own, `SaveAt(ts=…)` under vmap, as its documentation shows it."""

import math
import time

import diffrax
import jax
import jax.numpy as jnp
import numpy as np

import neural
from flat_jax_neural import field
from serve import Arm, serve


class DiffraxOwnTimes(Arm):
    setting = ("jit(grad(sum of vmap(diffeqsolve))), Tsit5, PIDController, SaveAt(ts), RecursiveCheckpointAdjoint(checkpoints = max_steps), "
               "max_steps as many as the slowest lane attempts, float32")

    def __init__(self, options: dict[str, str]):
        lanes, points, self.end = int(options["lanes"]), int(options["points"]), float(options["end"])
        times = neural.own_times(lanes, points, self.end)
        self.given = [jnp.asarray(part, jnp.float32) for part in (neural.inputs(lanes), times, neural.own_data(times))]
        self.weights = [jnp.asarray(part, jnp.float32) for part in neural.weights()]
        self.max_steps = 0
        self.counting = jax.jit(lambda w, tolerance: jax.vmap(lambda y, ts: self._solve(w, y, ts, tolerance, 4096).stats)(*self.given[:2]))
        self.set_tolerance(1e-4)

    def _solve(self, w, y, ts, tolerance, max_steps, **more):
        return diffrax.diffeqsolve(diffrax.ODETerm(lambda t, y, w: field(w, y)), diffrax.Tsit5(), 0.0, self.end, None, y, w,
                                   saveat=diffrax.SaveAt(ts=ts), max_steps=max_steps,
                                   stepsize_controller=diffrax.PIDController(rtol=tolerance, atol=tolerance), **more)

    def _compile(self) -> None:
        start = time.perf_counter()
        adjoint = diffrax.RecursiveCheckpointAdjoint(checkpoints=self.max_steps)

        def loss(w, tolerance, y0, times, data):
            states = jax.vmap(lambda y, ts: self._solve(w, y, ts, tolerance, self.max_steps, adjoint=adjoint).ys)(y0, times)
            return jnp.sum((states - data) ** 2)
        self.function = jax.jit(jax.grad(loss)).lower(self.weights, self.tolerance, *self.given).compile()
        self.compile += time.perf_counter() - start

    def set_tolerance(self, tolerance: float) -> None:
        self.tolerance = jnp.asarray(tolerance, jnp.float32)
        stats = self.counting(self.weights, self.tolerance)    # apart from what is timed
        self.counts = {"accepted": int(stats["num_accepted_steps"].sum()), "rejected": int(stats["num_rejected_steps"].sum())}
        needed = int(jnp.max(stats["num_steps"]))
        if not needed <= self.max_steps <= 1.06 * needed + 2:
            self.max_steps = math.ceil(1.03 * needed) + 1
            self._compile()

    def run(self) -> dict[str, float]:
        self.result = jax.block_until_ready(self.function(self.weights, self.tolerance, *self.given))
        return self.counts

    def values(self) -> np.ndarray:
        return neural.flat(self.result)


if __name__ == "__main__":
    serve(DiffraxOwnTimes)
