#!/usr/bin/env python3
"""Seconds to compile against the number of states, from the table of docs/guide/performance.md that begins with states:
`docs/images/drawing/compile_time.py` writes docs/images/compile_time.svg. Entries such as "more than" are not drawn."""

import re
from pathlib import Path

from svg import BLUE, GRID, INK, ORANGE, QUIET, RED, Page, logarithmic

ROOT = Path(__file__).resolve().parents[3]
LEFT, RIGHT, TOP, BOTTOM = 74, 660, 52, 330


def curves() -> list[tuple[str, list[tuple[float, float]]]]:
    """Each column's name, without marks, and its (states, seconds)."""
    text = (ROOT / "docs/guide/performance.md").read_text(encoding="utf-8")
    head, rows = re.search(r"^\| states \|(.*)\|\n\|[- |:]*\|\n((?:\|.*\|\n)+)", text, re.MULTILINE).groups()
    found = [(name.replace("`", "").strip(), []) for name in head.split("|")]
    for row in rows.splitlines():
        states, *entries = (entry.strip() for entry in row.strip("|").split("|"))
        for (_, points), entry in zip(found, entries):
            if seconds := re.match(r"([\d.]+) s\b", entry):
                points.append((float(states.replace(",", "")), float(seconds[1])))
    return found


def main():
    page = Page(800, BOTTOM + 58, "Seconds to compile against the number of states")
    page.text(16, 26, "Seconds to compile: states that are written one by one, each with its neighbours", 16, weight="bold")
    x, y = logarithmic(64, 1250, LEFT, RIGHT), logarithmic(3, 200, BOTTOM, TOP)
    for states in (100, 200, 400, 1000):
        page.line(x(states), TOP, x(states), BOTTOM)
        page.text(x(states), BOTTOM + 20, f"{states:,}", 13, QUIET, "middle")
    for seconds in (5, 10, 20, 50, 100, 200):
        page.line(LEFT, y(seconds), RIGHT, y(seconds), GRID)
        page.text(LEFT - 8, y(seconds) + 5, str(seconds), 13, QUIET, "end")
    page.line(LEFT, TOP, LEFT, BOTTOM, INK)
    page.line(LEFT, BOTTOM, RIGHT, BOTTOM, INK)
    page.text((LEFT + RIGHT) / 2, BOTTOM + 44, "states", 14, INK, "middle")
    page.text(24, (TOP + BOTTOM) / 2, "seconds, g++ 12", 14, INK, "middle", turned=True)
    for (name, points), colour in zip(curves(), (BLUE, ORANGE, RED)):
        places = [(x(states), y(seconds)) for states, seconds in points]
        page.polyline(places, colour)
        for place in places:
            page.circle(*place, 4, colour)
        if len(places) == 1:
            page.text(places[0][0], places[0][1] - 12, name, 14, colour, "middle")
        else:
            page.text(places[-1][0] + 10, places[-1][1] - 6, name, 14, colour)
    page.write(ROOT / "docs/images/compile_time.svg")


main()
