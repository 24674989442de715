"""The stochastic equation of case 9 in PyTorch: torchsde, or a loop by hand."""

import math

import numpy as np
import torch

import noise
from serve import Arm, Lanes, serve


class Geometric(torch.nn.Module):
    noise_type, sde_type = "diagonal", "ito"

    def __init__(self):
        super().__init__()
        self.mu, self.sigma = (torch.nn.Parameter(torch.tensor(value)) for value in (noise.MU, noise.SIGMA))

    def f(self, t, y):
        return self.mu * y

    def g(self, t, y):
        return self.sigma * y


class TorchNoise(Arm):
    def __init__(self, options: dict[str, str]):
        torch.set_num_threads(int(options.get("cores", 1)))
        torch.set_default_dtype(torch.float64)
        torch.manual_seed(7)
        self.steps, self.lanes = int(options["steps"]), Lanes(options).num_run
        self.wants_gradient = options["task"] == "noise-gradient"
        self.equation, self.y0 = Geometric(), torch.ones(self.lanes, 1)
        if options["library"] == "torchsde":
            import torchsde
            self.sdeint = torchsde.sdeint
            self.end, self.setting = self.by_torchsde, "sdeint, euler, BrownianInterval as sdeint makes it"
        else:
            self.end, self.setting = self.by_hand, "a loop over tensors, in place where nothing is differentiated, normals in single precision"
        self.setting += ", backpropagation through the steps" if self.wants_gradient else ", no_grad"

    def by_torchsde(self) -> torch.Tensor:
        return self.sdeint(self.equation, self.y0, torch.tensor([0.0, 1.0]), method="euler", dt=1 / self.steps)[-1]

    def by_hand(self) -> torch.Tensor:
        h, y, z = 1 / self.steps, self.y0.clone(), torch.empty(self.y0.shape, dtype=torch.float32)
        drift, diffusion = 1 + self.equation.mu * h, self.equation.sigma * math.sqrt(h)
        for _ in range(self.steps):
            factor = drift + diffusion * z.normal_().double()
            y = y * factor if self.wants_gradient else y.mul_(factor)
        return y

    def run(self) -> dict[str, float]:
        if self.wants_gradient:
            self.equation.zero_grad(set_to_none=True)
            (self.end() ** 2).mean().backward()
            self.result = [self.equation.mu.grad, self.equation.sigma.grad]
        else:
            with torch.no_grad():
                y = self.end()
                self.result = [y.mean(), (y * y).mean()]
        return {"accepted": self.steps * self.lanes}

    def values(self) -> np.ndarray:
        return np.array([float(value) for value in self.result])


if __name__ == "__main__":
    serve(TorchNoise)
