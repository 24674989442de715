"""How far a result is from the reference, and whether that is the error that was asked for."""

import math
from collections.abc import Sequence

FACTOR = 1.5    # by which an arm may miss the error that it is compared at


def relative_error(values: Sequence[float], reference: Sequence[float]) -> float:
    """|x − reference| / |reference|, in the 2-norm over all components of all lanes: a lane whose solution happens to vanish counts
    no more than the others. Infinite where something is not a number."""
    if len(values) != len(reference):
        raise ValueError(f"relative_error: {len(values)} values against {len(reference)}")
    difference = math.fsum((x - r) * (x - r) for x, r in zip(values, reference))
    norm = math.fsum(r * r for r in reference)
    error = math.sqrt(difference / norm) if norm > 0 else math.inf
    return error if math.isfinite(error) else math.inf


def worst_error(values: Sequence[float], reference: Sequence[float], components: int) -> float:
    """The largest `relative_error` of one component over all lanes: where components differ by many powers of ten, the norm of all
    would be that of the largest. Values come lane by lane."""
    if len(values) != len(reference):
        raise ValueError(f"worst_error: {len(values)} values against {len(reference)}")
    return max(relative_error(values[i::components], reference[i::components]) for i in range(components))


def misses(error: float, target: float) -> str:
    """Empty, or how an arm misses the error by more than FACTOR: its time is not to be compared."""
    if not error <= target * FACTOR:
        return f"error {error / target:.2g} × too large"
    if error < target / FACTOR:
        return f"error {target / error:.2g} × smaller"
    return ""
