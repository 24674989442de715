"""See README.md; `run` installs the system's packages first."""

import sys

from harness.command_line import main

sys.exit(main(sys.argv[1:]))
