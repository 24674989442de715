"""What all arms are judged by: DOP853 in 80-bit numbers, each lane with step sizes of its own, at a tolerance of 1e-16; gradients by a
complex step, which is exact to rounding. SciPy's DOP853 at 1e-13 must agree. Stiff cases have theirs in stiff_reference.py. Leaves y0 and p
for the arms in C++ beside it."""

import hashlib
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp
from scipy.integrate._ivp import dop853_coefficients as dop853

import neural
import noise
import problems
import stiff_reference
from kinetics import NETWORKS
from serve import Arm, serve

REAL, COMPLEX = np.longdouble, np.clongdouble
STAGES = dop853.N_STAGES
A, B, E3, E5 = (np.asarray(table, dtype=REAL) for table in (dop853.A[:STAGES, :STAGES], dop853.B, dop853.E3, dop853.E5))
C = np.asarray(dop853.C[:STAGES], dtype=REAL)


def integrate(field, y0: np.ndarray, p: np.ndarray, t1: float, tolerance: float = 1e-16) -> np.ndarray:
    """y(t1) of all lanes; y0 and p: (component, lane). Errors are judged on real parts, so that a complex step takes the same steps."""
    y, t = y0.copy(), np.zeros(y0.shape[1], REAL)
    h = np.full_like(t, t1 / 256)
    while np.any(t < t1):
        h = np.minimum(h, t1 - t)
        k = []
        for stage in range(STAGES):
            at = y + h * sum((A[stage, j] * k[j] for j in range(stage) if A[stage, j] != 0), np.zeros_like(y))
            k.append(np.stack(np.broadcast_arrays(*field(t + C[stage] * h, at, p))))
        new = y + h * sum(B[i] * k[i] for i in range(STAGES))
        scale = tolerance * (1 + np.maximum(np.abs(y.real), np.abs(new.real)))
        norm = error_norm([stage.real for stage in k], h, scale)
        accepted = (norm <= 1) & (t < t1)
        y, t = np.where(accepted, new, y), np.where(accepted, np.where(t + h >= t1, t1, t + h), t)
        h = h * np.clip(REAL(0.9) * norm ** (REAL(-1) / 8), REAL(0.2), REAL(5))
    return y


def error_norm(k: list[np.ndarray], h: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """That of DOP853: two estimates, of which one corrects the other."""
    fifth, third = (np.mean((h * sum(table[i] * k[i] for i in range(STAGES)) / scale) ** 2, 0) for table in (E5, E3))
    return fifth / np.sqrt(fifth + REAL(0.01) * third + REAL(1e-60)) + REAL(1e-30)


def gradient(field, y0: np.ndarray, p: np.ndarray, t1: float) -> np.ndarray:
    """Of |y(t1)|² with respect to p, (parameter, lane)."""
    tiny = REAL(1e-40)
    columns = []
    for i in range(p.shape[0]):
        moved = p.astype(COMPLEX)
        moved[i] += 1j * tiny
        y = integrate(field, y0.astype(COMPLEX), moved, t1)
        columns.append((y * y).sum(0).imag / tiny)
    return np.stack(columns)


def confirm(problem: problems.Problem, y: np.ndarray, lanes: range) -> None:
    for lane in list(lanes)[:: max(1, len(lanes) // 4)]:
        field = problem.field
        solved = solve_ivp(lambda t, y: field(t, y, problem.p[lane]), (0, problem.t1), problem.y0[lane], "DOP853", rtol=1e-13, atol=1e-13)
        difference = np.linalg.norm(solved.y[:, -1] - y[:, list(lanes).index(lane)].astype(float))
        if not difference < 1e-10:
            raise ArithmeticError(f"SciPy's DOP853 differs from the reference by {difference:.1e} in lane {lane}")


def _sources(options: dict[str, str]) -> tuple[str, ...]:
    stiff = ("stiff_reference.py", "kinetics.py") if options["problem"] in NETWORKS else ()
    return ("reference.py", "problems.py", *stiff)


class Reference(Arm):
    setting = "DOP853 in 80-bit numbers"

    def __init__(self, options: dict[str, str]):
        folder = Path(options["inputs"])
        folder.mkdir(parents=True, exist_ok=True)
        if options["problem"] == "neural":
            self.result = neural.reference(options, folder)
            return
        if options["problem"] == "geometric_brownian":
            self.result = np.asarray(noise.reference(options, folder))
            return
        if options["problem"] == "lynx_hare":
            self.result = np.ones(int(options["check"]))    # arms tell how far they are from the optimum
            return
        problem = problems.problem(options)
        problem.y0.astype(float).tofile(folder / "y0")
        problem.p.astype(float).tofile(folder / "p")
        # The text of this file and of the problems is part of the key: a cache must not outlive what made it.
        text = b"".join(Path(__file__).with_name(name).read_bytes() for name in _sources(options))
        cache = folder / f"{options['task']}_{hashlib.sha256(text).hexdigest()[:12]}.npy"
        if cache.is_file():
            self.result = np.load(cache)
            return
        lanes = range(0, int(options["lanes"]), int(options["lanes"]) // int(options["check"]))
        y0, p = problem.y0[list(lanes)].T.astype(REAL), problem.p[list(lanes)].T.astype(REAL)
        wants_gradient = options["task"] in ("gradient", "memory")
        if network := NETWORKS.get(options["problem"]):
            y = stiff_reference.integrate(network, y0, p, problem.t1)
            stiff_reference.confirm(network, y0, p, problem.t1, y)
            result = stiff_reference.gradient(network, y0, p, problem.t1) if wants_gradient else y
        else:
            y = integrate(problem.field, y0, p, problem.t1)
            confirm(problem, y, lanes)
            result = gradient(problem.field, y0, p, problem.t1) if wants_gradient else y
        self.result = result.T.astype(float)
        np.save(cache, self.result)

    def values(self) -> np.ndarray:
        return self.result


if __name__ == "__main__":
    serve(Reference)
