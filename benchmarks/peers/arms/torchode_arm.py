"""torchode: every lane has step sizes of its own, all lanes step together until the slowest is done; gradients by backpropagation
(AutoDiffAdjoint). `compiled` is `torch.compile` around the solver, as its README shows."""

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
        self.setting = f"{self.method}, IntegralController, AutoDiffAdjoint, {'torch.compile around the solver, in its first call' if self.compiled else 'eager'}, float64"
        self.set_tolerance(1e-6)

    def set_tolerance(self, tolerance: float) -> None:
        """A compiled solver holds the tolerance as a constant: it is compiled anew, in the first run that follows."""
        method = getattr(torchode, self.method)(term=self.term)
        controller = torchode.IntegralController(atol=tolerance, rtol=tolerance, term=self.term)
        controller.atol, controller.rtol = torch.tensor(tolerance), torch.tensor(tolerance)    # not rounded to single precision
        solver = torchode.AutoDiffAdjoint(method, controller)
        if self.compiled:
            torch._dynamo.reset()
        self.solve = torch.compile(solver.solve) if self.compiled else solver.solve

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
