"""What tests of examples have in common: the program, which the command line names, in a folder of its own."""

import contextlib
import csv
import os
import pty
import signal
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

    @contextlib.contextmanager
    def interrupted_on_a_terminal(self, *arguments):
        """The program, whose messages go to a terminal, interrupted when the first of its bar is there."""
        ours, its = pty.openpty()
        with subprocess.Popen([PROGRAM, *arguments], cwd=self.folder, stdout=subprocess.PIPE, stderr=its, text=True,
                              env={**os.environ, "TERM": "xterm"}) as running:    # whatever runs the tests
            os.close(its)
            os.read(ours, 1)
            running.send_signal(signal.SIGINT)
            yield running
        os.close(ours)

    def table(self, name):
        """The rows of a table of numbers that the program has written, below a line of comment."""
        lines = (self.folder / name).read_text(encoding="utf-8").splitlines()[1:]
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(lines)]
