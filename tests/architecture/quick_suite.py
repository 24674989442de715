"""The target `quick` makes what the tests with the label `quick` run, and nothing that they do not: `quick_suite.py BUILD_FOLDER CTEST NINJA`."""

import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BUILD, CTEST, NINJA = Path(sys.argv.pop(1)).resolve(), sys.argv.pop(1), sys.argv.pop(1)


def lines_of(*command, folder=BUILD):
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.splitlines()


def made_by(target):
    """What its compilers and linkers write."""
    return set(re.findall(r" -o (\S+)", "\n".join(lines_of(NINJA, "-t", "commands", target))))


def programs_that_tests_run():
    """Of this build, as far as they are there: of others CTest tells no command. CTest begins a log wherever it is asked, so
    it is asked in a folder of its own: the one that runs this test writes that of the build."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "CTestTestfile.cmake").write_text(f'subdirs("{BUILD.as_posix()}")\n', encoding="utf-8")
        tests = json.loads("\n".join(lines_of(CTEST, "--show-only=json-v1", folder=folder)))["tests"]
    quick, all_tests = set(), set()
    for test in tests:
        labels = next((p["value"] for p in test.get("properties", []) if p["name"] == "LABELS"), [])
        named = {str(Path(word).relative_to(BUILD)) for word in test.get("command", [])
                 if Path(word).is_relative_to(BUILD) and not Path(word).suffix}
        all_tests |= named
        if "quick" in labels:
            quick |= named
    return quick, all_tests


class QuickSuite(unittest.TestCase):
    def setUp(self):
        self.made, everything = made_by("quick"), made_by("all")
        quick, all_tests = programs_that_tests_run()
        # What tests name beside programs are folders and files that they write themselves.
        self.quick, self.all_tests = quick & everything, all_tests & everything

    def test_its_target_makes_the_programs_that_it_runs(self):
        self.assertGreater(len(self.quick), 20)
        self.assertEqual(self.quick - self.made, set())

    def test_its_target_makes_no_program_that_only_other_tests_run(self):
        self.assertEqual(self.made & (self.all_tests - self.quick), set())

    def test_its_target_compiles_no_benchmark(self):
        self.assertEqual([made for made in self.made if made.startswith("benchmarks/")], [])


unittest.main()
