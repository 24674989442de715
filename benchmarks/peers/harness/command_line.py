"""benchmarks/peers/run, once the system's packages are there."""

import argparse
import json
import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from . import machine, page, pictures, readme, tables
from .arm_process import ArmFailed, ArmProcess
from .case import Arm, Case, chosen
from .install import Environment
from .native import Native
from .progress import Progress
from .result import Row
from .roster import all_cases
from .suite import Suite
from .tolerance_file import ToleranceFile

HERE = Path(__file__).resolve().parents[1]
ROOT = HERE.parents[1]
NEEDS = {"diffrax": {"jax"}, "torchdiffeq": {"torch"}, "torchode": {"torch"}, "torchsde": {"torch"}, "assimulo": {"numbalsoda"}}
IN_CPP = {"eddy", "odeint", "sundials", "eigen"}


def arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks/peers/run", description="Measures eddy against what people use today.")
    parser.add_argument("--only", nargs="+", default=[], metavar="CASE|PEER", help="cases by number, key or task, peers by name")
    parser.add_argument("--quick", action="store_true", help="fewer lanes, fewer points in pictures: to see that all is well")
    parser.add_argument("--cores", type=int, default=1, help="processor cores that every arm is pinned to (default 1)")
    parser.add_argument("--seed", type=int, default=1, help="of the three random cases (default 1)")
    parser.add_argument("--rounds", type=int, default=5, help="turns of every arm, at least 5 (default 5)")
    parser.add_argument("--timeout", type=float, default=120, help="seconds that an arm may take for one answer (default 120)")
    parser.add_argument("--output", type=Path, default=ROOT / "build/peers/results", help="folder for tables, pictures, samples")
    parser.add_argument("--write-docs", action="store_true", help="write docs/benchmarks.md and its pictures")
    parser.add_argument("--prepare", action="store_true", help="install, build and compute references; measure nothing")
    parser.add_argument("--from", nargs="+", type=Path, default=[], dest="sources", metavar="FOLDER",
                        help="write tables and pictures from the samples of earlier runs, measure nothing")
    parser.add_argument("--no-install", action="store_true", help="take the peers that are there")
    given = parser.parse_args(words)
    if given.cores < 1 or given.cores > len(os.sched_getaffinity(0)):
        parser.error(f"--cores: {given.cores}; this process may use {len(os.sched_getaffinity(0))}")
    if given.write_docs and given.only and not given.sources:
        parser.error("--write-docs: the page shows all cases, and --only would drop the others from it; leave --only out, or measure "
                     "into a folder of its own with --output and give it and the earlier ones to --from")
    return given


class Run:
    def __init__(self, given: argparse.Namespace, command: str):
        self.given, self.command = given, command
        has_gpu = bool(machine.gpus())
        self.cases = chosen(all_cases(given.seed, has_gpu), given.only)
        self.build = ROOT / "build/peers"
        self.environment = Environment(self.build / ("venv_gpu" if has_gpu else "venv"), has_gpu)
        self.native = Native(HERE / "native", self.build / "native")
        # From the last core on: interrupts and other programs tend to be on the first.
        cores = sorted(os.sched_getaffinity(0), reverse=True)
        self.places = tuple(sorted(cores[first:first + given.cores]) for first in range(0, len(cores) - given.cores + 1, given.cores))
        self.references: dict[tuple[str, int], list[float]] = {}    # of a case, and a number of lanes
        self.start_time = time.monotonic()

    def prepare(self) -> None:
        arms = [arm for case in self.cases for arm in case.arms]
        peers = {arm.peer for arm in arms} - IN_CPP | {"scipy"}
        peers |= {need for peer in peers for need in NEEDS.get(peer, ())} | ({"torchsde"} if "torchdiffeq" in peers else set())
        programs = {arm.command[1] for arm in arms if arm.command[0] == "native"}
        # Of all cases, whatever --only says: other sizes would mean to build again.
        sizes = [int(case.options["size"]) for case in all_cases(self.given.seed) if case.problem == "ring"]
        with ThreadPoolExecutor() as both:    # one waits for the network, the other for the compiler
            tasks = [both.submit(self.native.prepare, programs, sizes, max(1, len(os.sched_getaffinity(0))), say)]
            if not self.given.no_install:
                tasks.append(both.submit(self.environment.prepare, say, peers))
        for task in tasks:
            task.result()

    def prepare_references(self) -> None:
        say("computing references")
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            list(pool.map(self._prepare_reference, self.cases))

    def _prepare_reference(self, case: Case) -> None:
        with suppress(ArmFailed):    # the run itself will say so
            self.reference(case, case.quick_lanes if self.given.quick else case.lanes)

    def start(self, case: Case, arm: Arm, lanes: int, cores: list[int]) -> ArmProcess:
        where, name = arm.command
        missing = self.native.missing.get(name) if where == "native" else next(
            (reason for peer in {arm.peer} | NEEDS.get(arm.peer, set()) if (reason := self.environment.missing.get(peer))), None)
        if missing:
            raise ArmFailed(missing)
        options = {"problem": case.problem, "task": case.task, "lanes": lanes, "stride": arm.stride, "check": arm.looked_at(case, lanes),
                   "cores": self.given.cores, "inputs": self.inputs(case, lanes)} | case.options | arm.options
        told = [f"{key}={value}" for key, value in options.items()]
        environment = {"JAX_PLATFORMS": "cuda" if arm.on_gpu else "cpu"}
        if where == "native":
            told.append(f"compile_seconds={self.native.seconds_of(name)}")
            return ArmProcess([str(self.native.program(name)), *told], cores, self.given.timeout, environment)
        return ArmProcess([str(self.environment.python), str(HERE / "arms" / name), *told], cores, self.given.timeout, environment)

    def inputs(self, case: Case, lanes: int) -> Path:
        """The folder with y0, p and the reference of a case, as arms/reference.py leaves them."""
        name = "_".join([case.problem, case.task, str(lanes), *(f"{key}{value}" for key, value in sorted(case.options.items()))])
        return self.build / "inputs" / name

    def reference(self, case: Case, lanes: int) -> list[float]:
        if (case.key, lanes) not in self.references:
            self.references[case.key, lanes] = self._ask_for_reference(case, lanes)
        return self.references[case.key, lanes]

    def _ask_for_reference(self, case: Case, lanes: int) -> list[float]:
        folder = self.inputs(case, lanes)
        if reason := self.environment.missing.get("scipy"):
            raise ArmFailed(reason)
        options = {"problem": case.problem, "task": case.task, "lanes": lanes, "check": min(lanes, case.check), "inputs": folder}
        command = [str(self.environment.python), str(HERE / "arms/reference.py"),
                   *(f"{key}={value}" for key, value in (options | case.options).items())]
        with ArmProcess(command, [], 600) as process:
            process.hear()
            return process.values()

    def measure(self) -> Suite:
        given = self.given
        output = given.output
        output.mkdir(parents=True, exist_ok=True)
        tolerances = ToleranceFile(HERE / "tolerances.json")
        with open(output / "samples.jsonl", "w", encoding="utf-8") as samples:
            def write(record: dict) -> None:
                samples.write(json.dumps(record, ensure_ascii=False) + "\n")
                samples.flush()
            told = self.machine()
            write({"kind": "machine", "command": self.command} | told)
            suite = Suite(self.start, self.reference, tolerances, write, Progress(1), given.cores, given.rounds,
                          0.02 if given.quick else 0.05, given.quick, self.places)
            suite.progress.total = sum(suite.units(case) for case in self.cases)
            for case in self.cases:
                before = time.monotonic()
                suite.run(case)
                rows = [row for row in suite.rows if row.case == case.key]
                suite.progress.say(f"\n## {case.number}. {case.title}  ({time.monotonic() - before:.0f} s)\n\n{tables.table(case, rows, given.cores)}")
                self.write(suite)
        return suite

    def machine(self) -> dict[str, str]:
        return machine.describe(self.environment.versions() | self.native.versions(), self.given.cores)

    def write(self, suite: Suite) -> None:
        """The page and its pictures, so far: after each case, so that a run that is stopped leaves what it has."""
        self.write_all(suite.rows, suite.sweeps, self.machine(), self.command)

    def write_all(self, rows: list[Row], sweeps: list[Row], told: dict[str, str], command: str) -> None:
        cases = [case for case in self.cases if any(row.case == case.key for row in rows)]
        self.write_page(cases, rows, sweeps, told, command, self.given.output, "")
        if self.given.write_docs:
            self.write_page(cases, rows, sweeps, told, command, ROOT / "docs", "images")
            readme.write(ROOT / "README.md", readme.lines(cases, rows))

    def write_page(self, cases: list[Case], rows: list[Row], sweeps: list[Row], told: dict[str, str], command: str, folder: Path,
                   images: str) -> None:
        shown = {}
        for case in cases:
            file = Path(images) / f"peers_{case.key}.svg"
            if (case.sweep or len(case.targets) > 1) and pictures.draw(case, rows + sweeps, folder / file):
                shown[case.key] = str(file)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "benchmarks.md").write_text(page.page(cases, rows, told, command, shown, self.given.cores), encoding="utf-8")

    def write_again(self) -> None:
        """From the samples of earlier runs; of a row measured twice the later folder's stands."""
        rows: dict[tuple, Row] = {}
        told, commands = {}, []
        for folder in self.given.sources:
            for line in (folder / "samples.jsonl").read_text(encoding="utf-8").splitlines():
                record = json.loads(line)
                if record["kind"] == "row":
                    row = Row.from_record(record)
                    rows[row.case, row.target, row.arm] = row
                elif record["kind"] == "machine":
                    commands.append(record.pop("command"))
                    told = {key: value for key, value in record.items() if key != "kind"}
        targets = {case.key: case.targets for case in self.cases}
        kept = [row for row in rows.values() if row.case in targets]
        is_sweep = [row.target is not None and row.target not in targets[row.case] for row in kept]
        self.write_all([row for row, sweep in zip(kept, is_sweep) if not sweep], [row for row, sweep in zip(kept, is_sweep) if sweep], told,
                       "` and `".join(commands))


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def in_environment(environment: Environment, words: list[str]) -> None:
    """Goes on in the peers' own Python, which has Matplotlib."""
    if environment.python.is_file() and Path(sys.prefix).resolve() != environment.folder.resolve():
        os.execv(environment.python, [str(environment.python), str(HERE / "main.py"), *words])


def shown_command(words: list[str]) -> str:
    """What others have to type for the same figures: without what only says where they go."""
    shown = [word for before, word in zip(["", *words], words)
             if before != "--output" and word not in ("--output", "--no-install") and not word.startswith("--output=")]
    return " ".join(["benchmarks/peers/run", *shown])


def main(words: list[str]) -> int:
    given = arguments(words)
    # Not beside the sources; and of the peers only what they import, which pip would compile whole.
    os.environ["PYTHONPYCACHEPREFIX"] = str(ROOT / "build/peers/bytecode")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    try:
        run = Run(given, shown_command(words))
    except ValueError as error:
        say(f"benchmarks/peers/run: {error}")
        return 2
    if not given.no_install:
        run.environment.prepare(say, {"scipy"})
    in_environment(run.environment, words)
    if given.sources:
        run.write_again()
        return 0
    run.prepare()
    run.prepare_references()
    if given.prepare:
        return 0
    with suppress(KeyboardInterrupt):
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        run.measure()
        say(f"\n{time.monotonic() - run.start_time:.0f} s in all; tables, pictures and samples are in {given.output}")
        return 0
    say("\nstopped; what was measured is in " + str(given.output))
    return 130
