"""The rows of a case as a Markdown table, and what they say in one sentence."""

import math

from .case import Case
from .result import Row, best

UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def table(case: Case, rows: list[Row], cores: int) -> str:
    """One table an error; failures stand in it as words."""
    parts = []
    for target in list(dict.fromkeys(row.target for row in rows)):
        chosen = [row for row in rows if row.target == target]
        heading = f"**At an error of {target:.0e}**: {verdict(chosen)}" if target else verdict(chosen)
        parts.append(heading + "\n\n" + _table(case, chosen, cores))
    return "\n\n".join(parts)


def verdict(rows: list[Row]) -> str:
    ours, other = best(rows, {"eddy"}), best(rows, without="eddy")
    if not ours or not other:
        return "nothing to compare."
    if other.median < ours.median:
        return f"{other.arm} is {ours.median / other.median:.2f} times as fast as eddy ({ours.arm})."
    return f"eddy ({ours.arm}) is {other.median / ours.median:.2f} times as fast as the best peer, {other.arm}."


def _table(case: Case, rows: list[Row], cores: int) -> str:
    ours = best(rows, {"eddy"})
    scale, unit = _unit([row.median for row in rows if row.median > 0])
    clock = "processor" if cores == 1 else f"{cores} cores, wall"
    head = ["", f"{unit} per {case.unit} ({clock}), median", "minimum", "time / eddy's", "error", "tolerance", "steps", "rejected", "evaluations",
            "to compile", "first call"] + (["peak memory"] if case.shows_memory else [])
    lines = ["| " + " | ".join(head) + " |", "| --- |" + " ---: |" * (len(head) - 1)]
    order = sorted(rows, key=lambda row: (bool(row.failure), row.median))
    for row in order:
        name = row.arm.replace("|", "\\|")
        if row.failure:
            lines.append(f"| {name} | {row.failure.replace('|', '/')} |" + " |" * (len(head) - 2))
            continue
        ratio = f"{row.median / ours.median:.2f}" if ours else ""
        error = _number(row.error, ".1e") + (f" **({row.mark})**" if row.mark else "")
        cells = [name, _three(row.median / scale), _three(row.minimum / scale), ratio, error, _number(row.tolerance, ".1e"),
                 _count(row.accepted), _count(row.rejected), _count(row.evaluations), _seconds(row.compile), _seconds(row.first)]
        if case.shows_memory:
            cells.append(f"{row.memory / 2**20:.0f} MiB")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def settings(rows: list[Row]) -> str:
    """How each arm was set, once."""
    told = {row.arm: row for row in rows if row.setting}
    return "\n".join(f"- {arm}: {row.setting}" + (f"; every {row.stride}th lane alone" if row.stride > 1 else "")
                     + "".join(f"; {key} {value}" for key, value in row.extra.items()) for arm, row in told.items())


def _unit(times: list[float]) -> tuple[float, str]:
    least = min(times, default=1.0)
    return next(((scale, unit) for scale, unit in UNITS if least >= scale), UNITS[-1])


def _is_number(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def _number(value: float | None, form: str) -> str:
    return format(value, form) if _is_number(value) else ""


def _three(value: float) -> str:
    if not _is_number(value):
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _count(value: float) -> str:
    return (f"{value:,.0f}" if value >= 100 else f"{value:.4g}") if _is_number(value) else ""


def _seconds(value: float) -> str:
    return f"{_three(value)} s" if _is_number(value) and value >= 0.001 else ("< 1 ms" if _is_number(value) else "")
