"""diffrax as its documentation shows it: `diffeqsolve` under `vmap` and `jit`, reverse mode by RecursiveCheckpointAdjoint with as many
checkpoints as steps where memory allows, `max_steps` sized to the solve."""

import math
import time

import diffrax
import jax
import jax.numpy as jnp
import numpy as np

import problems
from serve import Arm, Lanes, serve

jax.config.update("jax_enable_x64", True)


class Diffrax(Arm):
    def __init__(self, options: dict[str, str]):
        self.options, self.lanes, self.task = options, Lanes(options), options["task"]
        problem = problems.problem(options)
        self.t1, field = problem.t1, problem.field
        self.term = diffrax.ODETerm(lambda t, y, p: jnp.stack(field(t, y, p)))
        self.solver = getattr(diffrax, options["method"])()
        self.y0, self.p = jnp.asarray(problem.y0[self.lanes.run]), jnp.asarray(problem.p[self.lanes.run])
        self.parts = [(self.y0[part], self.p[part]) for part in self.lanes.parts]
        self.steps, self.atol_ratio = int(options.get("steps", 0)), float(options.get("atol_ratio", 1))
        self.tolerance, self.max_steps, self.checkpoints = jnp.asarray(1e-6), self.steps or 4096, None
        self.counts = {"accepted": self.steps * self.lanes.num_run} if self.steps else {}
        self.counting = jax.jit(jax.vmap(lambda y, p, tolerance: self._solve(y, p, tolerance, 1 << 16).stats, (0, 0, None)))
        self.setting = f"jit(vmap(diffeqsolve)), {self.lanes.at_once:,} lanes at once, {options['method']}, " + ("ConstantStepSize" if self.steps else "PIDController")
        if self.task == "memory":
            state_bytes = 24 * self.lanes.num_run
            # Each checkpoint holds more than the state: times, FSAL stage, counters, about as much again.
            self.checkpoints = max(8, int(float(options["limit_mib"]) * 2**20 / (3 * state_bytes)))
            self.setting += f", RecursiveCheckpointAdjoint(checkpoints={self.checkpoints})"
        elif self.task == "gradient":
            self.setting += ", RecursiveCheckpointAdjoint(checkpoints = max_steps), max_steps as many as the slowest lane attempts"
        if self.task == "gradient":
            self.set_tolerance(1e-6)
        else:
            self._compile()

    def _solve(self, y, p, tolerance, max_steps, **more):
        if self.steps:
            controller, dt0 = diffrax.ConstantStepSize(), self.t1 / self.steps
        else:
            controller, dt0 = diffrax.PIDController(rtol=tolerance, atol=tolerance * self.atol_ratio), None
        # Steps of constant size may miss the end by rounding, and then take one more.
        return diffrax.diffeqsolve(self.term, self.solver, 0.0, self.t1, dt0, y, p, stepsize_controller=controller,
                                   max_steps=max_steps + (2 if self.steps else 0), saveat=diffrax.SaveAt(t1=True), **more)

    def _compile(self) -> None:
        start = time.perf_counter()
        if self.task in ("fixed", "adaptive"):
            max_steps = self.max_steps if self.steps else 1 << 16

            def one(y, p, tolerance):
                return self._solve(y, p, tolerance, max_steps, adjoint=diffrax.ForwardMode()).ys[0]
            function = jax.vmap(one, (0, 0, None))
        else:
            adjoint = diffrax.RecursiveCheckpointAdjoint(checkpoints=self.checkpoints or self.max_steps)

            def loss(y, p, tolerance):
                return jnp.sum(self._solve(y, p, tolerance, self.max_steps, adjoint=adjoint).ys[0] ** 2)
            function = jax.vmap(jax.grad(loss, argnums=1), (0, 0, None))
        self.function = jax.jit(function).lower(*self.parts[0], self.tolerance).compile()
        self.compile += time.perf_counter() - start

    def set_tolerance(self, tolerance: float) -> None:
        self.tolerance = jnp.asarray(tolerance)
        stats = self.counting(self.y0, self.p, self.tolerance)    # apart from what is timed
        self.counts = {"accepted": int(stats["num_accepted_steps"].sum()), "rejected": int(stats["num_rejected_steps"].sum())}
        if self.task == "gradient":
            needed = int(jnp.max(stats["num_steps"]))
            if not needed <= self.max_steps <= 1.06 * needed + 2:
                self.max_steps = math.ceil(1.03 * needed) + 1
                self._compile()

    def run(self) -> dict[str, float]:
        self.results = jax.block_until_ready([self.function(y0, p, self.tolerance) for y0, p in self.parts])
        return self.counts

    def values(self) -> np.ndarray:
        return np.concatenate([np.asarray(result) for result in self.results])[self.lanes.look]


if __name__ == "__main__":
    serve(Diffrax)
