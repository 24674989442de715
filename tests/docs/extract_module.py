"""extract_module.py PAGE.md FOLDER: writes the page's C++ block to FOLDER/module.cpp and its Python block to FOLDER/use.py."""

import re
import sys
from pathlib import Path


def main():
    page, folder = Path(sys.argv[1]), Path(sys.argv[2])
    text = page.read_text(encoding="utf-8")
    folder.mkdir(parents=True, exist_ok=True)
    for language, name in (("cpp", "module.cpp"), ("python", "use.py")):
        (block,) = re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
        (folder / name).write_text(block, encoding="utf-8")


main()
