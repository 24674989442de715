"""The data of case 11, and how fits are judged: the best sum of squares found, and the share of starts that found it."""

import csv
from pathlib import Path

import numpy as np

CSV = Path(__file__).resolve().parents[3] / "examples/fit_lynx_hare/hudson_bay_lynx_hare.csv"


def data() -> tuple[np.ndarray, np.ndarray]:
    """Years, and logarithms of (hare, lynx)."""
    rows = list(csv.DictReader(line for line in CSV.read_text().splitlines() if not line.startswith("#")))
    return (np.array([float(row["year"]) for row in rows]),
            np.log(np.array([[float(row["hare"]), float(row["lynx"])] for row in rows])))


def radical_inverse(index: int, base: int) -> float:
    value, scale = 0.0, 1.0
    while index > 0:
        scale /= base
        value += scale * (index % base)
        index //= base
    return value


def all_starts(count: int) -> np.ndarray:
    """Those of examples/fit_lynx_hare/starts.cpp: logarithms of a, b, c, d and of the first counts."""
    years, logs = data()
    span = years[-1] - years[0]
    gap = span / (len(years) - 1)
    part = np.array([[radical_inverse(lane + 1, base) for base in (2, 3, 5, 7, 11, 13)] for lane in range(count)])

    def between(low, high, at):
        return low + at * (high - low)
    period = between(np.log(min(4 * gap, span)), np.log(span), part[:, 0])
    half_ratio = between(-np.log(16), np.log(16), part[:, 1]) / 2
    low, high = logs.min(0), logs.max(0)
    lynx, hare = between(low[1], high[1], part[:, 2]), between(low[0], high[0], part[:, 3])
    frequency = np.log(2 * np.pi) - period
    a, c = frequency + half_ratio, frequency - half_ratio
    return np.stack([a, a - lynx, c, c - hare, between(low[0], high[0], part[:, 4]), between(low[1], high[1], part[:, 5])], 1)


def starts(options: dict[str, str]) -> np.ndarray:
    return all_starts(int(options["lanes"]))[:: int(options.get("stride", 1))]


BEST = 2.018661353


def found(sums) -> dict[str, str]:
    share = float(np.mean(np.asarray(sums) < BEST * (1 + 1e-4)))
    return {"found": f"{100 * share:.0f} % of starts reach the best optimum"}


def best_over_known(sums, check: int) -> np.ndarray:
    return np.full(check, float(np.nanmin(sums)) / BEST)
