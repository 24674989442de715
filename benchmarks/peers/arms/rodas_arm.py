"""Hairer and Wanner's RODAS in Fortran, as the package Assimulo has it compiled: called from a loop over lanes that numba compiles, with
right-hand side and exact Jacobian compiled by numba as well. Assimulo itself would call both in Python."""

import ctypes
import importlib.util
import time

import numba
import numpy as np
from numba import types

import problems
from kinetics import NETWORKS
from serve import Arm, Lanes, serve

NUM_ARGUMENTS = 29


def rodas():
    """Its Fortran routine, whose arguments are addresses."""
    library = ctypes.CDLL(importlib.util.find_spec("assimulo.lib.rodas").origin)
    function = library.rodas_
    function.argtypes, function.restype = [ctypes.c_int64] * NUM_ARGUMENTS, None
    return function


@numba.njit
def address(array):
    return np.int64(array.ctypes.data)


def callbacks(network, field, size: int, num_p: int):
    """FCN and JAC as RODAS calls them; the rates come in RPAR."""
    f, fill = numba.njit(field), numba.njit(network.jacobian_filler())
    integer, double = types.CPointer(types.int32), types.CPointer(types.float64)

    @numba.cfunc(types.void(integer, double, double, double, double, integer))
    def right_hand_side(_n, _t, y, dy, p, _ipar):
        value = f(0.0, numba.carray(y, (size,)), numba.carray(p, (num_p,)))
        for i in range(size):
            dy[i] = value[i]

    @numba.cfunc(types.void(integer, double, double, double, integer, double, integer))
    def jacobian(_n, _t, y, matrix, _rows, p, _ipar):
        by_state = numba.farray(matrix, (size, size))
        by_state[:] = 0.0
        fill(numba.carray(y, (size,)), numba.carray(p, (num_p,)), by_state)

    return right_hand_side, jacobian


class Rodas(Arm):
    setting = "RODAS, predictive controller, dense; right-hand side and exact Jacobian by @cfunc, loop over lanes by @njit"

    def __init__(self, options: dict[str, str]):
        self.lanes, problem = Lanes(options), problems.problem(options)
        self.y0, self.p = problem.y0[self.lanes.run].copy(), problem.p[self.lanes.run].copy()
        self.tolerance, self.atol_ratio, self.end = 1e-6, float(options["atol_ratio"]), np.empty_like(self.y0)
        start = time.perf_counter()
        size = problem.state_size
        self.kept = callbacks(NETWORKS[options["problem"]], problem.field, size, problem.parameter_size)
        f, jac = (callback.address for callback in self.kept)
        call, t1 = rodas(), problem.t1

        @numba.njit
        def all_lanes(y0, p, rtol, atol, end, counts):
            # N, IFCN, ITOL, IJAC, MLJAC, MUJAC, IDFX, IMAS, MLMAS, MUMAS, IOUT, LWORK, LIWORK, IPAR, IDID
            whole = np.array([size, 0, 0, 1, size, 0, 0, 0, 0, 0, 0, size * (2 * size + 14) + 20, size + 20, 0, 0], dtype=np.int32)
            number = np.array([0.0, t1, 1e-6, rtol, atol])    # X, XEND, H, RTOL, ATOL
            work, iwork = np.zeros(whole[11]), np.zeros(whole[12], dtype=np.int32)
            for lane in range(y0.shape[0]):
                end[lane] = y0[lane]
                work[:20], iwork[:20] = 0.0, 0
                iwork[0] = 1_000_000
                number[0], number[2] = 0.0, 1e-6
                i, x = address(whole), address(number)
                call(i, f, i + 4, x, address(end[lane]), x + 8, x + 16, x + 24, x + 32, i + 8, jac, i + 12, i + 16, i + 20, f, i + 24, f, i + 28,
                     i + 32, i + 36, f, i + 40, address(work), i + 44, address(iwork), i + 48, address(p[lane]), i + 52, i + 56)
                if whole[14] < 0:
                    end[lane] = np.nan
                counts += iwork[13:18]

        self.all_lanes = all_lanes
        all_lanes(self.y0[:1], self.p[:1], 1e-3, 1e-3 * self.atol_ratio, self.end[:1], np.zeros(5, np.int64))
        self.compile = time.perf_counter() - start

    def set_tolerance(self, tolerance: float) -> None:
        self.tolerance = tolerance

    def run(self) -> dict[str, float]:
        counts = np.zeros(5, np.int64)    # evaluations, Jacobians, steps, accepted, rejected
        self.all_lanes(self.y0, self.p, self.tolerance, self.tolerance * self.atol_ratio, self.end, counts)
        return {"accepted": counts[3], "rejected": counts[4], "evaluations": counts[0]}

    def values(self) -> np.ndarray:
        return self.end[self.lanes.look]


if __name__ == "__main__":
    serve(Rodas)
