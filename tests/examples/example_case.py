"""What tests of examples have in common: the program, which the command line names, in a folder of its own."""

import csv
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = Path(sys.argv.pop(1)).resolve()


class ExampleCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_program(self, *arguments, **options):
        return subprocess.run([PROGRAM, *arguments], cwd=self.folder, capture_output=True, text=True, **options)

    def table(self, name):
        """The rows of a table of numbers that the program has written, below a line of comment."""
        lines = (self.folder / name).read_text(encoding="utf-8").splitlines()[1:]
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(lines)]
