"""tutorial.py PAGE.md PROGRAM FOLDER: runs the last line of a tutorial's commands, which runs its program and draws its picture, as a new user
would: beside the page's draw.gp, without a screen. Skipped (4) where gnuplot is missing."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path


def block(text, language):
    return re.search(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)[1]


def main():
    if not shutil.which("gnuplot"):
        return 4
    text, folder = Path(sys.argv[1]).read_text(encoding="utf-8"), Path(sys.argv[3])
    line = block(text, "sh").splitlines()[-1]
    program, picture = re.match(r"\./(\w+) && gnuplot ", line)[1], re.search(r"set output '([^']+)'", line)[1]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "draw.gp").write_text(block(text, "gnuplot"), encoding="utf-8")
    (folder / program).symlink_to(Path(sys.argv[2]).resolve())
    screenless = {name: value for name, value in os.environ.items() if name != "DISPLAY"}
    run = subprocess.run(["sh", "-c", line], cwd=folder, env=screenless, stderr=subprocess.PIPE, text=True)
    print(run.stderr, end="")
    return 0 if run.returncode == 0 and not run.stderr and (folder / picture).stat().st_size > 1000 else 1


sys.exit(main())
