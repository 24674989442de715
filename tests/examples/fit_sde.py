"""Runs examples/fit_sde: `fit_sde.py PROGRAM`. Likelihoods without simulation are compared with those found by other means, and
the simulated one with them.
"""

import re
import unittest
from pathlib import Path

from example_case import PROGRAM, ExampleCase

DATA = Path(__file__).resolve().parents[2] / "examples/fit_sde/us_treasury_bill_rate.csv"

# By SciPy 1.17: Nelder-Mead on the exact densities (ncx2) and on those of Euler's scheme.
EULER = "log-likelihood 732.3259"
OF_GAMMA = {"0.0": "673.72", "0.5": "725.13", "1.0": "714.17", "1.5": "545.55"}
EXACT = "log-likelihood 715.7552"


class Example(ExampleCase):
    def test_the_bills(self):
        done = self.run_program("--quick", "--output", "results")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.check_known(done.stdout)
        self.check_simulated(done.stdout)
        self.check_files()

    def check_known(self, output):
        self.assertIn(EULER, output)
        self.assertIn("a 0.000868, b -0.02097, sigma 0.11884, gamma 0.71670", output)
        for gamma, value in OF_GAMMA.items():
            self.assertIn(f"with gamma = {gamma}: {value}\n", output)
        self.assertIn(EXACT, output)
        self.assertIn("speed 0.039718, mean 0.039847, sigma 0.066660", output)
        simulated = float(re.search(r"there by simulation (\S+)", output)[1])
        self.assertAlmostEqual(simulated, 715.7552, delta=0.5)

    def check_simulated(self, output):
        climbs, agree = re.search(r"the best (\d+) in .* of which (\d+) end", output).groups()
        self.assertEqual(int(climbs), 8)
        self.assertGreaterEqual(int(agree), 6)
        gamma, error = (float(x) for x in re.search(r"^  gamma +(\S+) +(\S+)$", output, re.MULTILINE).groups())
        self.assertTrue(0.02 < error < 0.1, error)
        self.assertLess(abs(gamma - 0.58), 0.03)
        best = float(re.search(r"^fit with .* log-likelihood (\S+)$", output, re.MULTILINE)[1])
        self.assertGreater(best, 715.8)  # the exact one with gamma = 1/2
        self.assertLess(best, 721)

    def check_files(self):
        rows = self.table("results/short_rate.csv")
        self.assertEqual((rows[0]["year"], rows[-1]["year"]), (2009.5, 2029.5))
        for row in rows:
            self.assertTrue(row["q05"] <= row["q25"] <= row["q50"] <= row["q75"] <= row["q95"])
        self.assertLess(rows[0]["q95"], 0.1201)
        self.assertGreater(rows[-1]["q95"], rows[0]["q95"])

    def test_a_rate_below_zero_is_refused(self):
        lines = DATA.read_text(encoding="utf-8").splitlines()
        lines[6] = "1960.00,-0.1"
        (self.folder / "rates.csv").write_text("\n".join(lines))
        done = self.run_program("rates.csv")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("rates.csv:7: rate is '-0.1'; rates must be above zero", done.stderr)

    def test_uneven_times_are_refused(self):
        lines = DATA.read_text(encoding="utf-8").splitlines()
        del lines[6]
        (self.folder / "rates.csv").write_text("\n".join(lines))
        done = self.run_program("rates.csv")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("give evenly spaced times", done.stderr)

    def check_refused(self, row, message):
        """`row(k, year, rate)` of the k-th row of the data."""
        lines = DATA.read_text(encoding="utf-8").splitlines()
        rows = [line.split(",") for line in lines if line[:1].isdigit()]
        text = "year,rate\n" + "\n".join(row(k, float(year), float(rate)) for k, (year, rate) in enumerate(rows))
        (self.folder / "rates.csv").write_text(text)
        done = self.run_program("rates.csv", timeout=20)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn(message, done.stderr)

    def test_what_cannot_be_fitted_is_refused(self):
        self.check_refused(lambda k, year, rate: f"{year},5", "all rates are 5 per cent; give rates that vary")
        self.check_refused(lambda k, year, rate: f"{year},{1e4 * rate}", "give rates in per cent a year")
        self.check_refused(lambda k, year, rate: f"{year},{rate * 1e200}", "a rate of 1.533e+201; give rates in per cent")
        self.check_refused(lambda k, year, rate: f"{365 * k},{rate}", "give times in years")

    def test_interrupted_on_a_terminal_the_search_ends_soon(self):
        with self.interrupted_on_a_terminal("--starts", "100000") as running:  # a quarter of an hour, and 3,125 climbs
            output = ""
            for line in running.stdout:
                output += line
                if "stopped" in line:
                    break  # the fit by more paths, which follows, is that of the bills
            running.kill()
        starts = int(re.search(r"  starts: (\d+) in ", output)[1])
        self.assertLessEqual(int(re.search(r"  climbs: the best (\d+) in ", output)[1]), 8)
        self.assertEqual(starts + int(re.search(r"  stopped before (\d+) others\n", output)[1]), 100000)

    def test_help(self):
        done = self.run_program("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("usage: fit_sde [options] [rates.csv]", done.stdout)


if __name__ == "__main__":
    unittest.main()
