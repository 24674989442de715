"""What eddy set out to reach against its peers, beside what a run shows; where it falls short, why."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from .result import Row, best

Figure = Callable[[list[Row]], float | None]    # None where the run does not show it


@dataclass(frozen=True)
class Goal:
    text: str
    figure: Figure
    at_least: float = 0.0
    at_most: float = math.inf
    why_not: str = ""

    def is_reached(self, figure: float) -> bool:
        return self.at_least <= figure <= self.at_most


def ratio(numerator: Row | None, denominator: Row | None) -> float | None:
    return numerator.median / denominator.median if numerator and denominator else None


def of(number: str, target: float | None = None) -> Callable[[list[Row]], list[Row]]:
    return lambda rows: [row for row in rows if row.case.split("-")[0] == number and target in (None, row.target)]


def lead(number: str, target: float | None = None, peer: str = "") -> Figure:
    """How much longer the best peer takes, or the one that is named."""
    def figure(rows: list[Row]) -> float | None:
        chosen = of(number, target)(rows)
        return ratio(best(chosen, {peer} if peer else None, without="eddy"), best(chosen, {"eddy"}))
    return figure


def lead_of(number: str, words: str) -> Figure:
    """How much longer the arm takes whose name holds these words."""
    def figure(rows: list[Row]) -> float | None:
        chosen = of(number)(rows)
        return ratio(best([row for row in chosen if words in row.arm]), best(chosen, {"eddy"}))
    return figure


def gradient_in_solves(rows: list[Row]) -> float | None:
    return ratio(best(of("10b")(rows), {"eddy"}), best(of("10a")(rows), {"eddy"}))


SERIES = ("Both sides step along Taylor series where that is fastest. Orders 9 to 16 and Vern7 lie within a tenth of each other at 1e-08, orders 14 to 22 at "
          "1e-12: no other order does it.")
FORWARD = ("A tenth of heyoka's time is less than eddy's fastest solve of case 2, without any gradient. heyoka carries the derivatives forward in a compiled Taylor "
           "series: with three parameters that is little work. The reverse mode's work does not grow with the number of parameters; theirs does.")

NOISE = {"a scan by hand": "XLA fuses noise and step into one loop over vectors as well: what is left is what a normal costs.",
         "Brownian tree": "The tree of this release is faster than published figures, from which the aim was taken; on the way back eddy reads what it has kept."}


def microseconds(number: str) -> Figure:
    def figure(rows: list[Row]) -> float | None:
        ours = best(of(number)(rows), {"eddy"})
        return 1e6 * ours.median if ours else None
    return figure


def stiff_goals() -> tuple[Goal, ...]:
    """(case, µs a lane, times RODAS, numbalsoda, CVODE); the gradient's case, times CVODES' adjoint."""
    goals = []
    for case, most, *least in (("8a", 4, 20, 45, 300), ("8b", 7, 15, 25, 150), ("8c", 8, 13, 35, 170)):
        goals.append(Goal(f"case {case}: at most {most} µs a lane", microseconds(case), at_most=most))
        goals += [Goal(f"case {case}: at least {times} times as fast as {name}", lead(case, peer=peer), times)
                  for times, name, peer in zip(least, ("RODAS", "numbalsoda", "CVODE"), ("assimulo", "numbalsoda", "sundials"))]
    return *goals, *(Goal(f"case {case}: at least 100 times as fast as CVODES' adjoint", lead(case), 100) for case in ("8d", "8e", "8f"))


GOALS = (
    *(Goal(f"case {number}: ahead of every peer", lead(number), 1) for number in ("1", "4a", "4b")),
    *(Goal(f"case 2 at {target:.0e}: at least {least} times as fast as heyoka", lead("2", target, "heyoka"), least, why_not=SERIES)
      for target, least in ((1e-6, 3), (1e-8, 3), (1e-12, 2))),
    *(Goal(f"case 2 at {target:.0e}: ahead of every peer", lead("2", target), 1, why_not=SERIES) for target in (1e-6, 1e-8, 1e-12)),
    *(Goal(f"case 3 at {target:.0e}: at least 10 times as fast as the best peer", lead("3", target), 10, why_not=FORWARD) for target in (1e-6, 1e-8)),
    *(Goal(f"case {number}: at least {least:,} times as fast as {words}", lead_of(number, words), least, why_not=NOISE.get(words, ""))
      for number, words, least in (("9a", "torchsde", 40), ("9a", "a scan by hand", 11), ("9a", "Brownian tree", 1000),
                                   ("9b", "torchsde", 25), ("9b", "Brownian tree", 2500))),
    *(Goal(f"case 5b: a training step at least {least} times as fast as {words}", lead_of("5b", words), least)
      for words, least in (("Eigen by hand", 1.6), ("flat JAX", 1.8), ("diffrax", 2), ("eager", 2.5))),
    *stiff_goals(),
    Goal("case 10a: not behind odeint", lead("10a", peer="odeint"), 1),
    Goal("case 10b: a gradient in at most 3 solves", gradient_in_solves, at_most=3),
    Goal("case 11: at least 20 times as fast as the best peer", lead("11"), 20),
)


def table(rows: list[Row], goals: tuple[Goal, ...] = GOALS) -> str:
    """Empty where the run shows none of them."""
    shown = [(goal, figure) for goal in goals if (figure := goal.figure(rows)) is not None]
    if not shown:
        return ""
    lines = ["| aim | this run | |", "| --- | ---: | --- |"]
    for goal, figure in shown:
        told = "reached" if goal.is_reached(figure) else " ".join(filter(None, ("not reached.", goal.why_not)))
        lines.append(f"| {goal.text} | {figure:.2f} | {told} |")
    return "\n".join(lines)
