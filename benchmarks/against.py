"""against.py [--rounds N] OLD NEW PROGRAM…: runs the programs of two folders in turn and compares the rows of their tables.

A row is compared by the smallest time of its rounds, in which neighbours on the machine disturbed it least, and by the median of each
round's own ratio. Prints old time over new, above 1 where the new one is faster; marks what is below LEAST in both.
"""

import argparse
import collections
import os
import re
import statistics
import subprocess
import sys

LEAST = 0.98
UNITS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
WHAT_WIDTH = 56  # table.hpp
TIME = re.compile(r"\s([0-9.e+]+) (ns|us|ms|s)\b")


def times_of(output):
    """The first time of each row, in nanoseconds, by what the row is called, and which one it is of those that are called so."""
    times, seen = {}, collections.Counter()
    for line in output.splitlines():
        what = line[:WHAT_WIDTH].strip()
        match = TIME.search(line[WHAT_WIDTH:])
        if what and match:
            seen[what] += 1
            times[what if seen[what] == 1 else f"{what} [{seen[what]}]"] = float(match[1]) * UNITS[match[2]]
    return times


def run(program):
    process = subprocess.run([program], capture_output=True, text=True)
    if process.returncode != 0:
        sys.exit(f"{program} ended with {process.returncode}:\n{process.stdout}{process.stderr}")
    return times_of(process.stdout)


def compare(old_rounds, new_rounds):
    """(what, old time, new time, ratio of the smallest, median of the ratios) for rows that both have, and those that one alone has."""
    common = [what for what in new_rounds[0] if what in old_rounds[0]]
    alone = [what for what in [*old_rounds[0], *new_rounds[0]] if what not in common]
    rows = []
    for what in common:
        old = [times[what] for times in old_rounds]
        new = [times[what] for times in new_rounds]
        rows.append((what, min(old), min(new), min(old) / min(new), statistics.median(a / b for a, b in zip(old, new))))
    return rows, alone


def is_slower(row):
    return row[3] < LEAST and row[4] < LEAST


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("programs", nargs="+")
    arguments = parser.parse_args()
    if arguments.rounds < 1:
        sys.exit(f"against: --rounds {arguments.rounds}; give at least 1")

    print(f"{'':{WHAT_WIDTH}} {'old ns':>12} {'new ns':>12} {'old/new':>8} {'median':>8}")
    for program in arguments.programs:
        rounds = {arguments.old: [], arguments.new: []}
        for done in range(arguments.rounds):
            for folder in rounds if done % 2 == 0 else reversed(rounds):
                rounds[folder].append(run(os.path.join(folder, program)))
        rows, alone = compare(rounds[arguments.old], rounds[arguments.new])
        print(program)
        for row in rows:
            mark = f"  below {LEAST}" if is_slower(row) else ""
            print(f"{row[0]:{WHAT_WIDTH}} {row[1]:12.5g} {row[2]:12.5g} {row[3]:8.3f} {row[4]:8.3f}{mark}", flush=True)
        for what in alone:
            print(f"{what:{WHAT_WIDTH}} in one of them alone")


if __name__ == "__main__":
    main()
