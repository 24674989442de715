"""The neural ODE of case 5 in PyTorch, by torchdiffeq or torchode."""

import time

import numpy as np
import torch
import torchdiffeq
import torchode

import neural
from serve import Arm, serve


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        w = [torch.tensor(part, dtype=torch.float32) for part in neural.weights()]
        self.layers = torch.nn.ModuleList(torch.nn.Linear(columns, rows) for rows, columns in neural.SIZES)
        with torch.no_grad():
            for i, layer in enumerate(self.layers):
                layer.weight.copy_(w[2 * i])
                layer.bias.copy_(w[2 * i + 1])

    def forward(self, t, y):
        return self.layers[2](torch.tanh(self.layers[1](torch.tanh(self.layers[0](y)))))


class TorchNeural(Arm):
    def __init__(self, options: dict[str, str]):
        torch.set_num_threads(int(options.get("cores", 1)))
        torch.set_default_device("cuda" if options.get("device") == "gpu" else "cpu")
        self.steps, self.lanes = int(options["steps"]), int(options["lanes"])
        self.network = Network()
        self.y0 = torch.tensor(neural.inputs(self.lanes), dtype=torch.float32)
        start = time.perf_counter()
        self.field = torch.compile(self.network) if options.get("compiled") else self.network
        how = "right-hand side by torch.compile" if options.get("compiled") else "eager"
        if options["library"] == "torchode":
            self.end, self.setting = self.by_torchode, f"Dopri5, FixedStepController, AutoDiffAdjoint, {how}, float32"
        else:
            self.end, self.setting = self.by_torchdiffeq, f"odeint, dopri5 with first_step = min_step = max_step, {how}, float32"
        if options.get("compiled"):
            self.run()
        self.compile = time.perf_counter() - start

    def by_torchdiffeq(self) -> torch.Tensor:
        h = 1 / self.steps
        return torchdiffeq.odeint(self.field, self.y0, torch.tensor([0.0, 1.0]), method="dopri5",
                                  options={"first_step": h, "min_step": h, "max_step": h})[-1]

    def by_torchode(self) -> torch.Tensor:
        term = torchode.ODETerm(self.field)
        solver = torchode.AutoDiffAdjoint(torchode.Dopri5(term=term), torchode.FixedStepController())
        starts, ends = torch.zeros(self.lanes), torch.ones(self.lanes)
        problem = torchode.InitialValueProblem(y0=self.y0, t_start=starts, t_end=ends, t_eval=ends[:, None])
        return solver.solve(problem, dt0=torch.full((self.lanes,), 1 / self.steps)).ys[:, -1]

    def run(self) -> dict[str, float]:
        self.network.zero_grad(set_to_none=True)
        end = self.end()
        (end * end).sum().backward()
        if end.is_cuda:
            torch.cuda.synchronize()
        return {"accepted": self.steps * self.lanes}

    def values(self) -> np.ndarray:
        return neural.flat(parameter.grad.detach().cpu().numpy() for parameter in self.network.parameters())


if __name__ == "__main__":
    serve(TorchNeural)
