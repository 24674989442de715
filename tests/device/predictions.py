"""The cases of docs/design/devices.md: what each is made of, and the time that the model of a processor predicts for an H200. Nothing here was
timed on a device: what was stands in that page as well.
"""

from dataclasses import dataclass

import model


@dataclass
class Case:
    what: str
    lanes: int
    rounds: int      # of a warp
    kernel: str      # part of its mangled name
    loops: tuple     # of the kernel: forward alone, or forward and those of the way back
    resident: int    # warps that a processor holds
    goal: float      # milliseconds


# Of steps of constant size a solve has a loop of its own, its second one; their gradient has three: forward, once more from the state before a block, and
# back. Attempts were counted on the host: of the longest lane of a warp. A launch, first steps and the copies of a call come on top.
CASES = [
    Case("1: 1,000 fixed steps, fp32, 2^20 lanes", 2**20, 1000, "fixed_solve_kernelIf", (1,), 20, 3.45),
    Case("1: the same, fp64", 2**20, 1000, "fixed_solve_kernelId", (1,), 12, 6.9),
    Case("1: latency, fp32, 1,024 lanes", 1024, 1000, "fixed_solve_kernelIf", (1,), 20, 0.080),
    Case("2: adaptive, rtol 1e-8, fp64, 2^19 lanes, atol 1e-8", 2**19, 92, "12solve_kernelId", (0,), 12, 0.75),
    Case("2: the same, atol 1e-11", 2**19, 121, "12solve_kernelId", (0,), 12, 0.75),
    Case("3: its gradient, rtol 1e-6, 2^15 lanes, atol 1e-6", 2**15, 56, "15gradient_kernelId", (0, 1), 8, 0.10),
    Case("3: the same, atol 1e-9", 2**15, 71, "15gradient_kernelId", (0, 1), 8, 0.10),
    Case("4: gradient of 1,000 fixed steps, fp32, 2^20 lanes, one state in 16 kept", 2**20, 1000, "fixed_gradient_kernelIf", (0, 3, 4), 16, 15),
]


def print_for(paths_of):
    """Rows for the kernels that are there: {mangled name: [path of each loop]}."""
    for case in CASES:
        for name, paths in paths_of.items():
            if case.kernel in name and len(paths) > max(case.loops):
                got = model.predict([paths[loop] for loop in case.loops], case.lanes // 32, case.resident, case.rounds)
                print(f"predicted for an H200 | {case.what} | {got.milliseconds:.3f} ms | goal {case.goal} | {got.cycles:.0f} cycles a warp and "
                      f"round | {got.megabytes:.0f} MB moved | bound by {got.bound}")
