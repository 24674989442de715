"""heyoka's Taylor method in batch mode: as many lanes at once as the vectors of the processor hold, each with step sizes of its own.
Gradients by first-order variational equations, in the parameters."""

import time

import heyoka
import numpy as np

import problems
from serve import Arm, Lanes, serve


class Heyoka(Arm):
    def __init__(self, options: dict[str, str]):
        self.options, self.lanes = options, Lanes(options)
        problem = problems.problem(options)
        self.t1, self.n, self.num_p = problem.t1, problem.state_size, problem.parameter_size
        names = heyoka.make_vars(*(f"y{i}" for i in range(self.n)))
        parameters = [heyoka.par[i] for i in range(self.num_p)]
        field = problem.field(heyoka.time, list(names), parameters)
        self.system = [(name, value + 0.0 * name if not isinstance(value, heyoka.expression) else value) for name, value in zip(names, field)]
        self.wants_gradient = options["task"] == "gradient"
        if self.wants_gradient:
            # With respect to y0 as well, as eddy does it, where `y0` is set; its derivatives come first.
            self.first = self.n if options.get("y0") else 0
            self.variational = heyoka.var_ode_sys(self.system, ([*names] if self.first else []) + parameters, order=1)
            self.num_args = self.first + self.num_p
        self.y0, self.p = problem.y0[self.lanes.run], problem.p[self.lanes.run]
        # Twice the width of the vectors: half as many calls from Python, which cost a tenth of a solve of Lorenz, and 16 was fastest of 8 to 64.
        self.batch = 2 * heyoka.recommended_simd_size() if self.lanes.num_run >= 64 else 1
        self.setting = (f"Taylor, {'batches of ' + str(self.batch) if self.batch > 1 else 'one trajectory'}, "
                        "compact_mode off, high_accuracy off" + (", var_ode_sys of order 1 in the parameters" + (" and y0" if options.get("y0") else "") if self.wants_gradient else ""))
        # (component, lane): components first, then the derivatives of each, parameter by parameter.
        self.y0_columns, self.p_columns = np.ascontiguousarray(self.y0.T), np.ascontiguousarray(self.p.T)
        self.results = np.empty((self.n * (1 + self.num_args if self.wants_gradient else 1), self.lanes.num_run))
        self.set_tolerance(1e-6)

    def set_tolerance(self, tolerance: float) -> None:
        start = time.perf_counter()
        system = self.variational if self.wants_gradient else self.system
        size = self.n
        self.compile = 0.0
        if self.batch > 1:
            state = np.ones((size, self.batch))
            self.integrator = heyoka.taylor_adaptive_batch(system, state, tol=tolerance, pars=np.ones((self.num_p, self.batch)))
        else:
            self.integrator = heyoka.taylor_adaptive(system, np.ones(size), tol=tolerance, pars=np.ones(self.num_p))
        self.compile = time.perf_counter() - start
        self.state, self.pars = self.integrator.state, self.integrator.pars    # views: the getters cost time
        self.start_state = self.state.copy()    # with the variations of the start, which are 0
        self.steps = None

    def run(self) -> dict[str, float]:
        steps = self._run_batches() if self.batch > 1 else self._run_one()
        return {"accepted": steps, "rejected": 0}

    def _run_batches(self) -> int:
        integrator, batch, total, state, pars = self.integrator, self.batch, 0, self.state, self.pars
        y0, p, counts = self.y0_columns, self.p_columns, self.steps is None
        for first in range(0, self.lanes.num_run, batch):
            part = slice(first, first + batch)
            integrator.set_time(0.0)
            if self.wants_gradient:
                state[:] = self.start_state
            state[:self.n] = y0[:, part]
            pars[:] = p[:, part]
            integrator.propagate_until(self.t1)
            if counts:
                total += sum(result[3] for result in integrator.propagate_res)
            self.results[:, part] = state
        if self.wants_gradient:    # once for all lanes: NumPy's calls are dear
            derivatives = self.results[self.n:].reshape(self.n, self.num_args, -1)
            self.gradient = 2 * np.einsum("il,ijl->lj", self.results[:self.n], derivatives)[:, self.first:]
        if counts:
            self.steps = total
        return self.steps

    def _run_one(self) -> int:
        integrator = self.integrator
        integrator.time = 0.0
        if self.wants_gradient:
            self.state[:] = self.start_state
        self.state[:self.n] = self.y0[0]
        self.pars[:] = self.p[0]
        steps = integrator.propagate_until(self.t1)[3]
        if self.wants_gradient:
            self.gradient = 2 * (self.state[:self.n] @ self.state[self.n:].reshape(self.n, self.num_args))[None, self.first:]
        self.results[:, 0] = self.state
        return steps

    def values(self) -> np.ndarray:
        return (self.gradient if self.wants_gradient else self.results[:self.n].T)[self.lanes.look]


if __name__ == "__main__":
    serve(Heyoka)
