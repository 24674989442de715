"""wide_calls.py SOURCE COMPILER --flags=FLAGS --include=FOLDERS --library=FILE

Compiles gradient solvers of wide equations in tiles, one at a time: processor seconds and MiB of each compilation, then a call's time
with one thread and with two, where the machine has them. Lists are separated by semicolons. At a quiet moment: times are the best of nine.
"""

import argparse
import os
import subprocess
import sys
import tempfile

EQUATIONS = [("2-64-64-2", 4096, "-DWIDTHS=2,64,64,2"), ("64-256-256-64", 512, "-DWIDTHS=64,256,256,64"),
             ("Fisher, 200 points", 64, "-DSTATE=200"), ("Fisher, 1,000 points", 64, "-DSTATE=1000"),
             ("Fisher, 1,000 points", 1, "-DSTATE=1000"), ("Fisher, 200 points, forward", 64, "-DSTATE=200 -DFORWARD"),
             ("Fisher, 1,000 points, forward", 64, "-DSTATE=1000 -DFORWARD")]


def compile_one(command):
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit("failed: " + " ".join(command))
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def run(program, threads):
    print("   ", subprocess.run([program, str(threads)], check=True, capture_output=True, text=True).stdout.strip(), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("source")
    parser.add_argument("compiler")
    for name in ("flags", "include", "library"):
        parser.add_argument(f"--{name}", required=True)
    arguments = parser.parse_args()
    include = [f"-I{folder}" for folder in arguments.include.split(";")]
    with tempfile.TemporaryDirectory() as folder:
        item, program = os.path.join(folder, "object.o"), os.path.join(folder, "program")
        for name, lanes, define in EQUATIONS:
            options = [arguments.compiler, "-std=c++20", "-O2", *arguments.flags.split(";"), *include]
            cpu, mib = compile_one([*options, *define.split(), f"-DLANES={lanes}", "-c", arguments.source, "-o", item])
            print(f"{name}, {lanes} lanes: compiled in {cpu:.1f} s with {mib:.0f} MiB", flush=True)
            compile_one([arguments.compiler, item, arguments.library, "-pthread", "-o", program])
            for threads in (1, 2):
                if threads <= os.cpu_count():
                    run(program, threads)


main()
