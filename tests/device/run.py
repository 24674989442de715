"""run.py SOURCE LIBRARY NVCC FLAGS…

Compiles a program for the devices of this machine, or for sm_90 where there are none, links it with eddy, and runs it. Exits as the
program does; 4 (skipped) where there is no nvcc, and where the program says so because there is no device.
"""

import os
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 4


def main():
    source, library, nvcc, *flags = sys.argv[1:]
    if not shutil.which(nvcc):
        print("skipped: no nvcc here")
        return SKIPPED
    has_device = subprocess.run(["nvidia-smi", "-L"], capture_output=True).returncode == 0 if shutil.which("nvidia-smi") else False
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program")
        command = [nvcc, *flags, "-arch=native" if has_device else "-arch=sm_90", "-Werror=all-warnings", source, library, "-o", program]
        built = subprocess.run(command, capture_output=True, text=True)
        if built.returncode != 0:
            sys.exit(f"{built.stdout}{built.stderr}\n{source}: nvcc failed")
        ran = subprocess.run([program])
    return ran.returncode


if __name__ == "__main__":
    sys.exit(main())
