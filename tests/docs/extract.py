"""extract.py PAGE.md FOLDER: writes each ```cpp block with a main to FOLDER/page_number.cpp (of other folders than
docs/guide: folder_page_number.cpp), and prints the files' paths. A block without a language behind it, with one line of text between at
most, is what the program prints: it becomes FOLDER/page_number.shown."""

import re
import sys
from pathlib import Path

BLOCK = re.compile(r"^```cpp\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SHOWN = re.compile(r"\n\n(?:[^\n`]+\n\n)?```\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def write(file, text):
    if not file.is_file() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")


def write_program(page, text, block, program):
    """The program of a block, and what the page shows of its output."""
    line = text.count("\n", 0, block.start(1)) + 1
    write(program, f'#line {line} "{page}"\n{block[1]}')
    shown, file = SHOWN.match(text, block.end()), program.with_suffix(".shown")
    if shown:
        write(file, shown[1])
    else:
        file.unlink(missing_ok=True)


def main():
    page, folder = Path(sys.argv[1]), Path(sys.argv[2])
    text = page.read_text(encoding="utf-8")
    prefix = "" if page.parent.name == "guide" else f"{page.parent.name}_"
    for count, block in enumerate(BLOCK.finditer(text), start=1):
        if not re.search(r"\bint main\b", block[1]):
            continue
        program = folder / f"{prefix}{page.stem.lower()}_{count}.cpp"
        write_program(page, text, block, program)
        print(program)


if __name__ == "__main__":
    main()
