"""Each script says at once what it does where that is all it is asked for: it installs and builds nothing."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


class Help(unittest.TestCase):
    def test_each_script_tells_its_head(self):
        scripts = [path for path in sorted(SCRIPTS.iterdir()) if path.suffix == ""]
        self.assertGreater(len(scripts), 5)
        for script in scripts:
            with self.subTest(script.name), tempfile.TemporaryDirectory() as folder:
                # The interpreters are there, and nothing else that it would call.
                for tool in ("bash", "sed", "python3"):
                    (Path(folder) / tool).symlink_to(shutil.which(tool))
                run = subprocess.run([script, "--help"], env={"PATH": folder}, cwd=folder, capture_output=True, text=True, timeout=10)
                head = script.read_text(encoding="utf-8").splitlines()[1]
                self.assertEqual((run.returncode, run.stderr), (0, ""))
                self.assertEqual(run.stdout.splitlines()[0], head.removeprefix("# "))
                self.assertNotIn("set -euo", run.stdout)


unittest.main()
