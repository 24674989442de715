"""torchode: every lane has step sizes of its own, all lanes step together until the slowest is done; gradients by backpropagation
(AutoDiffAdjoint). `compiled` is `torch.compile` around the solver, as its README shows."""

import time

import numpy as np
import torch
import torchode

import problems
from serve import Arm, Lanes, serve


class Torchode(Arm):
    def __init__(self, options: dict[str, str]):
        torch.set_num_threads(int(options.get("cores", 1)))
        torch.set_default_dtype(torch.float64)
        self.device = "cuda" if options.get("device") == "gpu" else "cpu"
        torch.set_default_device(self.device)
        self.lanes, self.task = Lanes(options), options["task"]
        problem = problems.problem(options)
        field = problem.field
        self.p = torch.tensor(problem.p[self.lanes.run], requires_grad=self.task == "gradient")
        self.y0 = torch.tensor(problem.y0[self.lanes.run])
        self.starts, self.ends = torch.zeros(self.lanes.num_run), torch.full((self.lanes.num_run,), problem.t1)
        self.term = torchode.ODETerm(lambda t, y, p: torch.stack(field(t, y.unbind(1), p.unbind(1)), 1), with_args=True)
        self.compiled, self.method = bool(options.get("compiled")), options["method"]
        self.setting = f"{self.method}, IntegralController, AutoDiffAdjoint, {'torch.compile around the solver' if self.compiled else 'eager'}, float64"
        start = time.perf_counter()
        self.set_tolerance(1e-6)
        if self.compiled:
            self.run()
        self.compile = time.perf_counter() - start

    def set_tolerance(self, tolerance: float) -> None:
        # The tolerance is a buffer of the controller: a compiled solver needs no other compilation for another one.
        if hasattr(self, "controller"):
            with torch.no_grad():
                self.controller.atol.fill_(tolerance)
                self.controller.rtol.fill_(tolerance)
            return
        method = getattr(torchode, self.method)(term=self.term)
        self.controller = torchode.IntegralController(atol=tolerance, rtol=tolerance, term=self.term)
        self.controller.atol, self.controller.rtol = torch.tensor(tolerance), torch.tensor(tolerance)
        self.solver = torchode.AutoDiffAdjoint(method, self.controller)
        self.solve = torch.compile(self.solver.solve) if self.compiled else self.solver.solve

    def run(self) -> dict[str, float]:
        problem = torchode.InitialValueProblem(y0=self.y0, t_start=self.starts, t_end=self.ends, t_eval=self.ends[:, None])
        if self.task == "gradient":
            self.p.grad = None
            solution = self.solve(problem, args=self.p)
            (solution.ys[:, -1] ** 2).sum().backward()
            self.result = self.p.grad
        else:
            with torch.no_grad():
                solution = self.solve(problem, args=self.p)
            self.result = solution.ys[:, -1]
        if self.result.is_cuda:
            torch.cuda.synchronize()
        accepted, steps = float(solution.stats["n_accepted"].sum()), float(solution.stats["n_steps"].sum())
        return {"accepted": accepted, "rejected": steps - accepted}

    def values(self) -> np.ndarray:
        return self.result.detach().cpu().numpy()[self.lanes.look]


if __name__ == "__main__":
    serve(Torchode)
