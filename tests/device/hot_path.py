"""What a round costs in the machine code of the group loops: for the innermost loops of each kernel with much arithmetic the instructions on
the path that a warp takes round after round, without blocks that call functions, which are rare. For check.py.
"""

import re
import subprocess
import sys

import attribution
import model
import predictions

sys.setrecursionlimit(100_000)

INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(.*?);")
CONTROL = re.compile(r"\s*/\* (0x[0-9a-f]{16}) \*/\s*$")
PLACE = re.compile(r"\s*//## File \"(?:[^\"]*/)?([^/\"]+)\", line \d+")
LABEL = re.compile(r"(\.L_\w+):")
BRANCH = re.compile(r"\b(?:BRA(?!\.DIV)|BRX|JMP)\b.*?`\((\.L_\w+)\)")
# BRA.DIV is taken where the threads of a warp have parted, which they have not on a path that all of them take.
ENDS = re.compile(r"\b(?:BRA(?!\.DIV)|EXIT|RET|BRX|JMP)\b")


class Block:
    def __init__(self, start):
        self.start, self.code, self.control, self.places, self.next = start, [], [], [], []

    def count(self, pattern):
        return sum(bool(re.search(pattern, text)) for text in self.code)

    def streams(self):
        return sum(model.Instruction(text, 0, (), 0, places).streams() for text, places in zip(self.code, self.places))


def blocks_of(lines):
    """The basic blocks of one function, in the order of addresses, with the blocks that may follow each."""
    code, control, places, labels, waiting, place, is_new = [], [], [], {}, [], (), True
    for line in lines:
        if match := LABEL.match(line.strip()):
            waiting.append(match[1])
        elif match := INSTRUCTION.match(line):
            for label in waiting:
                labels[label] = len(code)
            waiting = []
            code.append(match[2])
            control.append(0)
            places.append(place)
            is_new = True
        elif (match := CONTROL.match(line)) and control:
            control[-1] = int(match[1], 16)
        elif match := PLACE.match(line):  # the place itself, then those that it is inlined at
            place, is_new = (match[1],) if is_new else place + (match[1],), False
    starts = {0} | set(labels.values()) | {i + 1 for i, text in enumerate(code) if ENDS.search(text)}
    blocks, of_start = [], {}
    for i, text in enumerate(code):
        if i in starts:
            blocks.append(Block(i))
            of_start[i] = len(blocks) - 1
        blocks[-1].code.append(text)
        blocks[-1].control.append(control[i])
        blocks[-1].places.append(places[i])
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
    edges, state = set(), {}
    for root in range(len(blocks)):  # functions that are called begin where nobody goes on
        stack = [] if root in state else [(root, iter(blocks[root].next))]
        state.setdefault(root, "open")
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
    """The way from the header back to it that does, without a call, most arithmetic, then most reading and writing of states, and is the shortest
    of those; inner loops once."""
    best = {}

    def way(number):
        if number in best:
            return best[number]
        block, ways = blocks[number], []
        if block.count(r"\bCALL\b"):
            best[number] = None
            return None
        if number in ends:
            ways.append(((0, 0, 0), []))
        for after in block.next:
            if after in body and (number, after) not in closing and (found := way(after)):
                ways.append(found)
        best[number] = None
        if ways:
            (floats, accesses, length), path = max(ways)
            best[number] = ((floats + block.count(FLOATS), accesses + block.streams(), length - len(block.code)), [number] + path)
        return best[number]

    found = way(header)
    return found[1] if found else []


def rounds(blocks, least_floats=60):
    """The innermost loops with at least so much arithmetic, in the order of addresses: their counts, and their instructions."""
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
            "double": count(r"\b(?:D(?:FMA|ADD|MUL|SETP)\b|[FI]2[FI]\S*\.F64)"), "local": count(r"\b(?:LDL|STL)\b"),
            "global": count(r"\b(?:LDG|STG|LD|ST)\b"), "mufu": count(r"\b(?:MUFU|F2F|I2F|F2I)\b")}))
    return [(counts, instructions_of(blocks, path)) for _, path, counts in sorted(found, key=lambda one: one[0])]


def instructions_of(blocks, path):
    """Those of a round; its blocks may lie apart."""
    instructions = []
    for number, after in zip(path, path[1:] + path[:1]):
        block = blocks[number]
        last = len(block.code) - 1
        instructions += [model.Instruction.of(*one, i == last and after != number + 1)
                         for i, one in enumerate(zip(block.code, block.control, block.places))]
    return instructions


def functions_of(text):
    name, functions = None, {}
    for line in text.splitlines():
        if match := re.match(r"\s*\.text\.(\S+):", line):
            name = match[1]
            functions[name] = []
        elif name:
            functions[name].append(line)
    return functions


def limits_broken(name, loops, limits):
    """`limits`: "part of the name:number of the loop=instructions", or "…:number.kind=count" of one kind of them."""
    for limit in limits:
        part, _, most = limit.rpartition("=")
        part, _, number = part.rpartition(":")
        number, _, kind = number.partition(".")
        kind = kind or "instructions"
        if part in name and (int(number) >= len(loops) or loops[int(number)][kind] > int(most)):
            got = loops[int(number)][kind] if int(number) < len(loops) else "no such loop"
            yield f"{part}, loop {number}, {kind} of a round: {got}; expected at most {most}"


def report(cubin, nvdisasm, limits=()):
    """Prints the loops of each kernel with what they predict, and returns what is beyond a limit, or cannot be."""
    text = subprocess.run([nvdisasm, "-c", "-hex", "-gi", cubin], capture_output=True, text=True, check=True).stdout
    broken, of_kernel = [], {}
    for name, lines in functions_of(text).items():
        found = rounds(blocks_of(lines))
        for number, (counts, path) in enumerate(found):
            print(f"{name[:24]} loop {number}: {counts}, busy: {model.busiest(path)}")
            for kind, (count, arithmetic, local) in attribution.table(path).items():
                print(f"    {count:4} {kind}: {arithmetic} of them arithmetic, {local} in local memory")
            broken += model.contradictions(f"{name[:24]}, loop {number}", path)
        of_kernel[name] = [path for _, path in found]
        broken += limits_broken(name, [counts for counts, _ in found], limits)
    predictions.print_for(of_kernel)
    return broken


if __name__ == "__main__":  # hot_path.py kernels.cubin nvdisasm
    sys.exit("\n".join(report(*sys.argv[1:3])) or 0)
