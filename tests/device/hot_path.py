"""What a round costs in the machine code of the group loops: for the innermost loops of each kernel with much arithmetic the instructions on
the path that a warp takes round after round, without blocks that call functions, which are rare; and the times that these predict. For check.py.
"""

import re
import subprocess
import sys

sys.setrecursionlimit(100_000)

INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(.*?);")
LABEL = re.compile(r"(\.L_\w+):")
BRANCH = re.compile(r"\b(?:BRA|BRX|JMP)\b.*?`\((\.L_\w+)\)")
ENDS = re.compile(r"\b(?:BRA|EXIT|RET|BRX|JMP)\b")


class Block:
    def __init__(self, start):
        self.start, self.code, self.next = start, [], []

    def count(self, pattern):
        return sum(bool(re.search(pattern, text)) for text in self.code)


def blocks_of(lines):
    """The basic blocks of one function, in the order of addresses, with the blocks that may follow each."""
    code, labels, waiting = [], {}, []
    for line in lines:
        if match := LABEL.match(line.strip()):
            waiting.append(match[1])
        elif match := INSTRUCTION.match(line):
            for label in waiting:
                labels[label] = len(code)
            waiting = []
            code.append(match[2])
    starts = {0} | set(labels.values()) | {i + 1 for i, text in enumerate(code) if ENDS.search(text)}
    blocks, of_start = [], {}
    for i, text in enumerate(code):
        if i in starts:
            blocks.append(Block(i))
            of_start[i] = len(blocks) - 1
        blocks[-1].code.append(text)
    for number, block in enumerate(blocks):
        last = block.code[-1]
        if (match := BRANCH.search(last)) and match[1] in labels:
            block.next.append(of_start[labels[match[1]]])
        if not (ENDS.search(last) and not last.startswith("@")) and number + 1 < len(blocks):
            block.next.append(number + 1)
    return blocks


FLOATS = r"\b(?:D|F)(?:FMA|ADD|MUL)\b"


def retreating(blocks):
    """The edges that close loops: to a block that the search in depth is still in."""
    edges, state, stack = set(), {}, [(0, iter(blocks[0].next))]
    state[0] = "open"
    while stack:
        number, ahead = stack[-1]
        for after in ahead:
            if state.get(after) == "open":
                edges.add((number, after))
            elif after not in state:
                state[after] = "open"
                stack.append((after, iter(blocks[after].next)))
                break
        else:
            state[number] = "done"
            stack.pop()
    return edges


def body_of(blocks, header, ends):
    """The blocks of the loops that go back to `header`: those from which its ends are reached without passing it."""
    before = {}
    for number, block in enumerate(blocks):
        for after in block.next:
            before.setdefault(after, []).append(number)
    body, waiting = {header}, list(ends)
    while waiting:
        number = waiting.pop()
        if number not in body:
            body.add(number)
            waiting += before.get(number, [])
    return body


def hot_path(blocks, header, ends, body, closing):
    """The way from the header back to it that does most arithmetic without a call, and among those the shortest; inner loops once."""
    best = {}

    def way(number):
        if number in best:
            return best[number]
        block, ways = blocks[number], []
        if block.count(r"\bCALL\b"):
            best[number] = None
            return None
        if number in ends:
            ways.append(((0, 0), []))
        for after in block.next:
            if after in body and (number, after) not in closing and (found := way(after)):
                ways.append(found)
        best[number] = None
        if ways:
            (floats, length), path = max(ways)
            best[number] = ((floats + block.count(FLOATS), length - len(block.code)), [number] + path)
        return best[number]

    found = way(header)
    return found[1] if found else []


def rounds(blocks, least_floats=60):
    """The innermost loops with at least so much arithmetic: their counts, in the order of addresses."""
    closing, found = retreating(blocks), []
    headers = {after for _, after in closing}
    bodies = {header: body_of(blocks, header, {number for number, after in closing if after == header}) for header in headers}
    for header in sorted(headers, key=lambda header: len(bodies[header])):
        ends = {number for number, after in closing if after == header}
        path = hot_path(blocks, header, ends, bodies[header], closing)
        count = lambda pattern: sum(blocks[number].count(pattern) for number in path)
        if count(FLOATS) < least_floats or any(set(inner) & set(path) for _, inner, _ in found):
            continue
        found.append((header, path, {
            "instructions": sum(len(blocks[number].code) for number in path), "floats": count(FLOATS),
            "double": count(r"\bD(?:FMA|ADD|MUL|SETP)\b"), "local": count(r"\b(?:LDL|STL)\b"),
            "global": count(r"\b(?:LDG|STG|LD|ST)\b"), "mufu": count(r"\b(?:MUFU|F2F|I2F|F2I)\b")}))
    return [counts for _, _, counts in sorted(found, key=lambda one: one[0])]


def cycles(counts):
    """A warp's cycles on one of the four parts of a processor of sm_90, if others hide what it waits for: one instruction a cycle, two cycles
    for one in double precision, eight for a special function or a conversion."""
    return max(counts["instructions"], 2 * counts["double"], 8 * counts["mufu"])


def functions_of(text):
    name, functions = None, {}
    for line in text.splitlines():
        if match := re.match(r"\s*\.text\.(\S+):", line):
            name = match[1]
            functions[name] = []
        elif name:
            functions[name].append(line)
    return functions


def predicted_ms(lanes, rounds_of_warp, cycles_a_round, processors=132, gigahertz=1.98):
    """Milliseconds for so many lanes, if warps enough hide what each waits for: no launch, no first steps, no idle places. Issue slots
    alone: read it as a lower bound, 15 % and more below what a device would take."""
    return lanes / 32 * rounds_of_warp * cycles_a_round / (processors * 4 * gigahertz * 1e9) * 1e3


def limits_broken(name, loops, limits):
    """`limits`: "part of the name:number of the loop=instructions"."""
    for limit in limits:
        part, _, most = limit.rpartition("=")
        part, _, number = part.rpartition(":")
        if part in name and (int(number) >= len(loops) or loops[int(number)]["instructions"] > int(most)):
            got = loops[int(number)]["instructions"] if int(number) < len(loops) else "no such loop"
            yield f"{part}, loop {number}: {got} instructions a round; expected at most {most}"


def report(cubin, nvdisasm, limits=()):
    """Prints the loops of each kernel, and returns what is beyond a limit."""
    text = subprocess.run([nvdisasm, "-c", cubin], capture_output=True, text=True, check=True).stdout
    broken, of_kernel = [], {}
    for name, lines in functions_of(text).items():
        found = rounds(blocks_of(lines))
        for number, counts in enumerate(found):
            print(f"{name[:24]} loop {number}: {counts}, {cycles(counts)} cycles a warp")
        of_kernel[name] = [cycles(counts) for counts in found]
        broken += limits_broken(name, found, limits)
    for what, lanes, of_warp, part, count in CASES:
        for name, of_loops in of_kernel.items():
            if part in name and len(of_loops) >= count:
                print(f"predicted for an H200: {what}: {predicted_ms(lanes, of_warp, sum(of_loops[:count])):.3f} ms")
    return broken


# (case, lanes, attempts of the longest lane of a warp, kernel, loops of it): the attempts were counted on the host.
CASES = [
    ("adaptive, rtol 1e-8, fp64, 2^19 lanes, atol 1e-8", 2**19, 92, "solve_kernelId", 1),
    ("adaptive, rtol 1e-8, fp64, 2^19 lanes, atol 1e-11", 2**19, 121, "solve_kernelId", 1),
    ("gradient, rtol 1e-6, fp64, 2^15 lanes, atol 1e-6 (latency adds to it)", 2**15, 56, "gradient_kernelId", 2),
    ("gradient, rtol 1e-6, fp64, 2^15 lanes, atol 1e-9 (latency adds to it)", 2**15, 71, "gradient_kernelId", 2),
]
