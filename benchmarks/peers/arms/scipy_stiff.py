"""SciPy's solve_ivp for stiff equations, one trajectory after another, with the Jacobian by hand."""

import numpy as np
from scipy.integrate import solve_ivp

import problems
from kinetics import NETWORKS
from serve import Arm, Lanes, serve


class ScipyStiff(Arm):
    def __init__(self, options: dict[str, str]):
        lanes, self.method, self.atol_ratio = Lanes(options), options["method"], float(options["atol_ratio"])
        problem = problems.problem(options)
        self.lanes, self.t1, self.field, self.network = lanes, problem.t1, problem.field, NETWORKS[options["problem"]]
        self.y0, self.p, self.tolerance = problem.y0[lanes.run], problem.p[lanes.run], 1e-6
        self.setting = f"solve_ivp, {self.method}, right-hand side and dense Jacobian in plain Python"

    def set_tolerance(self, tolerance: float) -> None:
        self.tolerance = max(tolerance, 3e-14)

    def run(self) -> dict[str, float]:
        solved = [self._solve(y, p.tolist()) for y, p in zip(self.y0, self.p)]
        self.result = np.stack([one.y[:, -1] if one.success else np.full(len(one.y), np.nan) for one in solved])
        return {"accepted": sum(len(one.t) - 1 for one in solved), "evaluations": sum(one.nfev for one in solved)}

    def _solve(self, y0, p):
        return solve_ivp(lambda t, y: self.field(t, y, p), (0, self.t1), y0, self.method, rtol=self.tolerance,
                         atol=self.tolerance * self.atol_ratio, jac=lambda t, y: self.network.dense_jacobian(y, p))

    def values(self) -> np.ndarray:
        return self.result[self.lanes.look]


if __name__ == "__main__":
    serve(ScipyStiff)
