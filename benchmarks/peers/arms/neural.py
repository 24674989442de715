"""The network of case 5: weights, inputs, and the gradient in double precision by hand."""

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
    lanes, steps = int(options["lanes"]), int(options["steps"])
    w, y, dt = weights(), inputs(lanes), 1 / int(options["steps"])
    flat(w).tofile(folder / "p")
    y.tofile(folder / "y0")
    tape = []
    for _ in range(steps):
        k, kept = [], []
        for row in DOPRI5_A:
            value, needed = forward(w, y + dt * sum((a * k[j] for j, a in enumerate(row)), np.zeros_like(y)))
            k.append(value)
            kept.append(needed)
        tape.append(kept)
        y = y + dt * sum(b * k[i] for i, b in enumerate(DOPRI5_B))
    total, cotangent = [np.zeros_like(part) for part in w], 2 * y
    for kept in reversed(tape):
        of_k = [dt * b * cotangent for b in DOPRI5_B]
        for i in reversed(range(6)):
            of_y = pull_back(w, kept[i], of_k[i], total)
            cotangent = cotangent + of_y
            for j, a in enumerate(DOPRI5_A[i]):
                of_k[j] = of_k[j] + dt * a * of_y
    return flat(total)
