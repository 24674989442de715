"""header_hubs.py ROOT HUB… < headers: which headers are compiled together, and after which hub. Headers and hubs are named as in an
#include; a line of the answer is "hub header…", with "-" for no hub.

A header may be compiled after every header that it includes itself, directly or not, before its own text: it reads them in any case. Of
the hubs among them it gets the one that includes most. The headers of one line have that hub in common, and each includes all
that stand before it: what the last one's compilation reads is no more than what it would read alone, and so for each of them.
An include that stands under a condition, or after other text, counts for nothing here. There are as few lines as there can be
(Dilworth's theorem: as many as there are headers, less a largest matching). Headers that include each other are refused: of these
none could be compiled first.
"""

import re
import sys
from pathlib import Path

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
INCLUDE = re.compile(r"#\s*include\s*<([^>]+)>$")


def includes_above(text):
    """Those that stand before all other text, under no condition."""
    found, depth = [], 0
    for line in map(str.strip, COMMENT.sub("", text).replace("\\\n", " ").splitlines()):
        if include := INCLUDE.match(line):
            if depth == 0:
                found.append(include[1])
        elif re.match(r"#\s*if", line):
            depth += 1
        elif re.match(r"#\s*endif", line):
            depth -= 1
        elif line and depth == 0 and not re.match(r"#\s*pragma once$", line):
            break
    return found


class Includes:
    def __init__(self, root):
        self.root = Path(root)
        self.closures = {}

    def path_of(self, name):
        if name.startswith("eddy/solvers/"):
            return self.root / name.removeprefix("eddy/")
        return self.root / "include" / name

    def of(self, name, above=()):
        """All that `name` includes, directly or not; standard headers as well, what these include left out."""
        if name in above:
            sys.exit(f"headers include each other: {' '.join([*above[above.index(name):], name])}")
        if name not in self.closures:
            path = self.path_of(name)
            direct = includes_above(path.read_text(encoding="utf-8")) if path.is_file() else []
            self.closures[name] = set(direct).union(*(self.of(include, (*above, name)) for include in direct))
        return self.closures[name]


def chains(headers, includes):
    """These headers in as few rows as there can be, in which each includes all before it."""
    after = {}      # header: the one that follows it in its row
    before = {}

    def find_place(header, tried):
        """Gives `header` a follower, for which others may have to take another one."""
        for other in headers:
            if header in includes.of(other) and other not in tried:
                tried.add(other)
                if other not in before or find_place(before[other], tried):
                    after[header], before[other] = other, header
                    return True
        return False

    for header in headers:
        find_place(header, set())
    for first in headers:
        if first not in before:
            row = [first]
            while row[-1] in after:
                row.append(after[row[-1]])
            yield row


def main():
    includes = Includes(sys.argv[1])
    hubs = sorted(sys.argv[2:], key=lambda hub: len(includes.of(hub)), reverse=True)
    of_hub = {}
    for header in sys.stdin.read().split():
        of_hub.setdefault(next((hub for hub in hubs if hub in includes.of(header)), "-"), []).append(header)
    for hub, headers in of_hub.items():
        for row in chains(headers, includes):
            print(hub, *row)


main()
