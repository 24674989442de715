"""extract.py PAGE.md FOLDER: writes each ```cpp block with a main to FOLDER/page_number.cpp (of other folders than
docs/guide: folder_page_number.cpp), and prints the files' paths."""

import re
import sys
from pathlib import Path

BLOCK = re.compile(r"^```cpp\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def main():
    page, folder = Path(sys.argv[1]), Path(sys.argv[2])
    text = page.read_text(encoding="utf-8")
    prefix = "" if page.parent.name == "guide" else f"{page.parent.name}_"
    for count, block in enumerate(BLOCK.finditer(text), start=1):
        if not re.search(r"\bint main\b", block[1]):
            continue
        line = text.count("\n", 0, block.start(1)) + 1
        program = folder / f"{prefix}{page.stem.lower()}_{count}.cpp"
        source = f'#line {line} "{page}"\n{block[1]}'
        if not program.is_file() or program.read_text(encoding="utf-8") != source:
            program.write_text(source, encoding="utf-8")
        print(program)


main()
