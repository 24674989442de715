"""fresh_clone.py SOURCE README_PROJECT FOLDER CXX: what a new user does, from a copy of the sources to the output of the README's program, by the
commands that the README gives. Prints what each took; the times bound nothing. The library stays in FOLDER, for the test of the package."""

import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

PARTS = ["CMakeLists.txt", "LICENSE", "cmake", "include", "solvers", "src"]


def processor_seconds():
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def run(title, *command, **options):
    clock, processor = time.monotonic(), processor_seconds()
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    print(f"{title:34} {processor_seconds() - processor:6.1f} s of processor, {time.monotonic() - clock:6.1f} s on the clock", flush=True)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}{done.stderr}")
    return done.stdout


def main():
    source, readme, folder, compiler = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]
    shutil.rmtree(folder, ignore_errors=True)
    clone, prefix, build = folder / "eddy", folder / "prefix", folder / "program"
    clone.mkdir(parents=True)
    for part in PARTS:
        copy = shutil.copytree if (source / part).is_dir() else shutil.copy
        copy(source / part, clone / part)
    for name in ("CMAKE_CXX_COMPILER_LAUNCHER", "CMAKE_GENERATOR", "CMAKE_BUILD_TYPE"):
        os.environ.pop(name, None)
    os.environ["CXX"] = compiler
    run("cmake -B build", "cmake", "-B", clone / "build", "-S", clone)
    run("cmake --build build", "cmake", "--build", clone / "build")
    run("cmake --install build", "cmake", "--install", clone / "build", "--prefix", prefix)
    run("cmake of the program", "cmake", "-S", readme, "-B", build, "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS=-march=native",
        f"-DCMAKE_PREFIX_PATH={prefix}")
    run("its build", "cmake", "--build", build)
    output = run("the program", build / "program")
    print(f"{'from a fresh clone to its output':34} {processor_seconds():6.1f} s of processor; the goal is 60")
    print(output)
    return 0 if output.strip() else 1


sys.exit(main())
