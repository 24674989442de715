"""SciPy's solve_ivp, one trajectory; gradients by variational equations, since SciPy has none of its own."""

import numpy as np
from scipy.integrate import solve_ivp

import problems
from serve import Arm, Lanes, serve


def lorenz_variational(t, z, s, r, b):
    """z: y, then dy/ds, dy/dr, dy/db."""
    x, y, w = z[:3]
    out = np.empty(12)
    out[0], out[1], out[2] = s * (y - x), x * (r - w) - y, x * y - b * w
    d = z[3:].reshape(3, 3)    # (parameter, component)
    rate = out[3:].reshape(3, 3)
    rate[:, 0] = s * (d[:, 1] - d[:, 0])
    rate[:, 1] = (r - w) * d[:, 0] - d[:, 1] - x * d[:, 2]
    rate[:, 2] = y * d[:, 0] + x * d[:, 1] - b * d[:, 2]
    rate[0, 0] += y - x
    rate[1, 1] += x
    rate[2, 2] -= w
    return out


class Scipy(Arm):
    def __init__(self, options: dict[str, str]):
        self.lanes, self.method = Lanes(options), options["method"]
        problem = problems.problem(options)
        self.problem, self.tolerance = problem, 1e-6
        self.wants_gradient = options["task"] == "gradient"
        self.setting = f"solve_ivp, {self.method}" + (", variational equations in NumPy" if self.wants_gradient else ", plain Python right-hand side")

    def set_tolerance(self, tolerance: float) -> None:
        self.tolerance = max(tolerance, 3e-14)

    def run(self) -> dict[str, float]:
        y0, p = self.problem.y0[0], self.problem.p[0]
        if self.wants_gradient:
            field, start = lorenz_variational, np.concatenate([y0, np.zeros(9)])
            solved = solve_ivp(field, (0, self.problem.t1), start, self.method, args=tuple(p), rtol=self.tolerance, atol=self.tolerance)
            end = solved.y[:, -1]
            self.result = 2 * end[3:].reshape(3, 3) @ end[:3]
        else:
            field = self.problem.field
            solved = solve_ivp(lambda t, y: field(t, y, p), (0, self.problem.t1), y0, self.method, rtol=self.tolerance, atol=self.tolerance)
            self.result = solved.y[:, -1]
        return {"accepted": len(solved.t) - 1, "evaluations": solved.nfev}

    def values(self) -> np.ndarray:
        return self.result


if __name__ == "__main__":
    serve(Scipy)
