"""header_hubs.py ROOT HUB… < headers: for each header, which hub it may be compiled after. Headers and hubs are named as in an
#include; a line of the answer is "header hub", or "header" alone where it includes none of them.

A header may be compiled after every header that it includes itself, directly or not. Of the hubs among them the answer is the one
that includes most. Headers that include each other are refused: of these none could be compiled first.
"""

import re
import sys
from pathlib import Path

INCLUDE = re.compile(r"^\s*#\s*include\s*<([^>]+)>", re.MULTILINE)


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
            direct = INCLUDE.findall(path.read_text(encoding="utf-8")) if path.is_file() else []
            self.closures[name] = set(direct).union(*(self.of(include, (*above, name)) for include in direct))
        return self.closures[name]


def main():
    includes = Includes(sys.argv[1])
    hubs = sorted(sys.argv[2:], key=lambda hub: len(includes.of(hub)), reverse=True)
    for header in sys.stdin.read().split():
        hub = next((hub for hub in hubs if hub in includes.of(header)), "")
        print(f"{header} {hub}".rstrip())


main()
