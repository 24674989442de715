"""JAX without a solver library: a loop over steps on flat arrays, one per component, that XLA fuses. The honest JAX arm.

All lanes step together until the slowest is done, each with a step size of its own; those that are done stand still. Reverse mode
needs loops of known length: the longest lane's, found by a forward solve before the clock starts, as diffrax' users give `max_steps`."""

import math
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import problems
from methods import TSIT5_A, TSIT5_B, TSIT5_C, TSIT5_ERROR
from serve import Arm, Lanes, serve

jax.config.update("jax_enable_x64", True)


def stages(field, t, y, h, p, first):
    """The new state and all seven stages of one step; `first` is the last stage of the step before."""
    k = [first]
    for row, c in zip(TSIT5_A[1:], TSIT5_C[1:]):
        at = tuple(y_i + h * sum(a * k[j][i] for j, a in enumerate(row)) for i, y_i in enumerate(y))
        k.append(field(t + c * h, at, p))
    new = tuple(y_i + h * sum(b * k[j][i] for j, b in enumerate(TSIT5_B)) for i, y_i in enumerate(y))
    return new, [*k, field(t + h, new, p)]


def attempt(field, t1, tolerance, carry, p):
    """One attempted step of every lane. carry: t, h, y, first stage, accepted, rejected."""
    t, h, y, first, accepted, rejected = carry
    lands = h * 1.01 >= t1 - t
    step = jnp.where(lands, t1 - t, h)
    new, k = stages(field, t, y, step, p, first)
    errors = [step * sum(e * k[j][i] for j, e in enumerate(TSIT5_ERROR)) for i in range(len(y))]
    # Step sizes are data: their derivative would be work, and noise.
    scaled = [lax.stop_gradient(e / (tolerance * (1 + jnp.maximum(jnp.abs(a), jnp.abs(b))))) for e, a, b in zip(errors, y, new)]
    square = sum(s * s for s in scaled) / len(y)
    alive = t < t1
    good = alive & (square <= 1)
    factor = jnp.clip(0.9 * jnp.maximum(square, 1e-20) ** -0.1, 0.2, 10.0)
    keep = lambda a, b: tuple(jnp.where(good, x, z) for x, z in zip(a, b))  # noqa: E731
    return (jnp.where(good, jnp.where(lands, t1, t + step), t), jnp.where(alive, lax.stop_gradient(step * factor), h), keep(new, y),
            keep(k[6], first), accepted + good, rejected + (alive & ~good))


def begin(field, y, p, tolerance, t1):
    zero, none = jnp.zeros_like(y[0]), jnp.zeros(y[0].shape, jnp.int32)
    h = jnp.full_like(zero, 0.5) * jnp.minimum(t1, 0.1) * jnp.maximum(tolerance, 1e-15) ** 0.2
    return zero, h, y, tuple(jnp.broadcast_arrays(*field(zero, y, p))), none, none


def adaptive(field, t1, y, p, tolerance):
    return lax.while_loop(lambda carry: jnp.any(carry[0] < t1), lambda carry: attempt(field, t1, tolerance, carry, p), begin(field, y, p, tolerance, t1))


def adaptive_of_length(field, t1, length, y, p, tolerance):
    carry, _ = lax.scan(lambda carry, _: (attempt(field, t1, tolerance, carry, p), None), begin(field, y, p, tolerance, t1), length=length)
    return carry


def fixed(field, t1, steps, y, p):
    h = t1 / steps
    first = tuple(jnp.broadcast_arrays(*field(0.0, y, p)))

    def step(number, carry):
        new, k = stages(field, number * h, carry[0], h, p, carry[1])
        return new, k[6]
    return lax.fori_loop(0, steps, step, (y, first))[0]


def fixed_checkpointed(field, t1, steps, outer, y, p):
    """`outer` segments of a scan, each kept by its start alone and computed again on the way back."""
    h, inner = t1 / steps, -(-steps // outer)

    def step(y, number):
        new, _ = stages(field, number * h, y, h, p, tuple(jnp.broadcast_arrays(*field(number * h, y, p))))
        return jax.tree.map(lambda a, b: jnp.where(number < steps, a, b), new, y), None

    segment = jax.checkpoint(lambda y, numbers: lax.scan(step, y, numbers))
    return lax.scan(segment, y, jnp.arange(outer * inner).reshape(outer, inner))[0]


def squared_norm(y):
    return sum(jnp.sum(y_i * y_i) for y_i in y)


class FlatJax(Arm):
    def __init__(self, options: dict[str, str]):
        self.options, self.lanes = options, Lanes(options)
        problem = problems.problem(options)
        self.field, self.t1 = problem.field, problem.t1
        self.y0 = tuple(jnp.asarray(column) for column in problem.y0[self.lanes.run].T)
        self.p = tuple(jnp.asarray(column) for column in problem.p[self.lanes.run].T)
        self.parts = [[tuple(column[part] for column in columns) for columns in (self.y0, self.p)] for part in self.lanes.parts]
        self.task, self.tolerance, self.length, self.counts = options["task"], jnp.asarray(1e-6), 0, {}
        self.mode = options.get("mode", "reverse")
        self.counting = jax.jit(lambda y, p, tolerance: adaptive(self.field, self.t1, y, p, tolerance))
        if self.task in ("fixed", "memory"):
            self.setting = f"jit, {'fori_loop' if self.task == 'fixed' else 'scan of jax.checkpoint of scan'} over flat arrays, Tsit5"
            self._compile()
        elif self.task == "adaptive":
            self.setting = "jit, while_loop over flat arrays, Tsit5, integral controller, 64-bit"
            self._compile()
        else:
            self.setting = ("jit, reverse mode through a scan over as many steps as the slowest lane attempts" if self.mode == "reverse" else
                            "jit, forward mode through the while_loop, one direction a parameter") + ", Tsit5, step sizes are data"
            self.set_tolerance(1e-6)

    def _compile(self) -> None:
        start = time.perf_counter()
        self.function = jax.jit(self._function()).lower(*self.parts[0], self.tolerance).compile()
        self.compile += time.perf_counter() - start

    def _function(self):
        field, t1, steps = self.field, self.t1, int(self.options.get("steps", 0))
        if self.task == "fixed":
            return lambda y, p, _: fixed(field, t1, steps, y, p)
        if self.task == "adaptive":
            return lambda y, p, tolerance: adaptive(field, t1, y, p, tolerance)
        if self.task == "memory":
            # On the way back the states of one segment are kept beside the starts of all: the limit has room for both.
            state_bytes = 24 * self.lanes.num_run
            room = float(self.options["limit_mib"]) * 2**20 / state_bytes
            outer = int(min(math.sqrt(steps), room / 4))
            return jax.grad(lambda y, p, _: squared_norm(fixed_checkpointed(field, t1, steps, outer, y, p)), argnums=1)
        length = self.length
        if self.mode == "reverse":
            return jax.grad(lambda y, p, tolerance: squared_norm(adaptive_of_length(field, t1, length, y, p, tolerance)[2]), argnums=1)

        def forward(y, p, tolerance):
            def end(p):
                return adaptive(field, t1, y, p, tolerance)[2]

            def along(i):
                tangent = tuple(jnp.ones_like(p_j) if i == j else jnp.zeros_like(p_j) for j, p_j in enumerate(p))
                end_y, end_dy = jax.jvp(end, (p,), (tangent,))
                return 2 * sum(a * b for a, b in zip(end_y, end_dy))
            return tuple(along(i) for i in range(len(p)))
        return forward

    def set_tolerance(self, tolerance: float) -> None:
        self.tolerance = jnp.asarray(tolerance)
        needed = self._count()
        if self.task == "gradient" and self.mode == "reverse":
            # Compiling again for each tolerance of a bisection would take minutes: lengths are rounded up a little.
            if not needed <= self.length <= 1.06 * needed + 2:
                self.length = math.ceil(1.03 * needed) + 1
                self._compile()
        elif self.task == "gradient" and not self.compile:
            self._compile()

    def run(self) -> dict[str, float]:
        self.results = jax.block_until_ready([self.function(*part, self.tolerance) for part in self.parts])
        if self.task in ("fixed", "memory"):
            steps, lanes = int(self.options["steps"]), self.lanes.num_run
            return {"accepted": steps * lanes, "evaluations": (6 * steps + 1) * lanes}
        return self.counts

    def _count(self) -> int:
        """Counts a solve at this tolerance, apart from what is timed; returns the attempts of the slowest lane."""
        *_, accepted, rejected = self.counting(self.y0, self.p, self.tolerance)
        attempts = int(jnp.max(accepted + rejected))    # what lanes that are done stand through is work as well
        self.counts = {"accepted": int(accepted.sum()), "rejected": int(rejected.sum()), "evaluations": (6 * attempts + 1) * self.lanes.num_run}
        return attempts

    def values(self) -> np.ndarray:
        results = [result[2] if self.task == "adaptive" else result for result in self.results]
        return np.concatenate([np.stack([np.asarray(column) for column in result], 1) for result in results])[self.lanes.look]


if __name__ == "__main__":
    serve(FlatJax)
