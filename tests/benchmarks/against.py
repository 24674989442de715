"""What benchmarks/against.py says of two folders of programs whose figures are known."""

import os
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(__file__), "..", "..", "benchmarks", "against.py")


def write_program(folder, rows, exit_status=0):
    """A program that prints a table as benchmarks do: text, goal, time, ratio."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "benchmark_x")
    with open(path, "w", encoding="utf-8") as program:
        program.write("#!/bin/sh\ncat <<'END'\n\nA title\n")
        program.writelines(f"{what:56} {'<= 3':8} {time:18} 1.5      2e-9\n" for what, time in rows)
        program.write(f"END\nexit {exit_status}\n")
    os.chmod(path, 0o755)


def compare(old_rows, new_rows, exit_status=0):
    with tempfile.TemporaryDirectory() as folder:
        old, new = os.path.join(folder, "old"), os.path.join(folder, "new")
        write_program(old, old_rows)
        write_program(new, new_rows, exit_status)
        run = subprocess.run([sys.executable, "-B", SCRIPT, "--rounds", "2", old, new, "benchmark_x"], capture_output=True, text=True)
    return run.returncode, run.stdout + run.stderr


class Against(unittest.TestCase):
    def row(self, output, what):
        [line] = [line for line in output.splitlines() if line.startswith(what)]
        return line[56:].split()

    def test_ratio_is_old_over_new_in_nanoseconds(self):
        status, output = compare([("forward", "1.5 us")], [("forward", "500 ns")])
        self.assertEqual(status, 0)
        self.assertEqual(self.row(output, "forward"), ["1500", "500", "3.000", "3.000"])

    def test_what_is_slower_is_marked(self):
        _, output = compare([("slow", "97 ns"), ("even", "99 ns")], [("slow", "100 ns"), ("even", "100 ns")])
        self.assertEqual(self.row(output, "slow")[-2:], ["below", "0.98"])
        self.assertEqual(self.row(output, "even")[-1], "0.990")

    def test_rows_of_one_alone_are_told(self):
        _, output = compare([("a", "1 ns"), ("gone", "1 ns")], [("a", "1 ns"), ("fresh", "1 ns")])
        self.assertEqual(sum("in one of them alone" in line for line in output.splitlines()), 2)

    def test_rows_of_one_name_are_told_apart_by_their_place(self):
        _, output = compare([("a", "1 ns"), ("a", "4 ns")], [("a", "1 ns"), ("a", "2 ns"), ("a", "9 ns")])
        self.assertEqual(self.row(output, "a [2]"), ["4", "2", "2.000", "2.000"])
        self.assertIn("a [3] in one of them alone", " ".join(output.split()))

    def test_a_program_that_fails_ends_the_comparison(self):
        status, output = compare([("a", "1 ns")], [("a", "1 ns")], exit_status=3)
        self.assertNotEqual(status, 0)
        self.assertIn("ended with 3", output)


if __name__ == "__main__":
    unittest.main()
