"""Stiff equations of chemistry, written down as what reacts: dy/dt = Σ k Π y[reactants] · changes. From that follow the right-hand side,
as source text that NumPy, numba and JAX take, and its Jacobian. tests/support/stiff_equations.hpp has the same for eddy."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Rate = float | str                      # a constant, or "p3": the parameter of that index
Term = tuple[Rate, tuple[int, ...], dict[int, int]]    # rate, reactants, changes by component


@dataclass(frozen=True)
class Network:
    terms: tuple[Term, ...]
    y0: tuple[float, ...]
    p0: tuple[float, ...]
    t1: float
    t1_of_gradient: float

    def field(self) -> Callable:
        """f(t, y, p), a tuple."""
        lines = [f"    r{number} = {' * '.join([_text(rate), *(f'y[{i}]' for i in reactants)])}"
                 for number, (rate, reactants, _) in enumerate(self.terms)]
        rows = []
        for i in range(len(self.y0)):
            changes = [(changes[i], f"r{number}") for number, (_, _, changes) in enumerate(self.terms) if i in changes]
            rows.append(" ".join(f"{'-' if change < 0 else '+'} {f'{abs(change)} * ' if abs(change) != 1 else ''}{rate}" for change, rate in changes))
        space: dict = {}
        exec("def kinetics(t, y, p):\n" + "\n".join(lines) + f"\n    return {', '.join(rows)},\n", space)
        return space["kinetics"]

    def jacobian_filler(self) -> Callable:
        """fill(y, p, matrix) writes the entries of ∂f/∂y that are not zero everywhere."""
        entries: dict[tuple[int, int], list[str]] = {}
        for rate, reactants, changes in self.terms:
            for place, column in enumerate(reactants):
                slope = " * ".join([_text(rate), *(f"y[{i}]" for i in reactants[:place] + reactants[place + 1:])])
                for row, change in changes.items():
                    entries.setdefault((row, column), []).append(f"{change} * {slope}")
        lines = (f"    matrix[{row}, {column}] = {' + '.join(terms)}" for (row, column), terms in entries.items())
        space: dict = {}
        exec("def fill(y, p, matrix):\n" + "\n".join(lines), space)
        return space["fill"]

    def jacobian(self, y, p) -> dict[tuple[int, int], np.ndarray]:
        """The entries of ∂f/∂y that are not zero everywhere, of one lane or of arrays of lanes."""
        entries: dict[tuple[int, int], np.ndarray] = {}
        for rate, reactants, changes in self.terms:
            k = p[int(rate[1:])] if isinstance(rate, str) else rate
            for place, column in enumerate(reactants):
                slope = k
                for other in reactants[:place] + reactants[place + 1:]:
                    slope = slope * y[other]
                for row, change in changes.items():
                    entries[row, column] = entries.get((row, column), 0) + change * slope
        return entries

    def dense_jacobian(self, y, p) -> np.ndarray:
        matrix = np.zeros((len(self.y0),) * 2)
        self.jacobian_filler()(y, p, matrix)
        return matrix


def _text(rate: Rate) -> str:
    return f"p[{rate[1:]}]" if isinstance(rate, str) else repr(rate)


def _reactions(*sides: tuple[tuple[int, ...], tuple[int, ...]]) -> tuple[Term, ...]:
    """Reactions from reactants to products, each with a rate of its own."""
    terms = []
    for number, (consumed, produced) in enumerate(sides):
        changes: dict[int, int] = {}
        for i in consumed:
            changes[i] = changes.get(i, 0) - 1
        for i in produced:
            changes[i] = changes.get(i, 0) + 1
        terms.append((f"p{number}", consumed, {i: change for i, change in changes.items() if change}))
    return tuple(terms)


# Robertson 1966.
ROBERTSON = Network((("p0", (0,), {0: -1, 1: 1}), ("p1", (1, 2), {0: 1, 1: -1}), ("p2", (1, 1), {1: -1, 2: 1})),
                    (1.0, 0.0, 0.0), (0.04, 1e4, 3e7), 1e11, 40.0)

# High irradiance responses of plants, Schäfer 1975.
HIRES = Network(
    ((1.71, (0,), {0: -1, 1: 1}), (0.43, (1,), {0: 1}), (8.32, (2,), {0: 1}), ("p2", (), {0: 1}), (8.75, (1,), {1: -1}), (10.03, (2,), {2: -1}),
     (0.43, (3,), {2: 1}), (0.035, (4,), {2: 1}), (8.32, (1,), {3: 1}), (1.71, (2,), {3: 1}), (1.12, (3,), {3: -1}), (1.745, (4,), {4: -1}),
     (0.43, (5,), {4: 1, 5: -1}), (0.43, (6,), {4: 1}), ("p0", (5, 7), {5: -1, 6: 1, 7: -1}), (0.69, (3,), {5: 1}), (1.71, (4,), {5: 1}),
     (0.69, (6,), {5: 1}), ("p1", (6,), {6: -1, 7: 1})),
    (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0057), (280.0, 1.81, 0.0007), 321.8122, 321.8122)

# Air pollution in the Netherlands, Verwer 1994.
POLLUTION = Network(
    _reactions(((0,), (1, 2)), ((1, 3), (0,)), ((1, 4), (0, 5)), ((6,), (4, 4, 7)), ((6,), (7,)), ((5, 6), (4, 7)), ((8,), (4, 7, 9)), ((5, 8), (10,)),
               ((1, 10), (0, 9, 11)), ((0, 10), (12,)), ((12,), (0, 10)), ((1, 9), (0, 13)), ((13,), (4, 6)), ((0, 5), (14,)), ((2,), (3,)),
               ((3,), (15,)), ((3,), (2,)), ((15,), (5, 5)), ((15,), (2,)), ((5, 16), (4, 17)), ((18,), (1,)), ((18,), (0, 2)), ((0, 3), (18,)),
               ((0, 18), (19,)), ((19,), (0, 18))),
    (0.0, 0.2, 0.0, 0.04, 0.0, 0.0, 0.1, 0.3, 0.01, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.007, 0.0, 0.0, 0.0),
    (0.35, 26.6, 1.23e4, 8.6e-4, 8.2e-4, 1.5e4, 1.3e-4, 2.4e4, 1.65e4, 9e3, 0.022, 1.2e4, 1.88, 1.63e4, 4.8e6, 3.5e-4, 0.0175, 1e8, 4.44e11, 1.24e3,
     2.1, 5.78, 0.0474, 1.78e3, 3.12), 60.0, 60.0)

NETWORKS = {"robertson": ROBERTSON, "hires": HIRES, "pollution": POLLUTION}


def end_time(options: dict[str, str]) -> float:
    network = NETWORKS[options["problem"]]
    return network.t1_of_gradient if options["task"] == "gradient" else network.t1


def rates(network: Network, lanes: int) -> np.ndarray:
    """(lane, rate), within a tenth of the usual ones, in an order without pattern: multiples of the golden ratio, modulo 1."""
    count = len(network.p0)
    fraction = (np.arange(lanes * count) * ((5 ** 0.5 - 1) / 2)) % 1
    return np.array(network.p0) * (0.9 + 0.2 * fraction.reshape(lanes, count))
