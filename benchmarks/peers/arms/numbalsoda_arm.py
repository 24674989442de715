"""numbalsoda: LSODA and DOP853 called from a loop over lanes that numba compiles, as its documentation shows."""

import time

import numba
import numpy as np
from numbalsoda import dop853, lsoda, lsoda_sig

import problems
from serve import Arm, Lanes, serve


class NumbaLsoda(Arm):
    def __init__(self, options: dict[str, str]):
        self.lanes = Lanes(options)
        problem = problems.problem(options)
        self.y0, self.p, self.t_eval = problem.y0[self.lanes.run].copy(), problem.p[self.lanes.run].copy(), np.array([0.0, problem.t1])
        self.setting = f"{options['method']}, right-hand side by @cfunc, loop over lanes by @njit"
        self.tolerance, self.atol_ratio, self.end = 1e-6, float(options.get("atol_ratio", 1)), None
        start = time.perf_counter()
        size, num_p, field, method = problem.state_size, problem.parameter_size, numba.njit(problem.field), {"lsoda": lsoda, "dop853": dop853}[options["method"]]

        @numba.cfunc(lsoda_sig)
        def right_hand_side(t, y, dy, p):
            value = field(t, numba.carray(y, (size,)), numba.carray(p, (num_p,)))
            for i in range(size):
                dy[i] = value[i]

        address = right_hand_side.address

        @numba.njit
        def all_lanes(y0, p, t_eval, rtol, atol, end):
            good = True
            for lane in range(y0.shape[0]):
                solution, success = method(address, y0[lane], t_eval, p[lane], rtol, atol, 1_000_000)
                end[lane] = solution[1]
                good = good and success
            return good

        self.all_lanes = all_lanes
        self.end = np.empty_like(self.y0)
        all_lanes(self.y0[:1], self.p[:1], self.t_eval, 1e-3, 1e-3 * self.atol_ratio, self.end[:1])
        self.compile = time.perf_counter() - start

    def set_tolerance(self, tolerance: float) -> None:
        self.tolerance = tolerance

    def run(self) -> dict[str, float]:
        if not self.all_lanes(self.y0, self.p, self.t_eval, self.tolerance, self.tolerance * self.atol_ratio, self.end):
            self.end[:] = np.nan
        return {}

    def values(self) -> np.ndarray:
        return self.end[self.lanes.look]


if __name__ == "__main__":
    serve(NumbaLsoda)
