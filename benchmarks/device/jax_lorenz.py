"""JAX on the same GPU: the rows of lorenz.cu that have a peer there, by diffrax and by flat JAX (benchmarks/peers/arms), each at the
tolerances of the row. Medians of eleven calls after three; compilation before the clock starts. The error: the largest of a number
of the result against the same arm at rtol 1e-12, relative to the largest number of its kind."""

import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "peers" / "arms"))
import jax  # noqa: E402
import numpy as np  # noqa: E402
from flat_jax import FlatJax  # noqa: E402


def milliseconds(arm) -> float:
    times = []
    for i in range(14):
        start = time.perf_counter()
        arm.run()
        if i >= 3:
            times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def row(name: str, make, task: str, lanes: int, rtol: float, **more) -> None:
    options = {"problem": "lorenz", "task": task, "lanes": str(lanes), "check": str(min(lanes, 1024)), "method": "Tsit5", **more}
    try:
        arm = make(options)
        arm.set_tolerance(rtol)
        took = milliseconds(arm)
        found = arm.values()
        arm.set_tolerance(1e-12)
        arm.run()
        reference = arm.values()
        error = float(np.max(np.abs(found - reference) / np.max(np.abs(reference), axis=0)))
        print(f"| {name} | {task}, rtol {rtol:g}, fp64, {lanes} lanes | {took:.3f} | {error:.1e} |", flush=True)
    except Exception as failure:  # whatever it is, it is a line of the table
        print(f"| {name} | {task}, rtol {rtol:g}, {lanes} lanes | failed: {type(failure).__name__} {str(failure)[:120]!r} | |", flush=True)


def main() -> None:
    print(f"JAX {jax.__version__} on {jax.devices()[0].device_kind}\n\n| | | ms | error |\n| --- | --- | --- | --- |", flush=True)
    row("flat JAX", FlatJax, "gradient", 1 << 15, 1e-6)
    row("flat JAX", FlatJax, "adaptive", 1 << 19, 1e-8)
    try:
        from diffrax_arm import Diffrax
    except ImportError as missing:
        print(f"| diffrax | | not here: {missing} | |")
        return
    row("diffrax", Diffrax, "gradient", 1 << 15, 1e-6, atol_ratio="1e-3")
    row("diffrax", Diffrax, "adaptive", 1 << 19, 1e-8, atol_ratio="1e-3")


if __name__ == "__main__":
    main()
