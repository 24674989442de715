"""compile_time.py SOURCE CALLS --gnu=FLAGS --clang=FLAGS --cuda=FLAGS --include=FOLDERS --library=FILE [--repeats N]

Compiles f and VJP of Lorenz, Pleiades and a network 2-64-64-2, each as a whole (SOURCE), with every compiler that is here, and calls
of the solver (CALLS) with those for the host, and some of them once more after the header, precompiled. Prints processor seconds (user + system) and elapsed ones of the fastest of N runs,
memory, and node counts, beside the limits that eddy sets itself. Lists are separated by semicolons. Prints, and fails where a program
does not compile; time never fails.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time

SECONDS = 10
CALLS = [("the header alone", 0, "Lorenz", "Tsit5"), ("solve, Lorenz, Tsit5", 1, "Lorenz", "Tsit5"),
         ("gradient, Lorenz, Tsit5", 2, "Lorenz", "Tsit5"), ("gradient, Lorenz, Dopri8", 2, "Lorenz", "Dopri8"),
         ("gradient, Mlp, Tsit5", 2, "Mlp", "Tsit5"), ("gradient, Pleiades, Tsit5", 2, "Pleiades", "Tsit5"),
         ("gradient, Robertson, Rodas5P", 2, "Robertson", "Rodas5P"), ("gradient, Hires, Rodas5P", 2, "Hires", "Rodas5P"),
         ("gradient, Pollution, Rodas5P", 2, "Pollution", "Rodas5P"), ("gradient, Pollution, Kvaerno5", 2, "Pollution", "Kvaerno5")]
PRECOMPILED = ("the header alone", "solve, Lorenz, Tsit5", "gradient, Lorenz, Tsit5")
NODES = {"Lorenz": (14, 26), "Pleiades": (567, 1628), "Mlp": (40, 120)}  # f, VJP


def measure(command):
    """Processor seconds, elapsed seconds and the largest process's MiB of one compilation."""
    start = time.monotonic()
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit("failed: " + " ".join(command))
    return usage.ru_utime + usage.ru_stime, time.monotonic() - start, usage.ru_maxrss / 1024


def precompile(compiler, flags, folder):
    """Compiles eddy.hpp for all that follow it; the flags that make a program begin with it."""
    header = os.path.join(folder, "precompiled.hpp")
    with open(header, "w", encoding="utf-8") as file:
        file.write("#include <eddy/eddy.hpp>\n")
    compiled = header + (".gch" if compiler == "g++" else ".pch")
    subprocess.run([compiler, "-O2", *flags, "-x", "c++-header", header, "-o", compiled], check=True)
    return ["-include", header] if compiler == "g++" else ["-include-pch", compiled]


def print_node_counts(compiler, flags, arguments, folder):
    """Links what has been compiled, runs it and prints the numbers of nodes that it tells."""
    for equation, limits in NODES.items():
        program = os.path.join(folder, equation)
        subprocess.run([compiler, *flags, f"-DEQUATION={equation}", arguments.source, arguments.library, "-o", program], check=True)
        counts = subprocess.run([program], check=True, capture_output=True, text=True).stdout.split()
        print(f"{equation:9} nodes of f {counts[0]:>4} (at most {limits[0]}), of its VJP {counts[1]:>4} (at most {limits[1]})")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("source")
    parser.add_argument("calls")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--nvcc", default="nvcc")
    for name in ("gnu", "clang", "cuda", "include", "library"):
        parser.add_argument(f"--{name}", required=True)
    arguments = parser.parse_args()

    include = [f"-I{folder}" for folder in arguments.include.split(";")]
    compilers = {
        "g++": ["-std=c++20", *arguments.gnu.split(";")],
        "clang++": ["-std=c++20", *arguments.clang.split(";")],
        arguments.nvcc: [*arguments.cuda.split(";"), "-arch=sm_90", "-x", "cu"],
    }
    with tempfile.TemporaryDirectory() as folder:
        print("compiler   equation    cpu s  elapsed s    MiB")
        for compiler, flags in compilers.items():
            if not shutil.which(compiler):
                print(f"{os.path.basename(compiler):10} is not here")
                continue
            for equation in NODES:
                command = [compiler, "-O2", *flags, *include, f"-DEQUATION={equation}", "-c", arguments.source,
                           "-o", os.path.join(folder, "object.o")]
                cpu, elapsed, mib = min(measure(command) for _ in range(arguments.repeats))
                above = f"   above the limit of {SECONDS} s" if cpu > SECONDS else ""
                print(f"{os.path.basename(compiler):10} {equation:9} {cpu:7.2f} {elapsed:10.2f} {mib:6.0f}{above}", flush=True)
        for compiler in ("g++", "clang++"):
            if not shutil.which(compiler):
                continue
            flags = [*compilers[compiler], *include]
            print(f"{compiler}, whole calls")
            for before in ([], precompile(compiler, flags, folder)):
                for name, call, equation, method in CALLS:
                    if before and name not in PRECOMPILED:
                        continue
                    command = [compiler, "-O2", *flags, *before, f"-DCALL={call}", f"-DEQUATION={equation}",
                               f"-DMETHOD={method}", "-c", arguments.calls, "-o", os.path.join(folder, "object.o")]
                    cpu, elapsed, mib = min(measure(command) for _ in range(arguments.repeats))
                    after = "   after the header, precompiled" if before else ""
                    print(f"{name:28} {cpu:7.2f} {elapsed:10.2f} {mib:6.0f}{after}", flush=True)
        for compiler in ("g++", "clang++"):
            if shutil.which(compiler):
                print_node_counts(compiler, [*compilers[compiler], *include], arguments, folder)
                break


main()
