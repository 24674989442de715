"""check.py SOURCE LIBRARY COMPILER FLAGS…: evaluation through a program takes at most 1.02 times the instructions of a hand-written function.

Compiles with -O2 and -O3, for the first x86-64 (elsewhere for the compiler's default) and, where this machine is one, for AVX2 with
FMA, whatever FLAGS say of the processor; compares the results of both bit for bit, counts instructions with callgrind and prints
the ratios. Exits with 4 (skipped) where there is no valgrind.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 4
AT_MOST = 1.02
COUNTED = [(function, real) for function in ("field", "pullback") for real in ("double", "Pack")]  # in the source's order


def instructions(program, index, function):
    run = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", f"--toggle-collect=*{function}<*",
                          program, str(index)], capture_output=True, text=True)
    collected = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode != 0 or not collected or int(collected[1]) == 0:
        sys.exit(f"{run.stderr}\n{program} {index}: callgrind counted nothing of {function}")
    return int(collected[1])


def targets(compiler):
    """Names and flags: valgrind knows nothing beyond AVX2."""
    def accepts(processor):
        return subprocess.run([compiler, f"-march={processor}", "-E", "-x", "c++", "/dev/null"], capture_output=True).returncode == 0

    with open("/proc/cpuinfo", encoding="utf-8") as text:
        features = set(text.read().split())
    found = [("x86-64", ["-march=x86-64"])] if accepts("x86-64") else [("default", [])]
    if accepts("haswell") and {"avx2", "fma", "bmi2"} <= features:
        found.append(("haswell", ["-march=haswell"]))
    return found


def main():
    source, library, *command = sys.argv[1:]
    if not shutil.which("valgrind"):
        print("skipped: no valgrind here")
        sys.exit(SKIPPED)

    above = 0
    print("target   level  function  type      program    by hand   ratio")
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program")
        for target, target_flags in targets(command[0]):
            for level in ("-O2", "-O3"):
                subprocess.run(command + target_flags + [level, source, library, "-o", program], check=True)
                if subprocess.run([program]).returncode != 0:
                    sys.exit(f"{target} {level}: the results differ")
                for k, (function, real) in enumerate(COUNTED):
                    by_program = instructions(program, 2 * k, f"{function}_by_program")
                    by_hand = instructions(program, 2 * k + 1, f"{function}_by_hand")
                    ratio = by_program / by_hand
                    above += ratio > AT_MOST
                    print(f"{target:8} {level:6} {function:9} {real:6} {by_program:10} {by_hand:10} {ratio:7.3f}", flush=True)
    if above:
        sys.exit(f"{above} ratios are above {AT_MOST}")


main()
