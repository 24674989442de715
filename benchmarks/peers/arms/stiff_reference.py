"""The reference of stiff cases: Rodas5P (Steinebach 2023, doi:10.1007/s10543-023-00967-x) in 80-bit numbers, each lane with step sizes of
its own, autonomous equations alone. Gradients by a complex step, whose errors do not steer the steps. SciPy's Radau must agree."""

import numpy as np
from scipy.integrate import solve_ivp

from kinetics import Network

REAL, COMPLEX = np.longdouble, np.clongdouble
GAMMA = 0.21193756319429014
A = ((), (3,), (2.849394379747939, 0.45842242204463923), (-6.954028509809101, 2.489845061869568, -10.358996098473584),
     (2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641),
     (-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946))
C = ((), (-14.155112264123755,), (-17.97296035885952, -2.859693295451294), (147.12150275711716, -1.41221402718213, 71.68940251302358),
     (165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306),
     (24.854864614690072, -3.0009227002832186, 47.4931110020768, 5.5814197821558125, -0.6610691825249471),
     (30.91273214028599, -3.1208243349937974, 77.79954646070892, 34.28646028294783, -19.097331116725623, -28.087943162872662),
     (37.80277123390563, -3.2571969029072276, 112.26918849496327, 66.9347231244047, -40.06618937091002, -54.66780262877968, -9.48861652309627))


def integrate(network: Network, y0: np.ndarray, p: np.ndarray, t1: float, tolerance: float = 1e-10) -> np.ndarray:
    """y(t1) of all lanes; y0 and p: (component, lane). Errors are judged on real parts, relative to each component down to 1e-14."""
    field = network.field()
    y, t = y0.copy(), np.zeros(y0.shape[1], REAL)
    h = np.full_like(t, 1e-6)
    while np.any(t < t1):
        h = np.where(t < t1, np.minimum(h, t1 - t), 1)    # lanes at the end go on, for nothing
        new, error = _step(network, field, y, p, h)
        scale = tolerance * (np.maximum(np.abs(y.real), np.abs(new.real)) + REAL(1e-14))
        norm = np.sqrt(np.mean((error.real / scale) ** 2, 0)) + REAL(1e-12)
        accepted = (norm <= 1) & (t < t1)
        y, t = np.where(accepted, new, y), np.where(accepted, np.where(t + h >= t1, t1, t + h), t)
        factor = np.where(np.isfinite(norm), REAL(0.9) * norm ** (REAL(-1) / 5), REAL(0.2))
        h = h * np.clip(factor, REAL(0.2), REAL(6))
    return y


def _step(network: Network, field, y: np.ndarray, p: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The state after a step, and the error estimate. Form and notation: Hairer & Wanner, Solving ODEs II, eq. IV.7.25."""
    size = y.shape[0]
    matrix = np.zeros((size, size, y.shape[1]), y.dtype)
    for (row, column), value in network.jacobian(y, p).items():
        matrix[row, column] -= value
    for i in range(size):
        matrix[i, i] += 1 / (REAL(GAMMA) * h)
    _factor(matrix)
    at, u = y, []
    for stage, couplings in enumerate(C):
        if stage in (6, 7):
            at = at + u[-1]
        elif stage > 0:
            at = y + sum(REAL(a) * u[j] for j, a in enumerate(A[stage]))
        right = np.stack(np.broadcast_arrays(*field(0.0, at, p))) + sum((REAL(c) / h * u[j] for j, c in enumerate(couplings)), np.zeros_like(y))
        u.append(_solve(matrix, right))
    return at + u[-1], u[-1]


def _factor(matrix: np.ndarray) -> None:
    """LU in place, without pivoting: the diagonal outweighs its column in kinetics."""
    for k in range(matrix.shape[0] - 1):
        matrix[k + 1:, k] /= matrix[k, k]
        matrix[k + 1:, k + 1:] -= matrix[k + 1:, k, None] * matrix[None, k, k + 1:]


def _solve(factors: np.ndarray, right: np.ndarray) -> np.ndarray:
    x, size = right.copy(), right.shape[0]
    for k in range(1, size):
        x[k] -= (factors[k, :k] * x[:k]).sum(0)
    for k in reversed(range(size)):
        x[k] = (x[k] - (factors[k, k + 1:] * x[k + 1:]).sum(0)) / factors[k, k]
    return x


def gradient(network: Network, y0: np.ndarray, p: np.ndarray, t1: float) -> np.ndarray:
    """Of |y(t1)|² with respect to p, (parameter, lane). Every pair of parameter and lane is a lane here."""
    num_p, lanes = p.shape
    moved = np.tile(p.astype(COMPLEX), num_p)
    for i in range(num_p):
        moved[i, i * lanes:(i + 1) * lanes] *= 1 + 1e-30j
    y = integrate(network, np.tile(y0.astype(COMPLEX), num_p), moved, t1)
    return (y * y).sum(0).imag.reshape(num_p, lanes) / (REAL(1e-30) * p)


def confirm(network: Network, y0: np.ndarray, p: np.ndarray, t1: float, y: np.ndarray) -> None:
    """By SciPy's Radau, one lane."""
    field, lane = network.field(), y.shape[1] // 2
    rate = p[:, lane].astype(float)
    solved = solve_ivp(lambda t, y: field(t, y, rate), (0, t1), y0[:, lane].astype(float), "Radau", rtol=1e-8, atol=1e-20,
                       jac=lambda t, y: network.dense_jacobian(y, rate))
    difference = np.max(np.abs(solved.y[:, -1] / y[:, lane].astype(float) - 1))
    if not difference < 1e-6:
        raise ArithmeticError(f"SciPy's Radau differs from the reference by {difference:.1e} in a component of one lane")
