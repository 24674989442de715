"""The equations of the cases in Python, written once for NumPy, JAX, PyTorch, numba and heyoka: f(t, y, p) takes indexable y and p and
returns a tuple. native/equations.hpp has the same for eddy. Inputs are made here and nowhere else; C++ reads them from files."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import kinetics


@dataclass(frozen=True)
class Problem:
    field: Callable
    state_size: int
    parameter_size: int
    t1: float
    y0: np.ndarray      # (lane, component)
    p: np.ndarray       # (lane, parameter)


def lorenz(t, y, p):
    return p[0] * (y[1] - y[0]), y[0] * (p[1] - y[2]) - y[1], y[0] * y[1] - p[2] * y[2]


def van_der_pol(t, y, p):
    return y[1], p[0] * (1.0 - y[0] * y[0]) * y[1] - y[0]


def ring_source(size: int) -> str:
    terms = (f"(y[{(i + 1) % size}] - y[{(i - 2) % size}]) * y[{(i - 1) % size}] - p[{i}] * y[{i}] + p[{size}]" for i in range(size))
    return f"def ring(t, y, p):\n    return ({', '.join(terms)},)\n"


def ring(size: int) -> Callable:
    space: dict = {}
    exec(ring_source(size), space)    # numba and heyoka want a function of fixed size
    return space["ring"]


def scattered(lanes: int) -> np.ndarray:
    """Evenly in (0, 1), neighbours far apart: multiples of the golden ratio."""
    return ((np.arange(lanes) + 1) * (math.sqrt(5) - 1) / 2) % 1


def problem(options: dict[str, str]) -> Problem:
    lanes = int(options["lanes"])
    part = np.linspace(0, 1, lanes) if lanes > 1 else np.array([4 / 3])
    if options["problem"] == "lorenz":
        p = np.stack([np.full(lanes, 10.0), 21 * part, np.full(lanes, 8 / 3)], 1)
        return Problem(lorenz, 3, 3, 1.0, np.tile([1.0, 0.0, 0.0], (lanes, 1)), p)
    if options["problem"] == "van_der_pol":
        return Problem(van_der_pol, 2, 1, 20.0, np.tile([2.0, 0.0], (lanes, 1)), 100 ** scattered(lanes)[:, None])
    if options["problem"] == "ring":
        size = int(options["size"])
        damping = np.geomspace(1, float(options["stiffness"]), size)
        p = np.concatenate([np.tile(damping, (lanes, 1)), float(options["forcing"]) * part[:, None]], 1)
        y0 = np.tile(1 + 0.5 * np.cos(np.arange(size)), (lanes, 1))
        return Problem(ring(size), size, size + 1, 2.0, y0, p)
    if network := kinetics.NETWORKS.get(options["problem"]):
        y0, p = np.tile(network.y0, (lanes, 1)), kinetics.rates(network, lanes)
        return Problem(network.field(), len(network.y0), len(network.p0), kinetics.end_time(options), y0, p)
    raise ValueError(f"no problem is called {options['problem']}")
