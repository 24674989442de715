"""extract_readme.py README.md FOLDER: writes the README's project, its CMakeLists.txt and its program, to FOLDER."""

import re
import sys
from pathlib import Path

BLOCK = re.compile(r"^```(cpp|cmake)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def main():
    page, folder = Path(sys.argv[1]), Path(sys.argv[2])
    text = page.read_text(encoding="utf-8")
    programs, projects = [], []
    for block in BLOCK.finditer(text):
        line = text.count("\n", 0, block.start(2)) + 1
        if block[1] == "cpp" and re.search(r"\bint main\b", block[2]):
            programs.append(f'#line {line} "{page}"\n{block[2]}')
        if block[1] == "cmake" and "project(" in block[2]:
            projects.append(block[2])
    if len(programs) != 1 or len(projects) != 1:
        sys.exit(f"{page}: {len(programs)} programs and {len(projects)} projects in CMake; one of each is built")
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in (("main.cpp", programs[0]), ("CMakeLists.txt", projects[0])):
        file = folder / name
        if not file.is_file() or file.read_text(encoding="utf-8") != content:
            file.write_text(content, encoding="utf-8")


main()
