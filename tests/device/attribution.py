"""Which part of the design the instructions of a round come from, by the files that they are inlined from: the first kind that one of them names."""

KINDS = [
    ("the step, its stages and its pullback", ("explicit_rk.hpp", "explicit_rk_stepper.hpp", "evaluate.hpp", "step_size.hpp")),
    ("error norm and controller", ("error_norm.hpp", "squared_ratios.hpp", "pid.hpp", "step_factor.hpp")),
    ("states and log", ("group_checkpoints.hpp",)),
    ("time, landing, verdict, input of a step", ("attempt.hpp", "group_forward.hpp", "constant_rounds.hpp")),
    ("sums of cotangents, who moved", ("chain_back.hpp", "group_adjoint.hpp")),
    ("who is where", ("lane_assignment.hpp",)),
    ("stack and placement", ("team_stack.hpp", "placement_view.hpp")),
    ("cancelled?", ("grid_team.hpp",)),
]
OTHERS = "the sweep"
ARITHMETIC, LOCAL = "DFMA|DMUL|DADD|FFMA|FMUL|FADD", "LDL|STL"


def kind_of(places):
    return next((kind for kind, files in KINDS if any(name in places for name in files)), OTHERS)


def table(path):
    """{kind: [instructions, of them arithmetic, of them local memory]}"""
    counts = {}
    for one in path:
        row = counts.setdefault(kind_of(one.places), [0, 0, 0])
        for i, is_one in enumerate((True, one.is_in(ARITHMETIC), one.is_in(LOCAL))):
            row[i] += is_one
    return counts
