"""The README's lines on peers: written between two marks of it by `--write-docs`, so that its figures are those of the page."""

from pathlib import Path

from .case import Case
from .page import busy_cases, is_busy
from .result import Row, best

BEGIN, END = "<!-- figures of benchmarks/peers/run: begin -->", "<!-- figures of benchmarks/peers/run: end -->"


# The comparisons of which the README gives a figure: number of the case, error, what it is about.
SHOWN = (("2", 1e-6, "adaptive Lorenz trajectories"), ("3", 1e-6, "their gradients"),
         ("5a", None, "training of a neural ODE, 2-64-64-2"),
         ("8f", None, "gradients of a stiff model, 20 species"), ("10a", 1e-6, "one trajectory, one call"))


def comparisons(cases: list[Case], rows: list[Row]):
    """(case, target, our fastest row, the fastest of the peers) wherever both finished."""
    for case in cases:
        at_case = [row for row in rows if row.case == case.key]
        for target in dict.fromkeys(row.target for row in at_case):
            at_target = [row for row in at_case if row.target == target]
            ours, other = best(at_target, {"eddy"}), best(at_target, without="eddy")
            if ours and other:
                yield case, target, ours, other


def lines(cases: list[Case], rows: list[Row]) -> str:
    """How often eddy leads and where a peer does, then the numbers of SHOWN."""
    compared = list(comparisons(cases, rows))
    behind = [(ours.median / other.median, f"{case.title}{f' at an error of {target:.0e}' if len(case.targets) > 1 else ''}: "
               f"{other.arm} takes {other.median / ours.median:.2f} of eddy's time")
              for case, target, ours, other in compared if other.median < ours.median]
    told = [f"On one core and at equal achieved error, eddy is faster than the best peer in {len(compared) - len(behind)} of {len(compared)} comparisons:"]
    if behind:
        told.append("it is slower in " + "; ".join(text for _, text in sorted(behind, reverse=True)) + ".")
    told += ["", "| | times as fast as the best peer |", "| --- | --- |"]
    for number, wanted, what in SHOWN:
        told += [f"| {what} | {other.median / ours.median:.1f} ({other.arm}) |" for case, target, ours, other in compared
                 if case.number == number and wanted in (None, target)]
    told.append("")
    if is_busy(rows):
        told.append("The run shown was made on a machine busy with other work.")
    if busy := busy_cases(cases, rows):
        told.append(f"Of it, cases {', '.join(case.number for case in busy)} were run on a machine busy with other work.")
    told.append("Cases, settings, counts, and the command that makes it all on your machine: [benchmarks](docs/benchmarks.md).")
    return "\n".join(told)


def write(readme: Path, text: str) -> bool:
    """Puts `text` between the marks; False where there are none."""
    before, begin, rest = readme.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        return False
    readme.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")
    return True
