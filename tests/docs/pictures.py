"""pictures.py ROOT: each picture of docs/images is shown by a page, and named by the program or script that draws it."""

import sys
from pathlib import Path

DRAWN_BY = ("examples/**/*.cpp", "benchmarks/**/*.cpp", "benchmarks/**/*.py", "docs/images/**/*.py", "docs/images/drawing/tutorial")


def text_of(root, patterns):
    files = (file for pattern in patterns for file in sorted(root.glob(pattern)))
    return "\n".join(file.read_text(encoding="utf-8") for file in files if "build" not in file.relative_to(root).parts)


def main():
    root = Path(sys.argv[1])
    pages, programs = text_of(root, ("README.md", "docs/**/*.md")), text_of(root, DRAWN_BY)
    problems = []
    for picture in sorted((root / "docs/images").glob("*.*g")):
        name = picture.name
        if f"images/{name})" not in pages:
            problems.append(f"no page shows docs/images/{name}")
        # Those of the benchmarks are named by their cases.
        if not name.startswith("peers_") and f"docs/images/{name}" not in programs:
            problems.append(f"no program says that it draws docs/images/{name}; write the command into its head")
    print("\n".join(problems))
    return 1 if problems else 0


sys.exit(main())
