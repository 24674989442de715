"""The fit of case 11 by SciPy: `least_squares` by Levenberg and Marquardt's method, derivatives by differences, residuals from
`odeint` (LSODA), the fastest of SciPy's integrators for it."""

import numpy as np
from scipy.integrate import odeint
from scipy.optimize import least_squares

import lynx_hare
from serve import Arm, serve


class ScipyFit(Arm):
    setting = "least_squares, method lm, 2-point differences, odeint (LSODA), rtol = atol = 1e-8"

    def __init__(self, options: dict[str, str]):
        self.starts = lynx_hare.starts(options)
        self.years, self.logs = lynx_hare.data()
        self.check = int(options["check"])

    def residuals(self, unknowns: np.ndarray) -> np.ndarray:
        if not np.all(np.abs(unknowns) < 300):
            return np.full(self.logs.size, 1e3)
        a, b, c, d, hare, lynx = np.exp(unknowns)
        with np.errstate(all="ignore"):
            states, told = odeint(lambda y, t: (a * y[0] - b * y[0] * y[1], d * y[0] * y[1] - c * y[1]), (hare, lynx), self.years,
                                  rtol=1e-8, atol=1e-8, mxstep=20_000, full_output=True, printmessg=False)
            found = (np.log(states) - self.logs).ravel() if told["message"] == "Integration successful." else np.full(self.logs.size, 1e3)
        return np.where(np.isfinite(found), found, 1e3)

    def run(self) -> dict[str, float]:
        self.sums, evaluations = [], 0
        for start in self.starts:
            fit = least_squares(self.residuals, start, method="lm", ftol=1e-10, xtol=1e-10, max_nfev=2000)
            self.sums.append(2 * fit.cost)
            evaluations += fit.nfev
        return lynx_hare.found(self.sums)

    def values(self) -> np.ndarray:
        return lynx_hare.best_over_known(self.sums, self.check)


if __name__ == "__main__":
    serve(ScipyFit)
