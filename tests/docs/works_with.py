"""works_with.py ROOT: each "no" of docs/guide/what_works_with_what.md names a test that refuses it, and that test says so.

The page ends with a comment of lines `row | column | file: words`; words stand in the file, whose line breaks and quotes do not count.
"""

import re
import sys
from pathlib import Path


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def refusals(text):
    """(row, column) of each cell that begins with no."""
    heading = []
    for line in text.split("\n"):
        if not line.startswith("|"):
            heading = []
        elif not heading:
            heading = cells(line)
        else:
            row, *values = cells(line)
            yield from ((row, column) for column, value in zip(heading[1:], values) if re.match(r"no\b(?!t)", value))


def main():
    root = Path(sys.argv[1])
    tables, _, comment = (root / "docs/guide/what_works_with_what.md").read_text(encoding="utf-8").partition("<!--")
    problems, named = [], {}
    for line in comment.split("\n")[1:]:
        if line.count(" | ") != 2:
            continue
        row, column, test = line.split(" | ")
        file, words = test.split(": ", 1)
        named[row, column] = file
        path = root / file
        text = re.sub(r'"\s*"|\s+', lambda hit: "" if '"' in hit[0] else " ", path.read_text(encoding="utf-8")) if path.is_file() else ""
        if words not in text.replace("\\", ""):
            problems.append(f"{file} does not say '{words}', which {row}, {column} is refused with")
    refused = set(refusals(tables))
    problems += [f"{row}, {column}: no test is named for this no" for row, column in sorted(refused - named.keys())]
    problems += [f"{row}, {column}: {named[row, column]} is named, but the table does not say no" for row, column in sorted(named.keys() - refused)]
    print("\n".join(problems) or f"{len(refused)} refusals, each with its test")
    return 1 if problems or not refused else 0


sys.exit(main())
