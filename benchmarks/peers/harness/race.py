"""Arms take turns, round after round, so that the machine's changing speed meets all of them alike."""

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field

from .arm_process import ArmFailed, ArmProcess
from .protocol import Message

FEWEST_ROUNDS = 5
WARM = 1.0    # seconds of wall of a run before the race after which there is no need for another one to warm up
LONG = 4.0    # seconds of wall after which an arm takes no more turns than FEWEST_ROUNDS


@dataclass
class Runner:
    """An arm that is ready to run. `work` is what one run does, in the case's unit: lanes, or lanes times steps."""
    name: str
    process: ArmProcess
    work: float
    seconds: list[float] = field(default_factory=list)      # processor time per unit of work, one a round
    wall: list[float] = field(default_factory=list)
    last: Message = Message("")
    failure: str = ""
    repeats: int = 1
    before: float = 0.0                                     # seconds of wall of a run at these settings, before the race

    @property
    def is_done(self) -> bool:
        return len(self.wall) >= FEWEST_ROUNDS and sum(self.wall) * self.work * self.repeats > LONG

    def run(self, repeats: int) -> tuple[float, float]:
        """Seconds of processor and of wall for one call."""
        self.last = self.process.ask("run", repeats=repeats)
        processor, wall = self.last.number("processor"), self.last.number("wall")
        if not (wall > 0 and math.isfinite(wall)):
            raise ArmFailed(f"reported a wall time of {wall:g} s")
        return processor / repeats, wall / repeats


def race(runners: list[Runner], rounds: int, shortest: float, note: Callable[[Runner, int, float, float], None]) -> None:
    """Runs all arms `rounds` times (at least FEWEST_ROUNDS), each as often within a round as takes `shortest` seconds. The first
    arm of a round changes. An arm that has taken LONG in all stops at FEWEST_ROUNDS, and one that fails drops out, with the reason in
    `failure`; the others go on."""
    rounds = max(rounds, FEWEST_ROUNDS)
    for number in range(-1, rounds):    # round −1 warms up, and says how often to repeat
        first = number % max(1, len(runners))
        for runner in runners[first:] + runners[:first]:
            if runner.failure or runner.is_done or (number < 0 and runner.before > max(WARM, shortest)):
                continue
            try:
                processor, wall = runner.run(runner.repeats)
            except ArmFailed as failure:
                runner.failure = str(failure)
                continue
            if number < 0:
                runner.repeats = max(1, math.ceil(shortest / wall))
            else:
                runner.seconds.append(processor / runner.work)
                runner.wall.append(wall / runner.work)
                note(runner, number, processor, wall)


def median(values: list[float]) -> float:
    return statistics.median(values) if values else math.nan
