"""shown_output.py SHOWN COMMAND…: runs a program of a page, and compares what it prints with SHOWN, the block that the page shows of it.

Numbers with a decimal point are compared to one unit of the last digit shown, because a compiler may order roundings differently; all else is
exact. A line `…` stands for any lines."""

import re
import subprocess
import sys
from pathlib import Path

DECIMAL = re.compile(r"-?\d+\.(\d+)(?:e([+-]?\d+))?")


def unit_of(text):
    """One in the last digit of a decimal number."""
    digits, exponent = DECIMAL.fullmatch(text).groups()
    return 10.0 ** (int(exponent or 0) - len(digits))


def alike(shown, printed):
    """Whether a printed line is the one shown."""
    if DECIMAL.sub("#", shown) != DECIMAL.sub("#", printed):
        return False
    pairs = zip(DECIMAL.finditer(shown), DECIMAL.finditer(printed))
    return all(len(a[1]) == len(b[1]) and abs(float(a[0]) - float(b[0])) < 1.5 * unit_of(a[0]) for a, b in pairs)


def same(shown, printed):
    if shown and shown[0] == "…":
        return any(same(shown[1:], printed[skipped:]) for skipped in range(len(printed) + 1))
    if not shown or not printed:
        return shown == printed
    return alike(shown[0], printed[0]) and same(shown[1:], printed[1:])


def self_test():
    assert same(["a 1.50, 7"], ["a 1.51, 7"]) and same(["…", "b"], ["1", "2", "b"]) and same(["b", "…"], ["b"])
    for printed in ("a 1.52, 7", "a 1.50, 8", "a 1.500, 7", "a 1.50, 7 b", ""):
        assert not same(["a 1.50, 7"], [printed]), printed
    assert not same(["a"], []) and not same([], ["a"]) and not same(["a", "…", "c"], ["a", "b"])


def main():
    self_test()
    run = subprocess.run(sys.argv[2:], stdout=subprocess.PIPE, text=True)
    print(run.stdout, end="")
    shown = Path(sys.argv[1]).read_text(encoding="utf-8")
    if not same(shown.splitlines(), run.stdout.splitlines()):
        print(f"The page shows:\n{shown}", end="")
        return 1
    return run.returncode


sys.exit(main())
