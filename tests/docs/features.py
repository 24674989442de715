"""features.py ROOT: docs/reference/checkpointing_features.md names tests that exist, counts its lines, and has links that lead somewhere.

In the last column code is either a file or, behind it, the name of a case in that file (of a page: of its program in CTest).
"""

import re
import sys
from pathlib import Path

CASE = re.compile(r'TEST_CASE\w*\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)')


def cases(file):
    """Names of the cases of a source, or of the programs of a page."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".md":
        folder = "" if file.parent.name == "guide" else file.parent.name + "_"
        blocks = enumerate(re.findall(r"^```cpp\n(.*?)^```$", text, re.DOTALL | re.MULTILINE), start=1)
        return {f"docs.{folder}{file.stem}_{n}" for n, block in blocks if "int main" in block}
    return {"".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals)) for literals in CASE.findall(text)}


root, page = Path(sys.argv[1]), Path(sys.argv[1], "docs/reference/checkpointing_features.md")
text = page.read_text(encoding="utf-8")
problems, counts, named = [], {"hold": 0, "in part": 0, "not yet": 0}, set()
rows = [re.split(r"\s*\|\s*", line.strip("| ")) for line in re.findall(r"^\| *\d+ \|.*$", text, re.MULTILINE)]
for number, (label, _, _, test) in enumerate(rows, start=1):
    kind = next((word for word in ("in part", "not yet") if test.startswith(word + ": ")), "hold")
    counts[kind] += 1
    file, found = root, 0
    for code in re.findall(r"`([^`]+)`", test):
        if re.fullmatch(r"[\w/]+\.(cpp|md)", code):
            file = root / ("" if code.startswith("docs/") else "tests") / code
            continue
        found += 1
        named.add((number, code))
        if not file.is_file() or code not in cases(file):
            problems.append(f"line {number}: there is no '{code}' in {file}")
    if int(label) != number or (found == 0) != (kind == "not yet"):
        problems.append(f"line {label} is number {number}, '{kind}' with {found} tests")
for file in (root / "tests").rglob("*.cpp"):
    own = [(int(row[1]), name) for name in cases(file) if (row := re.match(r"row (\d+):", name))]
    problems += [f"line {row} does not name '{name}'" for row, name in own if (row, name) not in named]
if f"Of {len(rows)} lines {counts['hold']} hold, {counts['in part']} in part, {counts['not yet']} not yet." not in text:
    problems.append(f"the page counts otherwise: {len(rows)} lines, {counts}")
for target, anchor in re.findall(r"\]\(([^)#\s]+)(?:#([^)\s]*))?\)", text):
    heads = re.findall(r"^#+ (.*)$", (page.parent / target).read_text(encoding="utf-8"), re.MULTILINE)
    if anchor and anchor not in [re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads]:
        problems.append(f"no such place: {target}#{anchor}")
sys.exit("\n".join(problems) or 0)
