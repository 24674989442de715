"""torchdiffeq: all lanes are one state with one step size. Gradients by backpropagation through the solver or by `odeint_adjoint`;
`compiled` puts `torch.compile` around the right-hand side, which is what its solvers take."""

import time

import numpy as np
import torch
import torchdiffeq

import problems
from serve import Arm, Lanes, serve


class Field(torch.nn.Module):
    def __init__(self, field, p: np.ndarray):
        super().__init__()
        self.field, self.p = field, torch.nn.Parameter(torch.tensor(p.T.copy()))

    def forward(self, t, y):    # y: (component, lane), so that components are contiguous
        return torch.stack(self.field(t, y, self.p))


class Torchdiffeq(Arm):
    def __init__(self, options: dict[str, str]):
        torch.set_num_threads(int(options.get("cores", 1)))
        torch.set_default_dtype(torch.float64)
        device = "cuda" if options.get("device") == "gpu" else "cpu"
        torch.set_default_device(device)
        self.lanes, self.method, self.task = Lanes(options), options["method"], options["task"]
        problem = problems.problem(options)
        self.field = Field(problem.field, problem.p[self.lanes.run])
        self.function = torch.compile(self.field) if options.get("compiled") else self.field
        self.y0 = torch.tensor(problem.y0[self.lanes.run].T.copy())
        self.times, self.tolerance = torch.tensor([0.0, problem.t1]), 1e-6
        self.solve = torchdiffeq.odeint_adjoint if options.get("adjoint") else torchdiffeq.odeint
        self.settings = {}
        if steps := int(options.get("steps", 0)):
            h = problem.t1 / steps
            self.settings = {"options": {"step_size": h} if self.method == "rk4" else {"first_step": h, "min_step": h, "max_step": h}}
        self.setting = (f"{'odeint_adjoint' if options.get('adjoint') else 'odeint'}, {self.method}, right-hand side "
                        f"{'by torch.compile' if options.get('compiled') else 'eager'}, one step size for all lanes, float64")
        if options.get("compiled"):
            start = time.perf_counter()
            self.function(torch.tensor(0.0), self.y0)
            self.compile = time.perf_counter() - start

    def set_tolerance(self, tolerance: float) -> None:
        self.tolerance = tolerance

    def run(self) -> dict[str, float]:
        if self.task == "gradient":
            self.field.p.grad = None
            end = self.solve(self.function, self.y0, self.times, rtol=self.tolerance, atol=self.tolerance, method=self.method, **self.settings)[-1]
            (end * end).sum().backward()
            self.result = self.field.p.grad
        else:
            with torch.no_grad():
                self.result = self.solve(self.function, self.y0, self.times, rtol=self.tolerance, atol=self.tolerance, method=self.method,
                                         **self.settings)[-1]
        if self.result.is_cuda:
            torch.cuda.synchronize()
        return {}

    def values(self) -> np.ndarray:
        return self.result.detach().cpu().numpy().T[self.lanes.look]


if __name__ == "__main__":
    serve(Torchdiffeq)
