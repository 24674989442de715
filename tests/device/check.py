"""check.py [--host] [--architecture=sm_90] [--with=SOURCE …] [--max-registers=kernel=limit …] [--max-stack=kernel=bytes …] [--max-spill=kernel=bytes …]
    [--nvdisasm=program [--max-round=kernel:loop=instructions …]] SOURCE NVCC FLAGS…

Compiles for sm_90, or another, and reads what ptxas says. Prints registers, stack and spills of each kernel with the functions that it calls. Fails
on a kernel with more registers, or more bytes of stack or spills, than its limits say (none of either without a limit), on a limit that
names no kernel, and on any warning: where device code calls a function of the host, nvcc only warns and cuts the kernel off.
The device's side is compiled alone, with all of these warnings, in half the time; with --host the host's as well. What is named by --with is
compiled together with it: they read the same headers, which takes most of the time of small kernels.
With a disassembler the instructions of a round are counted as well: hot_path.py. Exits with 4 (skipped) where there is no nvcc.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import hot_path

SKIPPED = 4
ENTRY = re.compile(r"Compiling entry function '([^']+)'")
FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
REGISTERS = re.compile(r"Used (\d+) registers")


def parse(report):
    """[(kernel, registers, stack bytes, spilled bytes)] from the output of `ptxas -v`."""
    kernels = []
    for line in report.splitlines():
        if match := ENTRY.search(line):
            kernels.append([demangled(match[1]), 0, 0, 0])
        elif match := FRAME.search(line):
            # The kernel's own and those of functions that were not inlined, which come after it.
            kernels[-1][2] += int(match[1])
            kernels[-1][3] += int(match[2]) + int(match[3])
        elif match := REGISTERS.search(line):
            kernels[-1][1] = int(match[1])
    return [tuple(kernel) for kernel in kernels]


def demangled(name):
    tool = shutil.which("c++filt") or shutil.which("cu++filt")
    return subprocess.run([tool, name], capture_output=True, text=True).stdout.strip() if tool else name


def allowed(kernel, limits):
    return max((int(limit.rpartition("=")[2]) for limit in limits if limit.rpartition("=")[0] in kernel), default=0)


def complaints(kernels, limits, stack_limits=(), spill_limits=()):
    found = [f"{kernel}: {spilled} bytes spilled; expected {allowed(kernel, spill_limits) or 'none'}"
             for kernel, _, _, spilled in kernels if spilled > allowed(kernel, spill_limits)]
    found += [f"{kernel}: {stack} bytes of stack; expected {allowed(kernel, stack_limits) or 'none'}"
              for kernel, _, stack, _ in kernels if stack > allowed(kernel, stack_limits)]
    found += [f"limit {limit}: no kernel has this name" for limit in (*stack_limits, *spill_limits)
              if not any(limit.rpartition("=")[0] in kernel for kernel, _, _, _ in kernels)]
    if not kernels:
        found.append("no kernel was compiled")
    for limit in limits:
        part, _, most = limit.rpartition("=")
        named = [kernel for kernel in kernels if part in kernel[0]]
        if not named:
            found.append(f"limit {limit}: no kernel has this name")
        found += [f"{kernel}: {registers} registers, expected at most {most}"
                  for kernel, registers, _, _ in named if registers > int(most)]
    return found


def compile_report(command, source, output, what, architecture):
    run = subprocess.run(command + [f"-arch={architecture}", "-Werror=all-warnings", "-Xptxas", "-v", "-lineinfo", what, source, "-o", output],
                         capture_output=True, text=True)
    report = run.stdout + run.stderr
    if run.returncode != 0:
        sys.exit(f"{report}\n{source}: nvcc failed")
    return report


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", action="store_true")
    parser.add_argument("--architecture", default="sm_90")
    parser.add_argument("--with", dest="others", action="append", default=[])
    parser.add_argument("--max-registers", action="append", default=[])
    parser.add_argument("--max-stack", action="append", default=[])
    parser.add_argument("--max-spill", action="append", default=[])
    parser.add_argument("--max-round", action="append", default=[])
    parser.add_argument("--nvdisasm", default="")
    parser.add_argument("source")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    if not shutil.which(arguments.command[0]):
        print("skipped: no nvcc here")
        sys.exit(SKIPPED)

    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        compiled, broken = os.path.join(folder, "device"), []
        counts = arguments.max_round and shutil.which(arguments.nvdisasm)
        command = arguments.command + [f"--pre-include={other}" for other in arguments.others]
        kernels = parse(compile_report(command, arguments.source, compiled, "-c" if arguments.host else "-cubin",
                                       arguments.architecture))
        if counts:
            broken = hot_path.report(compiled, arguments.nvdisasm, arguments.max_round)
        elif arguments.max_round:
            print("instructions not counted: no nvdisasm here")
    print(f"compiled in {time.monotonic() - start:.1f} s")
    for kernel, registers, stack, spilled in kernels:
        print(f"{registers:4} registers  {stack:4} B stack  {spilled:4} B spilled  {kernel}")
    found = broken + complaints(kernels, arguments.max_registers, arguments.max_stack, arguments.max_spill)
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
