#!/usr/bin/env python3
"""From a C++ function to a gradient, and what is decided when: `docs/images/drawing/pipeline.py` writes docs/images/pipeline.svg."""

from pathlib import Path

from svg import BLUE, GREEN, INK, ORANGE, QUIET, RED, Page

BOXES = (
    ("1. Your function", BLUE, ["f(t, y, p) {", "  return vec(", "    p[0]*y[0]", "     - p[1]*y[0]*y[1],", "    p[2]*y[0]*y[1]", "     - p[3]*y[1]);", "}"],
     ["a generic C++ function:", "plain arithmetic"]),
    ("2. A program", GREEN, ["v0 = p0 * y0", "v1 = p1 * y0", "v2 = v0 - v1 * y1", "v3 = p2 * y0", "v4 = v3*y1 - p3*y1", "return (v2, v4)", ""],
     ["traced and simplified;", "its derivatives are programs"]),
    ("3. One SIMD loop", ORANGE, ["stages of the method", "error, next step size", "", "8 trajectories at once,", "each with its own t, dt", "and its own result", ""],
     ["program, method and step", "size control, fused"]),
    ("4. The gradient", RED, ["steps from the last", "to the first", "", "states from checkpoints,", "some computed again", "bit for bit", ""],
     ["the same loop, backward:", "the derivative of step 3"]),
)
WIDTH, BOX, GAP, TOP, HEIGHT = 900, 198, 24, 56, 186


def arrow(page, x, y):
    page.line(x + 2, y, x + GAP - 8, y, INK, 2)
    page.parts.append(f'<path d="M{x + GAP - 10:.1f},{y - 5} l8,5 l-8,5 z" fill="{INK}"/>')


def bracket(page, left, right, words):
    y = TOP + HEIGHT + 54
    page.line(left, y, right, y, QUIET, 1.5)
    for x in (left, right):
        page.line(x, y - 6, x, y, QUIET, 1.5)
    page.text((left + right) / 2, y + 20, words, 14, INK, "middle")


def main():
    page = Page(WIDTH, TOP + HEIGHT + 88, "From a function to its gradient")
    page.text(18, 30, "From a right-hand side to a gradient", 17, weight="bold")
    for index, (title, colour, code, notes) in enumerate(BOXES):
        x = 18 + index * (BOX + GAP)
        page.rect(x, TOP, BOX, HEIGHT, "#fbfcfd", colour, 6)
        page.rect(x, TOP, BOX, 30, colour, "none", 6)
        page.text(x + 12, TOP + 20, title, 15, "white", weight="bold")
        for line, words in enumerate(code):
            page.text(x + 12, TOP + 56 + 19 * line, words, 13, family="DejaVu Sans Mono, Menlo, Consolas, monospace" if index < 2 else "")
        for line, words in enumerate(notes):
            page.text(x + 4, TOP + HEIGHT + 20 + 17 * line, words, 13, QUIET)
        if index:
            arrow(page, x - GAP, TOP + HEIGHT / 2)
    bracket(page, 18, 18 + 2 * BOX + GAP, "when your program is compiled")
    bracket(page, 18 + 2 * (BOX + GAP), 18 + 4 * BOX + 3 * GAP, "compiled with it, run for each call")
    page.write(Path(__file__).resolve().parents[1] / "pipeline.svg")


main()
