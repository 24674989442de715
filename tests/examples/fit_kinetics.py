"""Runs examples/fit_kinetics: `fit_kinetics.py PROGRAM`. What it finds is compared with what is published, and with what the
model gives back of its own curves.
"""

import re
import unittest
from pathlib import Path

from example_case import ExampleCase

DATA = Path(__file__).resolve().parents[2] / "examples/fit_kinetics/stat5_dimerization.csv"

# Benchmark-Models-PEtab, Boehm_JProteomeRes2014. The likelihood of the published unknowns by SciPy 1.17, Radau at rtol 1e-10.
PUBLISHED = 138.221997741
# Rates and standard deviations that the data determine, and those that end at a bound.
VALUES = {"epo_degradation": 0.02698, "k_exp_homo": 0.006170, "k_imp_hetero": 0.01637, "k_phos": 15767, "sd_pSTAT5A": 3.8526,
          "sd_pSTAT5B": 6.5915, "sd_rSTAT5A": 3.1527}
BOUNDS = {"k_exp_hetero": 1e-5, "k_imp_homo": 1e5}


class Example(ExampleCase):
    def value(self, name, output):
        return re.search(rf"^  {name} +(\S+) +(\S.*)$", output, re.MULTILINE).groups()

    def test_the_measurements_have_a_better_fit_than_the_published_one(self):
        done = self.run_program("--quick", "--output", "results")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = float(re.search(r"negative log-likelihood: (\S+)", done.stdout)[1])
        published, word = re.search(r"at the published unknowns: (\S+), (\w+) by", done.stdout).groups()
        self.assertAlmostEqual(float(published), PUBLISHED, delta=2e-7)
        self.assertEqual(word, "worse")
        self.assertLess(PUBLISHED - 1e-4, found)
        self.assertLess(found, PUBLISHED - 1e-5)
        for name, value in VALUES.items():
            fitted, error = self.value(name, done.stdout)
            self.assertAlmostEqual(float(fitted) / value, 1, delta=1e-3)
            self.assertRegex(error, r"^[0-9.e+]+", name)
        for name, value in BOUNDS.items():
            fitted, error = self.value(name, done.stdout)
            self.assertEqual((float(fitted), error[:12]), (value, "at its bound"))
        self.assertLess(float(re.search(r"at a bound: at most (\S+)", done.stdout)[1]), 1e-3)
        self.check_profiles(done.stdout)
        self.check_files()

    def check_profiles(self, output):
        low, high = re.search(r"k_exp_hetero.* (\S+) to (\S+)$", output, re.MULTILINE).groups()
        self.assertEqual(low, "any")
        self.assertTrue(1e-4 < float(high) < 1e-2, high)
        low, high = re.search(r"k_imp_homo.* (\S+) to (\S+)$", output, re.MULTILINE).groups()
        self.assertTrue(0.1 < float(low) < 100, low)
        self.assertEqual(high, "any")
        low, high = re.search(r"k_phos.* (\S+) to (\S+)$", output, re.MULTILINE).groups()
        self.assertTrue(1.2e4 < float(low) < VALUES["k_phos"] < float(high) < 2.1e4, (low, high))

    def check_files(self):
        rows = self.table("results/kinetics.csv")
        self.assertEqual((rows[0]["minutes"], rows[-1]["minutes"]), (0, 240))
        self.assertEqual(rows[0]["pSTAT5A_rel"], 0)
        for row in rows:
            self.assertTrue(0 <= row["rSTAT5A_rel"] <= 100)
        self.assertIn("$profile5", (self.folder / "results/kinetics.gp").read_text(encoding="utf-8"))

    def test_a_bad_measurement_is_refused(self):
        lines = DATA.read_text(encoding="utf-8").splitlines()
        lines[6] = "5,many,46,36"
        (self.folder / "data.csv").write_text("\n".join(lines))
        done = self.run_program("data.csv")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(done.stderr, "data.csv:7: pSTAT5A_rel is 'many'; write a number, with a point before its decimals\n")

    def test_help(self):
        done = self.run_program("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("usage: fit_kinetics [options] [measurements.csv]", done.stdout)


if __name__ == "__main__":
    unittest.main()
