"""diffsol, heyoka and CasADi with models that are text until the program runs: the tasks of native/eddy_runtime.cpp."""

import time
from pathlib import Path

import numpy as np

from models import MODELS
from serve import Arm, Lanes, serve

CALLS = 256     # of a function in one run, with 64 trajectories each, or as many evaluations in larger calls
PER_CALL = (64, 256, 1024, 4096)    # trajectories, of which the fastest is taken


class Diffsol(Arm):
    """Tsit5, a dense matrix of nalgebra: the fastest of its three for one trajectory. All of its tolerances are one."""

    def __init__(self, options: dict[str, str]):
        import pydiffsol
        self.lib, self.model, self.task = pydiffsol, MODELS[options["problem"]], options["task"]
        self.lanes = Lanes(options)
        self.p = self.model.inputs(int(options["lanes"]))[1][self.lanes.run]
        self.end = np.array([self.model.t1])
        self.text = self.model.diffsl()
        start = time.perf_counter()
        self.ode = self.make()
        self.compile = time.perf_counter() - start
        self.setting = "tsit45, nalgebra_dense, LLVM"

    def make(self):
        return self.lib.Ode(self.text, matrix_type=self.lib.nalgebra_dense, ode_solver=self.lib.tsit45)

    def set_tolerance(self, tolerance: float) -> None:
        self.tolerance = tolerance
        self.set_to(self.ode)

    def set_to(self, ode) -> None:
        ode.rtol = ode.atol = ode.sens_rtol = ode.sens_atol = ode.param_rtol = ode.param_atol = self.tolerance

    def run(self) -> None:
        if self.task == "first":
            self.ode = self.make()
            self.set_to(self.ode)
        of_lane = self.gradient if self.task == "gradient" else self.solve
        self.results = [of_lane(p) for p in self.p]

    def solve(self, p: np.ndarray) -> np.ndarray:
        return self.ode.solve_dense(p, self.end).ys

    def gradient(self, p: np.ndarray) -> np.ndarray:
        solution, checkpoint = self.ode.solve_adjoint_fwd(p, self.end)
        return self.ode.solve_adjoint_bkwd(solution, checkpoint, 2 * solution.ys)

    def values(self) -> np.ndarray:
        return np.array(self.results).reshape(len(self.results), -1)[self.lanes.look]


class Functions(Arm):
    """f, or f and its vector–Jacobian product whose cotangent is y, of many trajectories in a call."""

    def __init__(self, options: dict[str, str]):
        self.model, self.wants_vjp = MODELS[options["problem"]], options["task"] == "vjp"
        self.lanes = Lanes(options)
        self.y, self.p = self.model.inputs(self.lanes.num_run)
        start = time.perf_counter()
        self.choose()
        self.compile = time.perf_counter() - start

    def set_tolerance(self, tolerance: float) -> None:
        pass

    def columns(self, lanes: int) -> np.ndarray:
        """y, p and the cotangent, (component, trajectory)."""
        again = lanes // self.lanes.num_run
        parts = [self.y, self.p, self.y] if self.wants_vjp else [self.y, self.p]
        return np.ascontiguousarray(np.tile(np.hstack(parts).T, (1, again)))

    def values(self) -> np.ndarray:
        n = len(self.y[0])
        columns = self.columns_out[:, :self.lanes.num_run]
        return columns[n:].T if self.wants_vjp else columns.T

    def fastest(self, candidates: dict) -> None:
        """The call that costs least for a trajectory, of those that `candidates` makes: (call, trajectories of it)."""
        best = np.inf
        for name, (call, lanes) in candidates.items():
            self.call, self.per_call = call, lanes
            taken = min(self.seconds() for _ in range(4))
            if taken < best:
                best, fastest = taken, (call, lanes, name)
        self.call, self.per_call, self.setting = fastest

    def seconds(self) -> float:
        start = time.process_time()
        self.run()
        return time.process_time() - start

    def run(self) -> None:
        for _ in range(CALLS * self.lanes.num_run // self.per_call):
            self.columns_out = self.call()


class Heyoka(Functions):
    def choose(self) -> None:
        import heyoka
        y, p = heyoka.make_vars(*self.model.states), heyoka.make_vars(*self.model.parameters)
        heyoka.set_nthreads(1)
        results, variables = self.model.evaluate(y, p), [*y, *p]
        if self.wants_vjp:
            c = heyoka.make_vars(*(f"c{i}" for i in range(len(y))))
            along = heyoka.sum([a * b for a, b in zip(c, results)])
            derivatives = heyoka.diff_tensors([along], diff_args=variables, diff_order=1)
            results, variables = results + list(derivatives.gradient), variables + [*c]
        candidates = {}
        for compact in (False, True):
            function = heyoka.cfunc(results, vars=variables, compact_mode=compact)
            for lanes in PER_CALL:
                given, out = self.columns(lanes), np.empty((len(results), lanes))
                candidates[f"cfunc, compact_mode {'on' if compact else 'off'}, {lanes} a call"] = (
                    lambda function=function, given=given, out=out: function(given, outputs=out), lanes)
        self.fastest(candidates)


class Casadi(Functions):
    def choose(self) -> None:
        import casadi
        y, p = casadi.SX.sym("y", len(self.model.states)), casadi.SX.sym("p", len(self.model.parameters))
        f = casadi.vertcat(*self.model.evaluate(casadi.vertsplit(y), casadi.vertsplit(p)))
        given, results = [y, p], [f]
        if self.wants_vjp:
            c = casadi.SX.sym("c", len(self.model.states))
            given, results = [y, p, c], [f, casadi.jtimes(f, casadi.vertcat(y, p), c, True)]
        function = casadi.Function("f", [casadi.vertcat(*given)], [casadi.vertcat(*results)])
        candidates = {}
        for lanes in PER_CALL:
            mapped = function.map(lanes, "serial")
            buffer, evaluate = mapped.buffer()
            # A trajectory after another. Both arrays are kept by the call that reads them.
            entries, out = np.ascontiguousarray(self.columns(lanes).T), np.empty((lanes, mapped.size1_out(0)))
            buffer.set_arg(0, memoryview(entries))
            buffer.set_res(0, memoryview(out))
            candidates[f"SX, map of {lanes}, buffers"] = (
                lambda evaluate=evaluate, kept=(mapped, buffer, entries, out): (evaluate(), kept[3].T)[1], lanes)
        self.fastest(candidates)


if __name__ == "__main__":
    serve(lambda options: {"diffsol": Diffsol, "heyoka": Heyoka, "casadi": Casadi}[options["peer"]](options))
