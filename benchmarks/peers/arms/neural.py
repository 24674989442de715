"""The network of cases 5 and 12: weights, inputs, and the gradient in double precision by hand."""

from pathlib import Path

import numpy as np

SIZES = ((64, 2), (64, 64), (2, 64))
DOPRI5_A = ((), (1 / 5,), (3 / 40, 9 / 40), (44 / 45, -56 / 15, 32 / 9), (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
            (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656))
DOPRI5_B = (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84)


def weights() -> list[np.ndarray]:
    """W1, b1, W2, b2, W3, b3."""
    draw = np.random.default_rng(5)
    told = []
    for rows, columns in SIZES:
        told += [draw.normal(size=(rows, columns)) / np.sqrt(columns), 0.1 * draw.normal(size=rows)]
    return told


def inputs(lanes: int) -> np.ndarray:
    return np.random.default_rng(7).normal(size=(lanes, 2))


def own_times(lanes: int, points: int, end: float) -> np.ndarray:
    """Times of each lane's own, in order."""
    return np.sort(np.random.default_rng(12).uniform(0, end, size=(lanes, points)), axis=1)


def own_data(times: np.ndarray) -> np.ndarray:
    """(lane, point, component)"""
    phase = 3 * times + np.arange(len(times))[:, None]
    return 0.5 * np.stack([np.cos(phase), np.sin(phase)], axis=2)


def flat(parts) -> np.ndarray:
    return np.concatenate([np.asarray(part, dtype=np.float64).ravel() for part in parts])


def forward(w, y):
    """f(y), and what its pullback needs; y: (lane, 2)."""
    h1 = np.tanh(y @ w[0].T + w[1])
    h2 = np.tanh(h1 @ w[2].T + w[3])
    return h2 @ w[4].T + w[5], (y, h1, h2)


def pull_back(w, kept, cotangent, total):
    """Adds to the weights' gradients, returns that of y."""
    y, h1, h2 = kept
    d2 = (cotangent @ w[4]) * (1 - h2 * h2)
    d1 = (d2 @ w[2]) * (1 - h1 * h1)
    for at, (delta, value) in zip((0, 2, 4), ((d1, y), (d2, h1), (cotangent, h2))):
        total[at] += delta.T @ value
        total[at + 1] += delta.sum(0)
    return d1 @ w[0]


def reference(options: dict[str, str], folder: Path) -> np.ndarray:
    """The gradient of |y(1)|², or of the squared distances from data at times of each lane's own."""
    lanes = int(options["lanes"])
    w, y = weights(), inputs(lanes)
    flat(w).tofile(folder / "p")
    y.tofile(folder / "y0")
    if points := int(options.get("points", 0)):
        times = own_times(lanes, points, float(options["end"]))
        data = own_data(times)
        times.tofile(folder / "times")
        data.tofile(folder / "data")
        sizes = np.diff(times, axis=1, prepend=0) / 4    # four steps from point to point
        steps = [(sizes[:, k, None], data[:, k] if part == 3 else None) for k in range(points) for part in range(4)]
    else:
        num_steps = int(options["steps"])
        steps = [(1 / num_steps, 0 if step == num_steps - 1 else None) for step in range(num_steps)]
    return gradient(w, y, steps)


def gradient(w, y, steps) -> np.ndarray:
    """`steps`: the size of each, a number or one for each lane, and data at its end, or None."""
    tape = []
    for dt, data in steps:
        k, kept = [], []
        for row in DOPRI5_A:
            value, needed = forward(w, y + dt * sum((a * k[j] for j, a in enumerate(row)), np.zeros_like(y)))
            k.append(value)
            kept.append(needed)
        y = y + dt * sum(b * k[i] for i, b in enumerate(DOPRI5_B))
        tape.append((dt, kept, None if data is None else 2 * (y - data)))
    total, cotangent = [np.zeros_like(part) for part in w], np.zeros_like(y)
    for dt, kept, seed in reversed(tape):
        if seed is not None:
            cotangent = cotangent + seed
        of_k = [dt * b * cotangent for b in DOPRI5_B]
        for i in reversed(range(6)):
            of_y = pull_back(w, kept[i], of_k[i], total)
            cotangent = cotangent + of_y
            for j, a in enumerate(DOPRI5_A[i]):
                of_k[j] = of_k[j] + dt * a * of_y
    return flat(total)
