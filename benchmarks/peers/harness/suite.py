"""Runs a case: starts its arms, brings each to the error, lets them race, and writes down what came of it."""

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from queue import SimpleQueue
from typing import TypeVar

from .arm_process import ArmFailed, ArmProcess
from .bisection import tune
from .case import Arm, Case
from .errors import misses, relative_error, worst_error
from .protocol import Message
from .progress import Progress
from .race import Runner, median, race
from .result import Row
from .tolerance_file import ToleranceFile

Start = Callable[[Case, Arm, int, list[int]], ArmProcess]      # the number of lanes of this run, the cores to start on

T = TypeVar("T")


@dataclass
class Suite:
    start: Start                                    # raises ArmFailed where the peer is missing
    reference: Callable[[Case, int], list[float]]
    tolerances: ToleranceFile
    write_sample: Callable[[dict], None]
    progress: Progress
    cores: int = 1
    rounds: int = 5
    shortest: float = 0.05
    quick: bool = False
    places: tuple[list[int], ...] = ([],)           # sets of cores, each for an arm that is made ready; all race on the first
    rows: list[Row] = field(default_factory=list)
    sweeps: list[Row] = field(default_factory=list)

    def units(self, case: Case) -> int:
        return len(case.arms) * max(1, len(case.targets) + (0 if self.quick else len(case.sweep)))

    def run(self, case: Case) -> None:
        lanes = case.quick_lanes if self.quick else case.lanes
        self.progress.at(f"case {case.key}: reference")
        try:
            reference = self.reference(case, lanes)
        except ArmFailed as failure:
            self.progress.say(f"case {case.key}: no reference: {failure}")
            self.rows += [Row(case.key, arm.name, arm.peer, failure=f"no reference: {failure}") for arm in case.arms]
            return
        with ExitStack() as stack:
            started = [_Started(self, case, arm, lanes, reference, stack) for arm in case.arms]
            self._side_by_side(started, lambda one: one.begin())
            for target in case.targets or (None,):
                self.rows += self._compare(case, started, target, self.rounds, self.shortest)
            if not self.quick:
                for target in case.sweep:
                    self.sweeps += self._compare(case, started, target, 5, self.shortest / 2)
        self.tolerances.save()

    def _side_by_side(self, started: list["_Started"], do: Callable[["_Started"], T]) -> list[T]:
        """What is not timed: starting, compiling and the search for tolerances take longer than the race. Only one at a time where there is a
        GPU, for its memory."""
        places: SimpleQueue[list[int]] = SimpleQueue()
        for place in self.places[:1] if any(one.arm.on_gpu for one in started) else self.places:
            places.put(place)

        def do_in_a_place(one: _Started) -> T:
            one.place = places.get()
            try:
                if one.process:
                    one.process.move_to(one.place)
                done = do(one)
                if one.process:
                    one.process.move_to(self.places[0])
                return done
            finally:
                places.put(one.place)

        pool = ThreadPoolExecutor(places.qsize())
        try:
            return list(pool.map(do_in_a_place, started))
        finally:    # of an interrupt too: those that have not begun do not
            pool.shutdown(wait=False, cancel_futures=True)

    def _compare(self, case: Case, started: list["_Started"], target: float | None, rounds: int, shortest: float) -> list[Row]:
        started = [one for one in started if not one.arm.only_targets or target is None or target in one.arm.only_targets]
        rows = self._side_by_side(started, lambda one: one.prepare(target))
        runners = [Runner(one.arm.name, one.process, one.work, before=one.last) for one, row in zip(started, rows) if not row.failure]
        self.progress.at(f"case {case.key}: {len(runners)} arms take turns")

        def note(runner: Runner, number: int, processor: float, wall: float) -> None:
            self.write_sample({"kind": "sample", "case": case.key, "target": target, "arm": runner.name, "round": number,
                               "repeats": runner.repeats, "processor": processor, "wall": wall, "work": runner.work})

        race(runners, rounds, shortest, note)
        by_name = {runner.name: runner for runner in runners}
        for one, row in zip(started, rows):
            if runner := by_name.get(row.arm):
                one.conclude(row, runner, self.cores)
        self.progress.step(len(started))
        for row in rows:
            self.write_sample(row.as_record())
        return rows


def _every(reference: list[float], components: int, stride: int) -> list[float]:
    """Every stride-th lane, beginning with the first."""
    if stride == 1:
        return reference
    return [value for first in range(0, len(reference), components * stride) for value in reference[first:first + components]]


class _Started:
    """An arm of this case in its process, if it could be started."""

    def __init__(self, suite: Suite, case: Case, arm: Arm, lanes: int, reference: list[float], stack: ExitStack):
        self.suite, self.case, self.lanes, self.stack = suite, case, lanes, stack
        # Lanes left out must not be among those whose error is looked at.
        check, spacing = arm.looked_at(case, lanes), lanes // arm.looked_at(case, lanes)
        self.arm = replace(arm, stride=spacing if arm.few else min(arm.stride, spacing))
        self.components = len(reference) // min(lanes, case.check)
        self.reference = _every(reference, self.components, min(lanes, case.check) // check)
        self.process: ArmProcess | None = None
        self.place: list[int] = []      # the cores that it is on while it does not race
        self.failure = ""
        self.ready = Message("")
        self.first, self.last = math.nan, 0.0
        self.memory = 0

    @property
    def work(self) -> float:
        return self.case.work_per_lane * len(range(0, self.lanes, self.arm.stride))

    def begin(self) -> None:
        self.suite.progress.at(f"case {self.case.key}: {self.arm.name}: starts")
        try:
            self.process = self.stack.enter_context(self.suite.start(self.case, self.arm, self.lanes, self.place))
            self.ready = self.process.hear(3 * self.process.timeout)    # compilers may take long
            if target := self.case.targets[:1]:
                self.process.ask("tolerance", value=repr(self._expected(target[0])))
            self.process.forget_peak()
            before = self.process.memory("VmRSS")
            self.first = self.last = self.process.ask("run", repeats=1).number("wall")
            self.memory = max(0, self.process.memory("VmHWM") - before)
        except ArmFailed as failure:
            self.failure = str(failure)
            self.suite.progress.say(f"case {self.case.key}: {self.arm.name}: {self.failure}")

    def prepare(self, target: float | None) -> Row:
        row = Row(self.case.key, self.arm.name, self.arm.peer, target, failure=self.failure, first=self.first, memory=self.memory,
                  setting=self.ready.fields.get("setting", ""), stride=self.arm.stride, lanes=self.lanes,
                  compile=self.ready.number("compile", math.nan))
        if self.failure:
            return row
        self.suite.progress.at(f"case {self.case.key}: {self.arm.name}: error {target or ''}")
        try:
            if target is None:
                row.error = self._error()
                limit = self.case.same_error
                row.mark = misses(max(row.error, limit), limit) if limit else ""
            else:
                row.tolerance, row.error = self._reach(target)
                row.mark = misses(row.error, target)
        except (ArmFailed, ValueError) as failure:
            self._fail(row, str(failure))
        return row

    def conclude(self, row: Row, runner: Runner, cores: int) -> None:
        if runner.failure:
            self._fail(row, runner.failure)
            return
        # On one core the processor's time is what a quiet machine would show on the wall; with several, and on a GPU, only the wall counts.
        times = runner.seconds if cores == 1 and not self.arm.on_gpu else runner.wall
        row.minimum, row.median = min(times), median(times)
        if not self.arm.on_gpu:
            row.wall_over_processor = median([wall / max(processor, 1e-12) for wall, processor in zip(runner.wall, runner.seconds)])
        lanes = len(range(0, self.lanes, self.arm.stride))
        for name in ("accepted", "rejected", "evaluations"):
            setattr(row, name, runner.last.number(name, math.nan) / lanes)
        known = {"wall", "processor", "accepted", "rejected", "evaluations"}
        row.extra = {key: value for key, value in runner.last.fields.items() if key not in known}

    def _fail(self, row: Row, reason: str) -> None:
        row.failure = self.failure = reason
        self.suite.progress.say(f"case {self.case.key}: {self.arm.name}: {reason}")

    def _error(self) -> float:
        values = self.process.values()
        return worst_error(values, self.reference, self.components) if self.case.by_component else relative_error(values, self.reference)

    def _error_at(self, tolerance: float) -> float:
        self.process.ask("tolerance", value=repr(tolerance))
        self.last = self.process.ask("run", repeats=1).number("wall")
        return self._error()

    def _expected(self, target: float) -> float:
        written = self.suite.tolerances.get(self._key(target))
        return written.tolerance if written else target

    def _key(self, target: float) -> str:
        return ToleranceFile.key(self.case.key, self.arm.name, target)

    def _reach(self, target: float) -> tuple[float, float]:
        """The tolerance of the file if it still gives the error, or misses it as it did when it was found, else a new one; and the error
        that it gives."""
        written = self.suite.tolerances.get(self._key(target))
        if written is not None:
            error = self._error_at(written.tolerance)
            if not misses(error, target) or math.isclose(error, written.error, rel_tol=0.01):
                return written.tolerance, error
        tuned = tune(self._error_at, target, self._expected(target))
        if written is None or not misses(tuned.error, target):
            self.suite.tolerances.set(self._key(target), tuned.tolerance, tuned.error)
        return tuned.tolerance, self._error_at(tuned.tolerance)
