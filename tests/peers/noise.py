"""The stochastic case of benchmarks/peers, without a peer: what its arms are judged by."""

import sys
import tempfile
import unittest
from array import array
from pathlib import Path

PEERS = Path(__file__).parents[2] / "benchmarks/peers"
sys.path[:0] = [str(PEERS), str(PEERS / "arms")]
import noise  # noqa: E402
from harness.roster import all_cases  # noqa: E402


class Reference(unittest.TestCase):
    def test_moments_are_those_of_the_computed_steps(self):
        first, second = noise.moments(256)    # digits of a computation with 30 of them; the power multiplies three roundings by 256
        self.assertAlmostEqual(first, 1.051265963897185, delta=256 * 3 * 1.2e-16 * first)
        self.assertAlmostEqual(second, 1.296771629380895, delta=256 * 3 * 1.2e-16 * second)

    def test_slopes_are_those_of_the_second_moment(self):
        mu, sigma, step = noise.MU, noise.SIGMA, 1e-5    # 1e-10 from the third derivative, 3e-9 from rounding
        try:
            for slope, name, value in zip(noise.slopes(256), ("MU", "SIGMA"), (mu, sigma)):
                setattr(noise, name, value + step)
                above = noise.moments(256)[1]
                setattr(noise, name, value - step)
                self.assertAlmostEqual((above - noise.moments(256)[1]) / (2 * step), slope, places=8)
                setattr(noise, name, value)
        finally:
            noise.MU, noise.SIGMA = mu, sigma

    def test_the_reference_leaves_inputs_for_the_arms_in_cpp(self):
        with tempfile.TemporaryDirectory() as folder:
            for task, expected in (("noise", noise.moments(8)), ("noise-gradient", noise.slopes(8))):
                found = noise.reference({"lanes": "5", "steps": "8", "task": task}, Path(folder))
                self.assertEqual(found, list(expected))
            for name, numbers in (("y0", [1.0]), ("p", [noise.MU, noise.SIGMA])):
                told = array("d", Path(folder, name).read_bytes())
                self.assertEqual(told.tolist(), 5 * numbers)


class Cases(unittest.TestCase):
    def test_arms_of_both_cases_have_scripts_and_one_problem(self):
        for case in all_cases(1):
            if case.number.startswith("9"):
                self.assertEqual((case.problem, case.options, case.targets), ("geometric_brownian", {"steps": "256"}, ()))
                for arm in case.arms:
                    where, name = arm.command
                    file = PEERS / ("arms" if where == "python" else "native") / (name if where == "python" else name + ".cpp")
                    self.assertTrue(file.is_file(), file)


if __name__ == "__main__":
    unittest.main()
