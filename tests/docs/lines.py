"""lines.py ROOT: examples of checkpointing take at most 1.3 times as many lines in C++ as in Python, the last one no more.

Reads the two programs at the end of docs/coming_from/activation_checkpointing.md. A comment on a line of its own begins an example, which has
the same name in both. Lines that are blank or comments do not count.
"""

import re
import sys
from pathlib import Path

MOST = 1.3
SAME = "a scan: y is kept, z offloaded, w computed again"


def examples(program, mark):
    """The number of lines of each example; those above the first one are named ''."""
    counts, name = {"": 0}, ""
    for line in program.splitlines():
        if line.startswith(mark + " "):
            name = line.removeprefix(mark + " ")
            counts[name] = 0
        elif line.strip() and not line.strip().startswith(mark):
            counts[name] += 1
    return counts


text = Path(sys.argv[1], "docs/coming_from/activation_checkpointing.md").read_text(encoding="utf-8")
found = re.search(r"^```python\n(.*?)^```\n+```cpp\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
if not found:
    sys.exit("there is no program in Python with one in C++ behind it")
python, cpp = examples(found[1], "#"), examples(found[2], "//")
problems = []
if list(python) != list(cpp) or len(python) < 7 or SAME not in python:
    problems.append(f"the examples differ: {list(python)}, {list(cpp)}")
for name in python.keys() & cpp.keys():
    most = python[name] if name == SAME else MOST * python[name]
    if cpp[name] > most:
        problems.append(f"'{name}': {cpp[name]} lines in C++, {python[name]} in Python")
print(f"{sum(cpp.values())} lines in C++, {sum(python.values())} in Python:", {k: (cpp[k], n) for k, n in python.items()})
sys.exit("\n".join(problems) or 0)
