"""docs/benchmarks.md: the tables of a run, with what each case means."""

from . import tables
from .case import Case
from .race import median
from .result import Row

INTRODUCTION = """# Benchmarks against peers

This page is written by `{command}`. It shows one run, on one machine; the same command makes it anew on yours.
{busy}
How it is measured:

- Every arm is a process of its own, pinned to {cores}. The arms of a case are started, compiled and tuned side by side, then take turns in one place, round after round; the median over the rounds is
  compared, the minimum stands beside it. Time is {clock}; results are waited for before the clock stops. Compiling and
  the first call stand in columns of their own and count for nothing else: for eddy, odeint, SUNDIALS and Eigen the time to compile is
  that of the arm's source, at `-O3 -march=native`, its other methods included.
- Arms are compared at equal achieved error, not at equal tolerance: the tolerance of each is found by bisection, and written
  to `benchmarks/peers/tolerances.json`. The error is relative, in the 2-norm over all components of up to 64 lanes (where a case says so, of
  the worst component), against a solution in 80-bit numbers that SciPy's DOP853 or Radau confirms. An arm that misses the error by more than a factor of 1.5 is marked, and
  compared with nothing if its error is too large.
- Everything is in double precision unless a row says otherwise. Steps, rejected steps and evaluations of f are per lane: a faster method
  is told from faster code by them. A blank means that the peer does not say.
- Peers run in the best setting that their documentation names; it stands below each table. A peer that could not be had, crashed or did
  not answer is a line that says so.
"""

BUSY = """
**This run was made on a machine busy with other work** (the wall showed {ratio:.2f} times the processor's time): times are rough, and
ratios of less than 1.2 mean nothing.
"""


BUSY_CASE = """**The machine was busy with other work while this case ran** (the wall showed {ratio:.2f} times the processor's time): times are rough.
"""


def wall_over_processor(rows: list[Row]) -> float:
    return median([row.wall_over_processor for row in rows if row.wall_over_processor > 0])


def is_busy(rows: list[Row]) -> bool:
    """Others had the processor for more than a tenth of the time."""
    return wall_over_processor(rows) > 1.1


def busy_cases(cases: list[Case], rows: list[Row]) -> list[Case]:
    """Those that ran on a busy machine, where not all did."""
    return [] if is_busy(rows) else [case for case in cases if is_busy([row for row in rows if row.case == case.key])]


def page(cases: list[Case], rows: list[Row], machine: dict[str, str], command: str, pictures: dict[str, str], cores: int) -> str:
    busy = BUSY.format(ratio=wall_over_processor(rows)) if cores == 1 and is_busy(rows) else ""
    parts = [INTRODUCTION.format(command=command, busy=busy, cores="one core" if cores == 1 else f"{cores} cores",
                                 clock="the processor's, which on a quiet machine is that of the wall" + (
                                     ", for arms on a GPU that of the wall" if "GPU" in machine else "") if cores == 1 else "that of the wall")]
    parts.append(summary(cases, rows))
    parts.append("Not compared: DifferentialEquations.jl and DiffEqGPU, AMICI, PETSc, sparse Jacobians of CVODES, several threads, large states, GPUs.")
    for case in cases:
        chosen = [row for row in rows if row.case == case.key]
        parts.append(f"## {case.number}. {case.title}\n\n{case.paragraph}")
        lanes = max((row.lanes for row in chosen), default=0)
        if lanes and lanes != case.lanes:
            parts.append(f"**This run was a quick one: {lanes:,} lanes.**")
        if case.key in pictures:
            parts.append(f"![Error against time: {case.title}]({pictures[case.key]})")
        if cores == 1 and case in busy_cases(cases, rows):
            parts.append(BUSY_CASE.format(ratio=wall_over_processor(chosen)))
        parts.append(tables.table(case, chosen, cores))
        if told := tables.settings(chosen):
            parts.append(told)
    parts.append("## The machine\n\n| | |\n| --- | --- |\n" + "\n".join(f"| {key} | {value} |" for key, value in machine.items()))
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def summary(cases: list[Case], rows: list[Row]) -> str:
    lines = ["| case | error | who is faster |", "| --- | --- | --- |"]
    for case in cases:
        chosen = [row for row in rows if row.case == case.key]
        for target in dict.fromkeys(row.target for row in chosen):
            said = tables.verdict([row for row in chosen if row.target == target])
            lines.append(f"| {case.number}. {case.title} | {f'{target:.0e}' if target else ''} | {said} |")
    return "\n".join(lines)
