"""benchmarks/peers/run models: eddy beside diffsol, heyoka and CasADi with models that are text until the program runs.

Lotka–Volterra, and a chain of 100 species. Arms take turns on one core, as in the cases of the roster, and diffsol's tolerance and eddy's
are those of an equal error in 64 trajectories. Peers that are missing are installed into build/peers."""

import argparse
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

from harness.arm_process import ArmFailed, ArmProcess
from harness.bisection import tune
from harness.errors import relative_error
from harness.install import Environment
from harness.native import Native
from harness.race import Runner, median, race

HERE = Path(__file__).resolve().parent
BUILD = HERE.parents[1] / "build/peers"
LANES, CHECK = 4096, 64
CALLS = 256                 # of a function in one run, as native/eddy_runtime.cpp and arms/model_arm.py have it
MODELS = {"lotka": "Lotka–Volterra", "chain": "100 species"}
# Task, trajectories, what it is called. diffsol runs every 64th of many: each costs the same alone.
SOLVES = (("first", 1, "text to first value, ms"), ("solve", 1, "one trajectory, ms"), ("gradient", 1, "its gradient, ms"),
          ("gradient", LANES, f"a gradient of {LANES:,}, ms"))
FUNCTIONS = (("f", "f, ns"), ("vjp", "f and its vector–Jacobian product, ns"))


class Bench:
    def __init__(self, program: Path, python: Path, target: float, rounds: int):
        self.program, self.python, self.target, self.rounds = program, python, target, rounds

    def start(self, name: str, model: str, task: str, lanes: int, stride: int = 1, **more: str) -> ArmProcess:
        folder = BUILD / "inputs" / f"model_{model}_{lanes}"
        done = subprocess.run([self.python, HERE / "arms/models.py", folder, model, str(lanes)], capture_output=True, text=True, check=True)
        options = {"problem": model, "task": task, "lanes": lanes, "stride": stride, "check": min(lanes, CHECK), "inputs": folder,
                   "t1": done.stdout.strip(), "peer": name} | more
        command = [self.program] if name == "eddy" else [self.python, HERE / "arms/model_arm.py"]
        process = ArmProcess([*map(str, command), *(f"{key}={value}" for key, value in options.items())],
                             sorted(os.sched_getaffinity(0))[-1:], timeout=300)
        print(f"    {name}, {model}, {task}: {process.hear().fields.get('setting')}", file=sys.stderr)
        return process

    def values(self, process: ArmProcess, tolerance: float) -> list[float]:
        process.ask("tolerance", value=tolerance)
        process.ask("run", repeats=1)
        return process.values()

    def tolerances(self, model: str, task: str) -> dict[str, float]:
        """Of an equal error, against eddy's Vern7, which diffsol confirms by coming as close."""
        with self.start("eddy", model, task, LANES, LANES // CHECK, method="Vern7") as process:
            reference = self.values(process, 1e-13)
        found = {}
        for name in ("eddy", "diffsol"):
            with self.start(name, model, task, LANES, LANES // CHECK) as process:
                tuned = tune(lambda tolerance: relative_error(self.values(process, tolerance), reference), self.target)
            print(f"    {name}, {model}, {task}: tolerance {tuned.tolerance:.2g}, error {tuned.error:.2g}", file=sys.stderr)
            found[name] = tuned.tolerance
        return found

    def race(self, runners: list[Runner], what: str, scale: float) -> None:
        """Prints a line of the table."""
        race(runners, self.rounds, 0.3, lambda *_: None)
        cells = [f"{runner.name} " + (runner.failure or f"{scale * median(runner.seconds):.3g}") for runner in runners]
        eddy = median(runners[0].seconds)
        print(f"| {what} | " + " | ".join(cell if runner is runners[0] or runner.failure else f"{cell}: {median(runner.seconds) / eddy:.3g} ×"
                                          for runner, cell in zip(runners, cells)) + " |", flush=True)

    def solves(self, model: str) -> None:
        found = {task: self.tolerances(model, task) for task in ("solve", "gradient")}
        for task, lanes, what in SOLVES:
            with ExitStack() as stack:
                runners = []
                for name in ("eddy", "diffsol"):
                    stride = LANES // CHECK if lanes > 1 and name == "diffsol" else 1
                    process = stack.enter_context(self.start(name, model, task, lanes, stride))
                    process.ask("tolerance", value=found["gradient" if task == "gradient" else "solve"][name])
                    runners.append(Runner(name, process, lanes // stride))
                self.race(runners, what, 1e3)

    def functions(self, model: str) -> None:
        for task, what in FUNCTIONS:
            with ExitStack() as stack:
                runners = [Runner(name, stack.enter_context(self.start(name, model, task, CHECK)), CALLS * CHECK)
                           for name in ("eddy", "heyoka", "casadi")]
                reference = self.values(runners[0].process, 1)
                for runner in runners[1:]:
                    if not relative_error(self.values(runner.process, 1), reference) < 1e-12:
                        runner.failure = "has other values"
                self.race(runners, what, 1e9)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks/peers/run models", description="eddy beside diffsol, heyoka and CasADi with models that are text")
    parser.add_argument("--only", nargs="+", choices=MODELS, default=list(MODELS), help="models")
    parser.add_argument("--error", type=float, default=1e-6, help="relative error of solves and gradients (default 1e-6)")
    parser.add_argument("--rounds", type=int, default=5, help="turns of every arm, at least 5 (default 5)")
    parser.add_argument("--program", type=Path, help="native/eddy_runtime, where it is built already")
    parser.add_argument("--python", type=Path, help="a Python that has pydiffsol, heyoka and casadi already")
    given = parser.parse_args()

    def say(text: str) -> None:
        print(text, file=sys.stderr)
    environment, native = Environment(BUILD / "venv"), Native(HERE / "native", BUILD / "native")
    if not given.python:
        environment.prepare(say, {"diffsol", "heyoka", "casadi"})
    if not given.program:
        native.prepare({"eddy_runtime"}, [4], len(os.sched_getaffinity(0)), say)
    if missing := environment.missing | native.missing:
        sys.exit(f"missing: {missing}")
    bench = Bench(given.program or native.program("eddy_runtime"), given.python or environment.python, given.error, given.rounds)
    for model in given.only:
        print(f"{MODELS[model]}, processor time for a trajectory, error {given.error:g}", flush=True)
        try:
            bench.solves(model)
            bench.functions(model)
        except ArmFailed as failure:
            sys.exit(f"{model}: {failure}")


if __name__ == "__main__":
    main()
