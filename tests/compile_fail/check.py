"""check.py bad SOURCE COMPILER FLAGS…: the first error of the bad twin is what the first line of the source expects.
check.py good JOINED SOURCE… -- COMPILER FLAGS…: all good twins compile. Several are written to the file JOINED, each in a namespace of
its own: one compilation takes a fifth of what one for each does.
"""

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


def join_good_twins(joined, sources):
    """Writes all sources to one file. The macros and headers that come first in each come first; errors name the line of the source."""
    headers, twins = [], []
    for number, source in enumerate(sources):
        with open(source, encoding="utf-8") as text:
            lines = text.read().splitlines()
        for index, line in enumerate(lines):
            if line.startswith("#if"):
                break
            if line.startswith(("#define", "#include")):
                headers.append(line)
                lines[index] = ""
        twins += [f"namespace twin_{number} {{", f'#line 1 "{source}"', *lines, "}"]
    with open(joined, "w", encoding="utf-8") as text:
        text.write("\n".join([*dict.fromkeys(headers), *twins, ""]))


def check_good(joined, *rest):
    end = rest.index("--")
    sources, command = rest[:end], rest[end + 1 :]
    source = sources[0]
    if len(sources) > 1:
        join_good_twins(joined, sources)
        source = joined
    run = subprocess.run([*command, source], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"{run.stdout}{run.stderr}\nthe good twins must compile")


def check_bad(source, *command):
    expected = expected_message(source)
    run = subprocess.run([*command, "-DEDDY_BAD", source], capture_output=True, text=True)
    output = run.stdout + run.stderr
    if run.returncode == 0:
        sys.exit(f"{source}: the bad twin must not compile")
    message = next((line for line in output.splitlines() if re.search(r"\berror:", line)), "")
    print(message)
    if not re.search(expected, message):
        sys.exit(f"{output}\n{source}: the bad twin fails, but its first error does not match: {expected}")


{"good": check_good, "bad": check_bad}[sys.argv[1]](*sys.argv[2:])
