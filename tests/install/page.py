"""page.py INSTALL.md README.md FOLDER: writes what the page on installing shows to FOLDER, for the tests that run it.

Each project in CMake becomes FOLDER/WAY, with the program of tests/install/page_program.cpp: WAY is the function of eddy or CMake that it
gets eddy by. Each line that calls g++ becomes FOLDER/lines/pkg-config.sh or g++.sh, beside main.cpp, the program of the README."""

import re
import sys
from pathlib import Path

BLOCK = re.compile(r"^```(cmake|sh|cpp)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
WAYS = ["FetchContent", "add_subdirectory", "eddy_link_sources", "find_package"]    # the first that a project calls
OTHERS = re.compile(r"sudo apt-get install|cmake -B build|conan create packaging/conan")    # done by other tests, or changing the machine


def blocks(path, kind):
    return [block[2] for block in BLOCK.finditer(path.read_text(encoding="utf-8")) if block[1] == kind]


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def main():
    page, readme, folder = (Path(argument) for argument in sys.argv[1:4])
    program = (Path(__file__).parent / "page_program.cpp").read_text(encoding="utf-8")
    ways = {}
    for project in blocks(page, "cmake"):
        way = next((way for way in WAYS if f"{way}_Declare(" in project or f"{way}(" in project), None)
        if way is None or way in ways:
            sys.exit(f"{page}: a project that gets eddy by {way}; there is one for each of {WAYS}")
        ways[way] = project
        write(folder / way / "CMakeLists.txt", project)
        write(folder / way / "main.cpp", program)
        write(folder / way / "kernels.cpp", "double kernel(double a, double b) { return a * a - b; }\n")
    lines = {}
    for line in "".join(blocks(page, "sh")).splitlines():
        if line.startswith("g++ "):
            lines["pkg-config" if "pkg-config" in line else "g++"] = line
        elif not OTHERS.match(line):
            sys.exit(f"{page}: no test runs this line: {line}")
    if len(ways) != len(WAYS) or len(lines) != 2:
        sys.exit(f"{page}: projects by {sorted(ways)} and lines with {sorted(lines)}; expected one of each")
    for name, line in lines.items():
        write(folder / "lines" / f"{name}.sh", line + "\n")
    mains = [text for text in blocks(readme, "cpp") if re.search(r"\bint main\b", text)]
    write(folder / "lines" / "readme" / "main.cpp", mains[0])
    write(folder / "lines" / "main.cpp", program)


main()
