"""The fit of case 11 in JAX: diffrax for the trajectories, optimistix' LevenbergMarquardt, all starts at once under `vmap` and `jit`."""

import time

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
import optimistix

import lynx_hare
from serve import Arm, serve

jax.config.update("jax_enable_x64", True)


class DiffraxFit(Arm):
    setting = ("vmap of optimistix.least_squares, LevenbergMarquardt(rtol = atol = 1e-8), 200 steps at most, forward mode; diffrax Tsit5, PIDController, "
               "rtol = atol = 1e-8, 4,096 steps at most")

    def __init__(self, options: dict[str, str]):
        years, logs = lynx_hare.data()
        self.check, self.starts = int(options["check"]), jnp.asarray(lynx_hare.starts(options))
        term = diffrax.ODETerm(lambda t, y, p: jnp.stack([p[0] * y[0] - p[1] * y[0] * y[1], p[3] * y[0] * y[1] - p[2] * y[1]]))
        times, logs = jnp.asarray(years), jnp.asarray(logs)

        def residuals(unknowns, _):
            values = jnp.exp(jnp.clip(unknowns, -300, 300))
            solved = diffrax.diffeqsolve(term, diffrax.Tsit5(), times[0], times[-1], None, values[4:], values[:4], max_steps=4096, throw=False,
                                         stepsize_controller=diffrax.PIDController(rtol=1e-8, atol=1e-8), saveat=diffrax.SaveAt(ts=times),
                                         adjoint=diffrax.ForwardMode())
            good = jnp.isfinite(solved.ys) & (solved.ys > 0)
            # A trial step without a trajectory must look bad, and have a derivative that is a number.
            found = jnp.where(good, jnp.log(jnp.where(good, solved.ys, 1.0)) - logs, 1e3)
            return jnp.where(solved.result == diffrax.RESULTS.successful, found, 1e3)

        def one(start):
            method = optimistix.LevenbergMarquardt(rtol=1e-8, atol=1e-8)
            fit = optimistix.least_squares(residuals, method, start, options={"jac": "fwd"}, max_steps=200, throw=False)
            return jnp.sum(residuals(fit.value, None) ** 2)

        start = time.perf_counter()
        self.function = jax.jit(jax.vmap(one)).lower(self.starts).compile()
        self.compile = time.perf_counter() - start

    def run(self) -> dict[str, str]:
        self.sums = np.asarray(jax.block_until_ready(self.function(self.starts)))
        return lynx_hare.found(self.sums)

    def values(self) -> np.ndarray:
        return lynx_hare.best_over_known(self.sums, self.check)


if __name__ == "__main__":
    serve(DiffraxFit)
