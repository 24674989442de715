"""check.py good|bad SOURCE COMPILER FLAGS…: the good twin compiles; the first error of the bad one is what its first line expects."""

import re
import subprocess
import sys


def expected_message(source):
    with open(source, encoding="utf-8") as text:
        first_line = text.readline()
    match = re.match(r"// expect: (.+)$", first_line)
    if not match:
        sys.exit(f"{source}: the first line must read '// expect: regular expression', got: {first_line.strip()}")
    return match[1]


def first_error(output):
    """The first line that tells of an error, and how many there are."""
    errors = [line for line in output.splitlines() if re.search(r"\berror:", line)]
    return errors[0] if errors else "", len(errors)


def main():
    twin, source, *command = sys.argv[1:]
    expected = expected_message(source)
    defines = ["-DEDDY_BAD"] if twin == "bad" else []
    run = subprocess.run(command + defines + [source], capture_output=True, text=True)
    output = run.stdout + run.stderr
    compiled = run.returncode == 0

    if twin == "good":
        if not compiled:
            sys.exit(f"{output}\n{source}: the good twin must compile")
        return
    if compiled:
        sys.exit(f"{source}: the bad twin must not compile")
    message, num_errors = first_error(output)
    print(f"{num_errors} errors, {len(output.splitlines())} lines; the first: {message}")
    if not re.search(expected, message):
        sys.exit(f"{output}\n{source}: the bad twin fails, but its first error does not match: {expected}")


main()
