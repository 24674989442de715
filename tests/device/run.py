"""run.py [--needs-device] [--with=runner.cpp] [--by=script.py] SOURCE LIBRARY NVCC FLAGS…

Compiles a program for the devices of this machine, or for sm_90 where there are none, links it with eddy, and runs it. Exits as the
program does; 4 (skipped) where there is no nvcc, where the program says so because there is no device, and with --needs-device before
anything is compiled. With --by the program is a shared library, which the script is given.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 4


def has_device():
    return bool(shutil.which("nvidia-smi")) and subprocess.run(["nvidia-smi", "-L"], capture_output=True).returncode == 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--needs-device", action="store_true")
    parser.add_argument("--with", dest="runner", default=[], action="append")
    parser.add_argument("--by")
    for name in ("source", "library", "nvcc"):
        parser.add_argument(name)
    parser.add_argument("flags", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    if not shutil.which(arguments.nvcc):
        print("skipped: no nvcc here")
        return SKIPPED
    if arguments.needs_device and not has_device():
        print("skipped: no device here; scripts/test-device builds it nevertheless")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program")
        architecture = "native" if has_device() else "sm_90"
        command = [arguments.nvcc, *arguments.flags, f"-arch={architecture}", "-Werror=all-warnings", arguments.source, *arguments.runner,
                   arguments.library, "-o", program]
        if arguments.by:
            command += ["-shared", "-Xcompiler=-fPIC"]
        built = subprocess.run(command, capture_output=True, text=True)
        if built.returncode != 0:
            sys.exit(f"{built.stdout}{built.stderr}\n{arguments.source}: nvcc failed")
        script = [sys.executable, "-B", arguments.by] if arguments.by else []
        return subprocess.run([*script, program]).returncode


if __name__ == "__main__":
    sys.exit(main())
