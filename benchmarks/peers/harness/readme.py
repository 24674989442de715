"""The README's lines on peers: written between two marks of it by `--write-docs`, so that its figures are those of the page."""

from pathlib import Path

from .case import Case
from .page import busy_cases, is_busy
from .result import Row, best

BEGIN, END = "<!-- figures of benchmarks/peers/run: begin -->", "<!-- figures of benchmarks/peers/run: end -->"


def lines(cases: list[Case], rows: list[Row]) -> str:
    """Where eddy leads, by how much; where a peer does."""
    ahead, behind = [], []
    for case in cases:
        chosen = [row for row in rows if row.case == case.key]
        for target in dict.fromkeys(row.target for row in chosen):
            at_target = [row for row in chosen if row.target == target]
            ours, other = best(at_target, {"eddy"}), best(at_target, without="eddy")
            if not ours or not other:
                continue
            where = case.title + (f" at an error of {target:.0e}" if len(case.targets) > 1 else "")
            if other.median < ours.median:
                behind.append((ours.median / other.median, f"{where}: {other.arm} takes {other.median / ours.median:.2f} of eddy's time"))
            else:
                ahead.append((other.median / ours.median, where, other.arm))
    ahead.sort()
    told = []
    if ahead:
        (low, low_where, low_arm), (high, high_where, high_arm) = ahead[0], ahead[-1]
        told.append(f"- In {len(ahead)} of {len(ahead) + len(behind)} comparisons with the best peer, on one core and at equal achieved error, eddy leads, by a "
                    f"factor of {low:.1f} ({low_where}, {low_arm}) to {high:.0f} ({high_where}, {high_arm}).")
    behind.sort(reverse=True)
    told.append("- It is behind in: " + "; ".join(text for _, text in behind) + "." if behind else "- In none is it behind.")
    if is_busy(rows):
        told.append("- The run shown was made on a machine busy with other work.")
    if busy := busy_cases(cases, rows):
        told.append(f"- Of it, cases {', '.join(case.number for case in busy)} were run on a machine busy with other work.")
    told.append("- Cases, settings, counts, what is not measured, and the command that makes it all on your machine: "
                "[benchmarks against peers](docs/benchmarks.md).")
    return "\n".join(told)


def write(readme: Path, text: str) -> bool:
    """Puts `text` between the marks; False where there are none."""
    before, begin, rest = readme.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        return False
    readme.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")
    return True
