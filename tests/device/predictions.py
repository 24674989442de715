"""The cases of docs/design/devices.md: what each is made of, and the time that the model of a processor predicts for an H100. Beside it stands what
was measured on one, of an earlier revision, with what the model says of that: it is as far off for this one, more or less.
"""

from dataclasses import dataclass

import model

# Outside rounds lies all that is done for lanes that begin and end, and for their groups. Counted from instructions executed and from samples of
# a profile of the earlier revision, for each 32 lanes: a warp takes some ten cycles for one of its instructions, and more than twice as many where
# all warps begin at once, with what no cache holds. What has been cut since is left out. Of case 4 the count makes it fit; of its samples
# outside rounds 65 % were in what is done once a block of rounds, which has twice as many of them now, and 9 % looked for a free arena.
WARM, COLD = 11, 26


@dataclass
class Earlier:
    cycles: tuple     # of a warp and round, by the number of warps that share a part, from one on
    outside: int      # instructions
    launches: int
    measured: float   # milliseconds


@dataclass
class Case:
    what: str
    lanes: int
    rounds: int      # of a warp
    kernel: str      # part of its mangled name
    loops: tuple     # of the kernel: forward alone, or forward and those of the way back
    resident: int    # warps that a processor holds
    goal: float      # milliseconds, of an H200
    outside: int     # instructions
    launches: int
    earlier: Earlier
    each: int = WARM  # cycles of an instruction outside rounds


# Of steps of constant size a solve has a loop of its own, its second one; their gradient has three: forward, once more from the state before a block, and
# back. Attempts were counted on the host: of the longest lane of a warp.
CASES = [
    Case("1: 1,000 fixed steps, fp32, 2^20 lanes", 2**20, 1000, "fixed_solve_kernelIf", ((2, 1),), 20, 3.45, 2730, 1,
         Earlier((122, 113, 110, 108, 108), 12470, 5, 4.75)),
    Case("1: the same, fp64", 2**20, 1000, "fixed_solve_kernelId", ((2, 2),), 12, 6.9, 2950, 1, Earlier((224, 212, 208), 7380, 5, 8.66)),
    Case("1: latency, fp32, 1,024 lanes", 1024, 1000, "fixed_solve_kernelIf", ((2, 1),), 20, 0.080, 2730, 1,
         Earlier((122,), 4060, 5, 0.096)),
    Case("2: adaptive, rtol 1e-8, fp64, 2^19 lanes, atol 1e-11", 2**19, 121, "12solve_kernelId", ((0, 1),), 12, 0.75, 2000, 1,
         Earlier((1168, 774, 669), 4180, 5, 1.766)),
    Case("3: gradient, rtol 1e-6, 2^15 lanes, atol 1e-9", 2**15, 71, "15gradient_kernelId", ((0, 1), (1, 1)), 8, 0.10, 4450, 2,
         Earlier((3781, 2114), 5120, 11, 0.300), COLD),
    Case("4: gradient of 1,000 fixed steps, fp32, 2^20 lanes, one state in 32 kept", 2**20, 1000, "fixed_gradient_kernelIf", ((0, 1), (3, 1), (4, 1)), 16, 15, 22_400, 2,
         Earlier((699, 579, 552, 541), 38_000, 11, 23.3)),
]


def of_now(case, paths):
    """Cycles as `Earlier` has them."""
    return tuple(sum(model.cycles(paths[loop], warps) / warps / rounds for loop, rounds in case.loops) for warps in range(1, case.resident // model.PARTS + 1))


def predicted(case, cycles, outside, launches, groups):
    return model.call_time(cycles, model.Work(case.lanes // 32, case.resident, case.rounds, outside * case.each, launches, groups))


def print_for(paths_of):
    """Rows for the kernels that are there: {mangled name: [path of each loop]}."""
    for case in CASES:
        for name, paths in paths_of.items():
            if case.kernel in name and len(paths) > max(loop for loop, _ in case.loops):
                cycles, then = of_now(case, paths), case.earlier
                groups = model.SOLVE_GROUPS if len(case.loops) == 1 else model.GRADIENT_GROUPS
                now = predicted(case, cycles, case.outside, case.launches, groups)
                before = predicted(case, then.cycles, then.outside, then.launches, (4,))
                print(f"predicted for an H100 | {case.what} | {now:.3f} ms | goal {case.goal} (H200) | {cycles[-1]:.0f} cycles a warp and round, "
                      f"{len(cycles)} together | earlier: predicted {before:.3f}, measured {then.measured}, {100 * (before / then.measured - 1):+.0f} %")
