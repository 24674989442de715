#!/usr/bin/env python3
"""The ratios of docs/benchmarks.md as one chart of bars: `docs/images/drawing/peers_ratios.py` writes docs/images/peers_ratios.svg.
Only the first table of that page is read, so that no figure of the chart can differ from it."""

import re
from pathlib import Path

from svg import BLUE, GRID, INK, ORANGE, QUIET, Page, logarithmic

ROOT = Path(__file__).resolve().parents[3]
ROW = re.compile(r"^\| (?P<number>\w+)\. (?P<case>[^|]*?) \| (?P<error>[^|]*?) ?\| (?P<what>[^|]*) \|$", re.MULTILINE)
AHEAD = re.compile(r"is (?P<ratio>[\d.]+) times as fast as the best peer, (?P<peer>.*)\.$")
LEFT, RIGHT, TOP, ROW_HEIGHT, WIDTH = 330, 592, 74, 22, 860


SHORTER = ((", single precision", ""), (" of constant size", ""), ("Gradient of ", "gradient of "), (", gradient", ""), (" lanes", " trajectories"),
           ("Geometric Brownian motion", "Brownian motion"), ("Stiff: ", "stiff: "), ("stiff equations", "stiff"), ("Robertson's reactions", "Robertson"),
           ("Latency: one trajectory, a solve", "one trajectory, one call"), ("Latency: one trajectory, its gradient", "one trajectory, one call"),
           (" to 3.24, forcing to 2.5", " to 3.24"), (" to 13.8, forcing to 3.4", " to 13.8"), (" to 8.8, forcing to 2.1", " to 8.8"))


def shorten(case: str) -> str:
    for long, short in SHORTER:
        case = case.replace(long, short)
    return case


def comparisons() -> list[tuple[float, str, str, bool]]:
    """(ratio, case, best peer, is it of gradients), the largest ratio first."""
    found = []
    for row in ROW.finditer((ROOT / "docs/benchmarks.md").read_text(encoding="utf-8")):
        ahead = AHEAD.search(row["what"])
        if not ahead:
            raise SystemExit(f"peers_ratios: case {row['number']} is not one that eddy leads: \"{row['what']}\"; teach this script to draw it")
        gradient = "radient" in row["case"] or row["number"] in ("5a", "5b", "11")
        case = shorten(row["case"])
        case = f"gradient, {case.removeprefix('gradient of ')}" if "radient" in row["case"] else case
        error = f", {row['error'].replace('e-0', 'e-')}" if row["error"] and row["number"] in ("2", "3") else ""
        found.append((float(ahead["ratio"]), f"{case[0].upper()}{case[1:]}{error}", ahead["peer"], gradient))
    return sorted(found, key=lambda row: -row[0])


def main():
    rows = comparisons()
    bottom = TOP + ROW_HEIGHT * len(rows)
    page = Page(WIDTH, bottom + 56, "Times as fast as the best peer")
    page.text(16, 26, f"Times as fast as the best peer: {len(rows)} comparisons, one core, equal achieved error", 16, weight="bold")
    for x, colour, words in ((LEFT, BLUE, "solution"), (LEFT + 100, ORANGE, "gradient, training or fit")):
        page.rect(x, 42, 14, 12, colour)
        page.text(x + 20, 53, words, 13)
    place = logarithmic(1, 500, LEFT, RIGHT)
    for value in (1, 2, 5, 10, 20, 50, 100, 200, 500):
        page.line(place(value), TOP - 6, place(value), bottom + 4, INK if value == 1 else GRID)
        page.text(place(value), bottom + 20, str(value), 12, QUIET, "middle")
    for index, (ratio, case, peer, gradient) in enumerate(rows):
        y = TOP + ROW_HEIGHT * index
        page.text(LEFT - 10, y + 14, case, 13, anchor="end")
        page.rect(LEFT, y + 2, place(ratio) - LEFT, ROW_HEIGHT - 6, ORANGE if gradient else BLUE)
        shown = f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}"
        page.text(place(ratio) + 6, y + 14, shown, 13, weight="bold")
        page.text(place(ratio) + 14 + 9 * len(shown), y + 14, peer, 12, QUIET)
    page.text((LEFT + RIGHT) / 2, bottom + 42, "ratio of times, logarithmic: 1 is the fastest peer, which stands beside the bar", 12, QUIET, "middle")
    page.write(ROOT / "docs/images/peers_ratios.svg")


main()
