"""The stochastic equation of case 9, dy = μ y dt + σ y dW, by Euler's and Maruyama's method. Every arm draws noise of its own: what they are
judged by are moments, which the method's steps have exactly."""

from array import array
from pathlib import Path

MU, SIGMA = 0.05, 0.4


def moments(steps: int) -> tuple[float, float]:
    """E y(1) and E y(1)² of the computed steps, from y(0) = 1."""
    h = 1 / steps
    return (1 + MU * h) ** steps, _growth(h) ** steps


def slopes(steps: int) -> tuple[float, float]:
    """The derivatives of E y(1)² with respect to μ and σ."""
    h = 1 / steps
    outer = steps * _growth(h) ** (steps - 1)
    return outer * 2 * h * (1 + MU * h), outer * 2 * h * SIGMA


def _growth(h: float) -> float:
    return (1 + MU * h) ** 2 + SIGMA ** 2 * h


def reference(options: dict[str, str], folder: Path) -> list[float]:
    lanes, steps = int(options["lanes"]), int(options["steps"])
    for name, numbers in (("y0", [1.0]), ("p", [MU, SIGMA])):
        with open(folder / name, "wb") as file:
            array("d", numbers * lanes).tofile(file)
    return list(slopes(steps) if options["task"] == "noise-gradient" else moments(steps))
