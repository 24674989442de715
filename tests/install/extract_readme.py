"""extract_readme.py README.md FOLDER: writes the README's project, its CMakeLists.txt and its program, to FOLDER, and what the README shows
of the program's output, to FOLDER/main.shown."""

import re
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent / "docs"))
from extract import BLOCK, SHOWN, write, write_program  # noqa: E402

PROJECT = re.compile(r"^```cmake\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def main():
    page, folder = Path(sys.argv[1]), Path(sys.argv[2])
    text = page.read_text(encoding="utf-8")
    programs = [block for block in BLOCK.finditer(text) if re.search(r"\bint main\b", block[1])]
    projects = [block[1] for block in PROJECT.finditer(text) if "project(" in block[1]]
    if len(programs) != 1 or len(projects) != 1:
        sys.exit(f"{page}: {len(programs)} programs and {len(projects)} projects in CMake; one of each is built")
    if not SHOWN.match(text, programs[0].end()):
        sys.exit(f"{page}: the program's output must follow it")
    folder.mkdir(parents=True, exist_ok=True)
    write_program(page, text, programs[0], folder / "main.cpp")
    write(folder / "CMakeLists.txt", projects[0])


main()
