"""A page of SVG: rectangles, lines and text at given places. What the pictures of this folder share. With `--check` a picture is not
written but compared with the file that stands: a test asks whether it is the one that its script draws today."""

import sys
from html import escape
from math import log10
from pathlib import Path

INK, QUIET, GRID = "#1a1a1a", "#5b6470", "#dfe3e8"
BLUE, ORANGE, GREEN, RED = "#2f6db3", "#d9822b", "#3c8d5a", "#b83a3a"


class Page:
    def __init__(self, width: int, height: int, title: str):
        self.width, self.height = width, height
        self.parts = [f"<title>{escape(title)}</title>", f'<rect width="{width}" height="{height}" fill="white"/>']

    def rect(self, x, y, width, height, fill, stroke="none", radius=0):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{radius}" fill="{fill}" stroke="{stroke}"/>')

    def line(self, x0, y0, x1, y1, stroke=GRID, width=1.0, dash=""):
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" stroke="{stroke}" stroke-width="{width}"{dashes}/>')

    def polyline(self, points, stroke, width=2.0, dash=""):
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{stroke}" stroke-width="{width}"{dashes}/>')

    def circle(self, x, y, radius, fill):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{fill}"/>')

    def text(self, x, y, words, size=13, fill=INK, anchor="start", weight="normal", family="", turned=False):
        turn = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turned else ""
        kind = f' font-family="{family}" xml:space="preserve"' if family else ""
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{fill}" text-anchor="{anchor}" font-weight="{weight}"{kind}{turn}>{escape(words)}</text>')

    def write(self, file: Path):
        head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" viewBox="0 0 {self.width} {self.height}" font-family="Helvetica, Arial, sans-serif">'
        drawn = "\n".join([head, *self.parts, "</svg>", ""])
        if "--check" not in sys.argv[1:]:
            file.write_text(drawn, encoding="utf-8")
        elif not file.is_file() or file.read_text(encoding="utf-8") != drawn:
            raise SystemExit(f"{file} is not what {sys.argv[0]} draws: run that script")


def logarithmic(low: float, high: float, start: float, end: float):
    """The place of a value on an axis that runs from `low` at `start` to `high` at `end`."""
    return lambda value: start + (end - start) * log10(value / low) / log10(high / low)
