"""Models as text, once for all that read text: names, formulas, and numbers for as many trajectories as are asked for.

`models.py FOLDER NAME LANES` leaves the files `text`, `y0` and `p` that native/eddy_runtime.cpp reads, and says t1."""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Model:
    states: list[str]
    parameters: list[str]
    equations: list[str]        # Python, CasADi, heyoka, DiffSL and eddy read them alike
    y0: list[float]             # of all trajectories: diffsol has it in its text
    p: list[float]              # in the middle
    t1: float

    def inputs(self, lanes: int) -> tuple[np.ndarray, np.ndarray]:
        """y0 and p, (trajectory, component): parameters within 11 % of those in the middle."""
        lane, i = np.arange(lanes)[:, None], np.arange(len(self.p))[None, :]
        return np.tile(self.y0, (lanes, 1)), np.array(self.p) * (1 + 0.01 * ((7 * lane + 3 * i) % 23 - 11))

    def write(self, folder: Path, lanes: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "text").write_text("\n".join([" ".join(self.states), " ".join(self.parameters), *self.equations]) + "\n")
        for name, values in zip(("y0", "p"), self.inputs(lanes)):
            values.tofile(folder / name)

    def diffsl(self) -> str:
        def tensor(name: str, elements: list[str]) -> str:
            return f"{name}_i {{ {', '.join(elements)} }}\n"
        return (tensor("in", [f"{name} = {value}" for name, value in zip(self.parameters, self.p)])
                + tensor("u", [f"{name} = {value}" for name, value in zip(self.states, self.y0)]) + tensor("F", self.equations))

    def evaluate(self, y, p) -> list:
        """The equations over whatever numbers y and p are lists of."""
        names = dict(zip(self.states + self.parameters, [*y, *p]))
        return [eval(equation, {}, names) for equation in self.equations]


def chain(length: int) -> Model:
    """Species each made by the reaction before it, as benchmarks/support/chain_of_species.hpp has them."""
    def rate(i: int) -> str:
        if i % 3 == 0:
            return f"p{2 * i}*y{i}/(p{2 * i + 1} + y{i})"
        if i % 3 == 1 and i + 1 < length:
            return f"(p{2 * i}*y{i} - p{2 * i + 1}*y{i + 1})"
        return f"(p{2 * i}*y{(i + 5) % length} + p{2 * i + 1})*y{i}"
    rates = [rate(i) for i in range(length)]
    return Model([f"y{i}" for i in range(length)], [f"p{i}" for i in range(2 * length)],
                 [f"{before} - {rate}" for before, rate in zip(["p0*0.25", *rates], rates)],
                 [0.5 * (1 + 0.01 * (3 * i % 23)) for i in range(length)], [0.5] * (2 * length), 20.0)


MODELS = {"lotka": Model(["x", "y"], ["a", "b", "c", "d"], ["a*x - b*x*y", "d*x*y - c*y"], [2.0, 3.0], [1.5, 1.0, 3.0, 1.0], 10.0),
          "chain": chain(100)}

if __name__ == "__main__":
    MODELS[sys.argv[2]].write(Path(sys.argv[1]), int(sys.argv[3]))
    print(MODELS[sys.argv[2]].t1)
