"""What a round costs on a processor of sm_90, by a model: nothing here was timed on a device.

A processor has four parts. A part issues one instruction a cycle, of one of its warps, in the order of that warp; an instruction keeps its pipe busy
for some cycles, and the next one of its warp waits as long as the compiler says in the machine code: for a fixed number of cycles, and for those whose
time is not fixed by scoreboards. `cycles` takes some warps through some rounds so. Beside that stand what moves between the processors and memory, and
through the first-level cache, which the four parts share.
"""

import re
from dataclasses import dataclass

# Cycles that an instruction of a warp keeps a pipe of a part busy. The first pattern that fits counts.
PIPES = [
    (r"\bD(?:FMA|ADD|MUL|SETP)\b", "double", 2),
    (r"\b(?:MUFU|F2F|I2F|F2I)\b", "special", 8),
    (r"\b(?:LD|ST|LDG|STG|LDS|STS|LDC|SHFL|CCTL)\b", "first-level cache", 2),
    (r"\b(?:FFMA|FADD|FMUL)\b", "float", 1),
    (r"\bIMAD\b", "float", 2),
    (r"\b(?:ISETP|FSETP|SEL|FSEL|LOP3|SHF|IADD3|FMNMX|LEA|IMNMX|PLOP3|MOV|DSEL|PRMT)\b", "integer", 2),
]
# Who reads and writes what no cache of a processor holds: the source of checkpoints and log. What other reads find in memory they have found
# in every round, or written a moment ago.
STREAMS = "group_checkpoints.hpp"
# Cycles until a scoreboard is free, of what has no fixed time; the first that fits.
LATENCIES = [
    (r"\b(?:ST|STG|STL)\b", 20), (r"\b(?:LDG|LD|LDL|LDS)\b", 33), (r"\bMUFU\b", 32), (r"\bLDC\b", 40), (r"\b(?:F2F|I2F|F2I)\b", 32),
    (r"\b(?:SHFL|VOTE|S2R|S2UR|R2UR)\b", 25),
]
JUMP = 11  # cycles until a warp goes on somewhere else: so far away is what is not fetched yet
PARTS, LINE = 4, 128  # of a processor; bytes of the first-level cache a cycle


@dataclass
class Machine:
    processors: int = 132
    gigahertz: float = 1.98
    global_latency: int = 320  # cycles, of the second-level cache


@dataclass
class Instruction:
    text: str
    stall: int
    sets: tuple  # scoreboards
    waits: int   # mask of them
    places: tuple = ()  # files: where it stands in the source, then where that is inlined

    @staticmethod
    def of(text, control, places=(), jumps=False):
        """`control` is the upper half of the 128 bits."""
        field = lambda first, width: control >> first - 64 & (1 << width) - 1
        return Instruction(text, field(105, 4) + (JUMP if jumps else 0), tuple(board for board in (field(110, 3), field(113, 3)) if board < 6), field(116, 6),
                           tuple(places))

    def pipe(self):
        # The part's share of the cache; what is read besides states and local memory has one address for all threads.
        if self.streams() or self.is_in("LDL|STL"):
            return "first-level cache", max(2, PARTS * self.bytes() // LINE)
        return next(((pipe, busy) for pattern, pipe, busy in PIPES if re.search(pattern, self.text)), ("other", 1))

    def latency(self, machine):
        if self.streams() and not self.is_in("ST|STG"):
            return machine.global_latency
        return next((cycles for pattern, cycles in LATENCIES if re.search(pattern, self.text)), 20)

    def streams(self):
        return STREAMS in self.places and self.is_in("LDG|STG|LD|ST")

    def bytes(self):
        """Of a warp; neighbouring threads' numbers are neighbours."""
        width = re.search(r"\.(?:U8|S8|U16|S16|64|128)\b", self.text)
        return 32 * {".64": 8, ".128": 16, ".U8": 1, ".S8": 1, ".U16": 2, ".S16": 2}.get(width[0] if width else "", 4)

    def is_in(self, kinds):
        return re.search(rf"\b(?:{kinds})\b", self.text) is not None


def busiest(path):
    """Cycles of a part for a warp's round, by what is busy longest: (what, cycles), if everything else is hidden."""
    busy = {"issue": len(path)}
    for one in path:
        pipe, cycles = one.pipe()
        busy[pipe] = busy.get(pipe, 0) + cycles
    busy.pop("other", None)
    return max(busy.items(), key=lambda item: item[1])


def cycles(path, warps, machine=Machine(), rounds=6):
    """Cycles of a part for one round of each of its warps, which all take the same path."""
    known = [(one, *one.pipe(), one.latency(machine)) for one in path]
    ready, boards, at = [0] * warps, [[0] * 6 for _ in range(warps)], [0] * warps
    pipes, now, left = {}, 0, warps * rounds * len(path)
    while left:
        best, soonest = None, None
        for warp in range(warps):
            if at[warp] == rounds * len(path):
                continue
            one, pipe, _, _ = known[at[warp] % len(path)]
            when = max([now, ready[warp], pipes.get(pipe, 0) if pipe != "other" else 0]
                       + [boards[warp][board] for board in range(6) if one.waits >> board & 1])
            if soonest is None or when < soonest:
                best, soonest = warp, when
        one, pipe, busy, latency = known[at[best] % len(path)]
        pipes[pipe] = soonest + busy
        ready[best] = soonest + max(1, one.stall)
        for board in one.sets:
            boards[best][board] = max(boards[best][board], soonest + latency)
        at[best] += 1
        now = soonest + 1
        left -= 1
    return max(now, *ready) / rounds


@dataclass
class Work:
    """What warps have to do, 32 lanes each."""
    warps: int
    resident: int  # that a processor holds at once
    rounds: int    # of a warp
    outside: int   # cycles of a warp outside rounds
    launches: int  # of a call
    groups: tuple  # SOLVE_GROUPS, …


LAUNCH = 0.004  # milliseconds
GRADIENT_GROUPS = (4,)     # that a place wants to have, one after another
SOLVE_GROUPS = (5, 4, 3)  # of these what leaves the fewest lanes to the busiest place (solve/call/launch_plan.hpp)


def call_time(cycles, work, machine=Machine()):
    """Milliseconds of a call, from those cycles of a part for a warp's round that the model has for one, two, … warps together. Groups of
    whole warps are taken one after another by the places for warps that there are; the last are fewer, and share their parts with fewer."""
    places, parts = machine.processors * work.resident, machine.processors * PARTS
    sizes = [max(1, -(-work.warps // (groups * places))) for groups in work.groups]  # warps of lanes that are a group
    each = min(sizes, key=lambda each: -(-work.warps // (each * places)) * each)
    groups = -(-work.warps // each)
    full, rest = divmod(groups, places)
    of_group = lambda together: each * (work.rounds * together * cycles[together - 1] + work.outside)
    in_all = full * of_group(len(cycles)) + (of_group(min(len(cycles), -(-rest // parts))) if rest else 0)
    return in_all / (machine.gigahertz * 1e6) + work.launches * LAUNCH


def contradictions(name, path):
    """A model that hides nothing and one that hides everything bound each other; and who puts numbers aside, to take them up again, also reads and
    writes others."""
    issued, alone, together = len(path), cycles(path, 1), cycles(path, 4) / 4
    least = busiest(path)[1]
    if not issued <= together <= alone or together < 0.95 * least:
        yield f"{name}: {issued} instructions and {least:.0f} cycles of the busiest pipe, but {together:.0f} cycles with four warps, {alone:.0f} with one"
    if not any(one.is_in("LDG|STG|LD|ST") for one in path) and all(any(one.is_in(kind) for one in path) for kind in ("STL", "LDL")):
        yield f"{name}: spills, but neither reads nor writes"
