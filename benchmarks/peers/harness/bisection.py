"""Tolerances mean something else in each solver: the one that reaches an error is found by bisection."""

import math
from collections.abc import Callable
from dataclasses import dataclass

DECADES = (-15.5, 0.0)
PRECISION = 0.02    # decades
CLOSE = 0.8         # of the target: an error between that and the target needs no better tolerance; each trial may compile anew


@dataclass(frozen=True)
class Tuned:
    tolerance: float
    error: float


def tune(error_of: Callable[[float], float], target: float, start: float | None = None) -> Tuned:
    """A tolerance whose error is at most `target` and close to it, or the largest found that keeps to it; where none does, the
    tolerance with the least error.

    Errors are taken to grow with the tolerance, roughly: beside the middle of the bracket nothing is assumed. The bracket begins at
    `start`, where a tolerance is to be expected, and is widened until it holds the target."""
    tried: dict[float, float] = {}

    def error_at(decade: float) -> float:
        if decade not in tried:
            tried[decade] = error_of(10.0 ** decade)
        return tried[decade]

    low, high = DECADES
    middle = min(max(math.log10(start or target), low), high)
    step = 0.5
    if error_at(middle) <= target:
        low = middle
        while low < high and error_at(probe := min(low + step, high)) <= target:
            low, step = probe, 2 * step
        high = min(low + step, high)
    else:
        high = middle
        while high > low and error_at(probe := max(high - step, low)) > target:
            high, step = probe, 2 * step
        low = max(high - step, low)
    while high - low > PRECISION and not any(CLOSE * target <= error <= target for error in tried.values()):
        middle = (low + high) / 2
        low, high = (middle, high) if error_at(middle) <= target else (low, middle)

    good = [decade for decade, error in tried.items() if error <= target]
    best = max(good) if good else min(tried, key=lambda decade: (tried[decade], -decade))
    return Tuned(10.0 ** best, tried[best])
