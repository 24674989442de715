"""The rules of the house, as functions from a tree to complaints. `check.py [ROOT]` prints what it finds and fails if it finds any.

A complaint reads "path:line: rule: what was found". The rules are those of CONTRIBUTING.md; self_test.py breaks each of them.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

FLOORS = ["core", "trace", "ad", "linalg", "checkpoint", "steppers", "solve", "backends", "interop"]
MOST_LINES = 400
SOURCES = {".hpp", ".cpp", ".cu", ".cuh", ".h"}
PUBLIC_MACROS = re.compile(r"EDDY_HD(_AS_ARGUMENT)?|EDDY_EXPORT|EDDY_VERSION(_MAJOR|_MINOR|_PATCH)?|EDDY_INLINE")
COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
INCLUDE = re.compile(r'\s*#\s*include\s*[<"]([^>"]+)[>"]')
# Libraries that belong to backends and the floors after it.
OUTSIDE = re.compile(r"(cuda|cub|thrust|cooperative_groups|curand|cublas|nv|Eigen|unsupported/Eigen|boost/numeric/odeint)[/_.\w]*")
ABSOLUTE_PATH = re.compile(r"(?<![\w.~})\]*-])/(?:home|root|tmp|work)(?![\w.-])")


class Tree:
    """The files that the rules read: all that git does not ignore, or all but build folders where there is no git."""

    def __init__(self, root):
        self.root = Path(root).resolve()
        list_files = ["git", "-C", str(self.root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(list_files, capture_output=True, text=True) if shutil.which("git") else None
        if listed and listed.stdout:
            names = listed.stdout.split("\0")[:-1]
        else:
            names = [str(path.relative_to(self.root)) for path in self.root.rglob("*")]
        self.targets = {}    # what each file includes of eddy's, as far as anybody has asked
        self.files = sorted(Path(name) for name in names if (self.root / name).is_file() and not built(Path(name)))

    def text(self, path):
        return (self.root / path).read_text(encoding="utf-8", errors="replace")

    def lines(self, path):
        return enumerate(self.text(path).splitlines(), start=1)

    def code_lines(self, path):
        """Lines without comments; strings stay."""
        keep_lines = lambda match: match[0] if match[0].startswith('"') else "\n" * match[0].count("\n")
        return enumerate(COMMENT_OR_STRING.sub(keep_lines, self.text(path)).splitlines(), start=1)

    def sources(self):
        return [path for path in self.files if path.suffix in SOURCES]

    def inside(self):
        """Sources and headers that belong to a floor."""
        return [path for path in self.sources() if floor_of(path)]

    def headers(self):
        """Public headers: all of include/ and solvers/."""
        return [path for path in self.sources() if path.parts[0] in ("include", "solvers")]


def built(path):
    return path.parts[0].startswith((".git", "build"))


def floor_of(path):
    """The floor that owns a file of include/eddy, src or solvers; None for the front door and for files of no floor."""
    parts = path.parts
    if parts[0] == "solvers":
        return "steppers"
    if parts[:2] == ("include", "eddy"):
        parts = parts[1:]
    elif parts[0] != "src":
        return None
    return parts[1] if len(parts) > 2 else None


def height(floor):
    return FLOORS.index(floor) if floor in FLOORS else -1


def included_path(tree, path, name):
    """Where an include of eddy's own points to in the tree, or None for other headers."""
    if name.startswith("eddy/solvers/"):
        return Path(name.removeprefix("eddy/"))
    if name.startswith("eddy/"):
        return Path("include") / name
    folders = [path.parent, Path("tests")] if path.parts[0] == "tests" else [path.parent]
    beside = [(tree.root / folder / name).resolve() for folder in folders]
    return next((file.relative_to(tree.root) for file in beside if file.is_file() and file.is_relative_to(tree.root)), None)


def includes(tree, paths):
    """(path, line, included name) in the given files."""
    for path in paths:
        for number, line in tree.code_lines(path):
            if match := INCLUDE.match(line):
                yield path, number, match[1]


def floors_are_known(tree):
    for path in tree.inside():
        if (floor := floor_of(path)) not in FLOORS:
            yield f"{path}:1: unknown floor: {floor} is none of {' '.join(FLOORS)}"


def nothing_includes_upward(tree):
    for path, number, name in includes(tree, tree.inside()):
        target = included_path(tree, path, name)
        if target is None:
            continue
        if floor_of(target) is None and target != VERSION:
            yield f"{path}:{number}: upward include: {name} is the front door, for programs outside"
        elif height(floor_of(path)) < height(floor_of(target)):
            yield f"{path}:{number}: upward include: {floor_of(path)} must not include {name}, to its right"


HEAD_TEST = re.compile(r"^// Tests?: (.*)$", re.MULTILINE)


def heads_name_their_tests(tree):
    """The head of each header in include/eddy says where its test is, `// Test: tests/floor/idea.cpp`, a list with commas if there are several. The
    test meets the header: a source gets it by what it includes, a Python test names its file."""
    reached = {}
    for path in tree.headers():
        if path.parts[0] != "include":
            continue
        head = re.match(r"(?:#pragma once\n|//(?!/)[^\n]*\n)*", tree.text(path))[0]
        tests = [Path(name.strip()) for line in HEAD_TEST.findall(head) for name in line.split(",")]
        if not tests:
            yield f"{path}:1: head without a test: end it with // Test: tests/…"
        for test in tests:
            if test.parts[0] != "tests" or test not in tree.files:
                yield f"{path}:1: test that is not there: {test}"
            elif test.suffix == ".py":
                if path.name not in tree.text(test):
                    yield f"{path}:1: test of something else: {test} does not name {path.name}"
            elif path not in reached.setdefault(test, reached_from(tree, test)):
                yield f"{path}:1: test of something else: {test} does not include {path}, nor does what it includes"


DESIGN = Path("docs/design/solving.md")


def the_design_knows_each_header(tree):
    """The table at the end of docs/design/solving.md names each header of solve and backends, in a row for each folder: | `lane/` | `arena`, … |."""
    text = tree.text(DESIGN) if DESIGN in tree.files else ""
    named = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if row := re.match(r"\| `([\w/]+/)` \|", line):
            folder = Path("include/eddy") / (row[1] if row[1].startswith("backends/") else "solve/" + row[1])
            named |= {folder / f"{name}.hpp": number for name in re.findall(r"`(\w+)`", line[row.end():])}
    for path in tree.headers():
        if path.parts[:3] in (("include", "eddy", "solve"), ("include", "eddy", "backends")) and path not in named:
            yield f"{path}:1: unknown to the design: name it in the table of {DESIGN}"
    for path, number in named.items():
        if path not in tree.files:
            yield f"{DESIGN}:{number}: header that is not there: {path}"


def the_design_names_headers_that_are_there(tree):
    """Paths of headers on the pages of docs/design begin in include/eddy, or in one of these of its floors."""
    tops = [".", "include/eddy", *(f"include/eddy/{floor}" for floor in ("solve", "backends", "steppers", "trace"))]
    for page in tree.files:
        if page.parts[:2] == DESIGN.parts[:2] and page.suffix == ".md":
            for number, line in enumerate(tree.text(page).splitlines(), start=1):
                for name in re.findall(r"`((?:\w+/)+\w+\.hpp)`", line):
                    if not any(Path(top, name) in tree.files for top in tops):
                        yield f"{page}:{number}: header that is not there: {name}"


def outside_libraries_stay_in_backends(tree):
    for path, number, name in includes(tree, tree.inside()):
        if height(floor_of(path)) < height("backends") and OUTSIDE.fullmatch(name):
            yield f"{path}:{number}: outside library: {name} belongs to backends or to its right"


def names_say_what_is_inside(tree):
    for path in tree.files:
        if re.search(r"(^|_)(utils?|misc|helpers?)(_|$)", path.name.split(".")[0]):
            yield f"{path}:1: vague name: name the file after its one idea"


def headers_are_short(tree):
    for path in tree.headers():
        count = len(tree.text(path).splitlines())
        if count > MOST_LINES and path.parts[0] != "solvers":
            yield f"{path}:{count}: long header: {count} lines, at most {MOST_LINES}; split it"


EMPTY_MEMBER = re.compile(r"\[\[no_unique_address\]\][^;{]*(\{\})?;\s*\};")
# Of the host alone, or never an element of an array.
MAY_END_EMPTY = {"ad/remat.hpp", "solve/ask/auto_switch.hpp", "solve/call/gradient_workspace.hpp", "solve/call/solve.hpp", "solve/lane/chain_path.hpp",
                 "steppers/stepper.hpp"}


def classes_do_not_end_empty(tree):
    """nvcc 13.0 takes elements of an array to lie twice as far apart as they do where their class ends with such a member."""
    for path in tree.headers():
        if "/".join(path.parts[2:]) in MAY_END_EMPTY:
            continue
        text = "\n".join(line for _, line in tree.code_lines(path))
        for found in EMPTY_MEMBER.finditer(text):
            line = text.count("\n", 0, found.start()) + 1
            yield f"{path}:{line}: last member may be empty: put it before one that is not, or nvcc lays arrays out wrongly"


def compilers_are_told_apart_once(tree):
    for path in tree.headers():
        if path == Path("include/eddy/core/host_device.hpp"):
            continue
        for number, line in tree.code_lines(path):
            if match := re.search(r"__CUDACC__|__CUDA_ARCH__", line):
                yield f"{path}:{number}: compiler test: {match[0]} belongs to core/host_device.hpp alone"


def macros_are_few(tree):
    for path in tree.headers():
        undefined = set(re.findall(r"^\s*#\s*undef\s+(\w+)", tree.text(path), re.MULTILINE))
        for number, line in tree.code_lines(path):
            match = re.match(r"\s*#\s*define\s+(\w+)", line)
            if match and match[1] not in undefined and not PUBLIC_MACROS.fullmatch(match[1]):
                yield f"{path}:{number}: public macro: {match[1]}; only EDDY_HD, EDDY_HD_AS_ARGUMENT, EDDY_INLINE, EDDY_EXPORT and the version numbers are public"


def namespaces_have_a_version(tree):
    """What is compiled against one version must not link with another: docs/design/abi.md."""
    for path in [*tree.headers(), *(path for path in tree.files if path.parts[0] == "src" and path.suffix in SOURCES)]:
        for number, line in tree.code_lines(path):
            if re.match(r"\s*namespace eddy\b(?!::inline v\d+\b)", line):
                yield f"{path}:{number}: namespace without a version: write namespace eddy::inline v0"


def headers_are_listed(tree):
    """Each header stands in the CMakeLists.txt of its floor, by its path from there: what is not listed is not installed."""
    for path in tree.headers():
        if path.parts[0] == "solvers":
            listing, name = Path("solvers/CMakeLists.txt"), path.name
        elif floor := floor_of(path):
            folder = Path("include/eddy") / floor
            listing, name = folder / "CMakeLists.txt", str(path.relative_to(folder))
        else:
            listing, name = Path("CMakeLists.txt"), str(path)
        listed = tree.text(listing) if (tree.root / listing).is_file() else ""
        if name not in re.sub(r"#[^\n]*", "", listed).replace(")", " ").split():
            yield f"{path}:1: unlisted header: add it to {listing}"


VERSION = Path("include/eddy/version.hpp")    # macros, which include nothing
FRONT_DOOR = Path("include/eddy/eddy.hpp")
STORAGE_DOOR = Path("include/eddy/storage.hpp")
CUDA_DOOR = Path("include/eddy/backends/cuda.hpp")    # for sources that nvcc compiles
THRUST_DOOR = Path("include/eddy/interop/thrust.hpp")    # for programs that have Thrust
MPI_DOOR = Path("include/eddy/backends/mpi.hpp")    # for programs with an MPI
RUNTIME_DOOR = Path("include/eddy/runtime.hpp")    # the light one
NCCL_DOOR = Path("include/eddy/backends/nccl.hpp")    # for sources that nvcc compiles, with NCCL


def reached_from(tree, door):
    """The headers that a program gets with `door`, itself included."""
    reached, waiting = set(), [door]
    while waiting:
        path = waiting.pop()
        if path in reached or not (tree.root / path).is_file():
            continue
        reached.add(path)
        if path not in tree.targets:
            tree.targets[path] = [target for _, _, name in includes(tree, [path]) if (target := included_path(tree, path, name))]
        waiting += tree.targets[path]
    return reached


def a_door_opens_to_each_header(tree):
    """Every public header is a door (eddy.hpp, runtime.hpp, storage.hpp, backends/mpi.hpp, backends/nccl.hpp, backends/cuda.hpp, interop/thrust.hpp) or reached
    from one, but for those beside backends/cuda.hpp that need the CUDA toolkit."""
    reached = set().union(*(reached_from(tree, door) for door in [FRONT_DOOR, STORAGE_DOOR, RUNTIME_DOOR, CUDA_DOOR, MPI_DOOR, NCCL_DOOR])) | {THRUST_DOOR}
    for path in tree.headers():
        if path not in reached and path.parent != Path("include/eddy/backends/cuda"):
            yield f"{path}:1: unreached header: include it in eddy.hpp, in storage.hpp, or in solvers/all.hpp if it is a method"


def storage_stays_off_the_front_door(tree):
    """What the target eddy_storage lists is not reached from eddy.hpp: who links to eddy::eddy alone neither compiles nor links it."""
    listing = Path("include/eddy/checkpoint/CMakeLists.txt")
    text = tree.text(listing) if (tree.root / listing).is_file() else ""
    words = " ".join(re.findall(r"target_sources\(eddy_storage([^)]*)\)", text)).split()
    stored = {listing.parent / word for word in words if word.endswith(".hpp")} | {STORAGE_DOOR}
    for path, number, name in includes(tree, sorted(reached_from(tree, FRONT_DOOR) - stored)):
        if included_path(tree, path, name) in stored:
            yield f"{path}:{number}: storage on the front door: {name} belongs to eddy_storage, reached by storage.hpp"


HEAVY = ["ad/jvp.hpp", "ad/vjp.hpp", "solve/lane/problem.hpp", "steppers/term.hpp", "trace/evaluate.hpp", "trace/rows/row_program.hpp"]


def the_light_door_stays_light(tree):
    """runtime.hpp reaches names and interfaces, not what computes with them: the library has that compiled."""
    reached = reached_from(tree, RUNTIME_DOOR)
    for path, number, name in includes(tree, sorted(reached)):
        if name.removeprefix("eddy/") in HEAVY:
            yield f"{path}:{number}: heavy header behind the light door: {name}; put what is named into a header of its own"


def sources_are_built(tree):
    """Each source is named by the CMakeLists.txt of its folder or of one above it (of its floor, in src), with its ending or, where
    a function adds that, without; each header outside include/ and solvers/ is included by another file."""
    words = {path.parent: set(re.sub(r"#[^\n]*|[()\"]", " ", tree.text(path)).split())
             for path in tree.files if path.name == "CMakeLists.txt"}
    prefix = re.compile(r"\$\{(PROJECT|CMAKE_CURRENT)_SOURCE_DIR\}/")
    words = {folder: {prefix.sub("", word) for word in listed} for folder, listed in words.items()}
    included = {name for _, _, name in includes(tree, tree.sources())}
    for path in tree.sources():
        if path.suffix in (".cpp", ".cu"):
            names = {(folder, str(form.relative_to(folder))) for folder in path.parents for form in (path, path.with_suffix(""))}
            names |= {(Path("include/eddy") / (floor_of(path) or ""), str(path))}
            if not any(name in words.get(folder, ()) for folder, name in names):
                yield f"{path}:1: source built by nothing: name it in a CMakeLists.txt, or remove it"
        elif path not in tree.headers() and not any(f"/{path}".endswith(f"/{name}") for name in included):
            yield f"{path}:1: header included by nothing: include it, or remove it"


def cmake_versions_agree(tree):
    """The presets, the README and each project ask for the CMake that the root CMakeLists.txt asks for."""
    asked = r"cmake_minimum_required\(VERSION ([\d.]+)\)"
    forms = {"CMakePresets.json": r'"cmakeMinimumRequired": \{"major": (\d+), "minor": (\d+)', "README.md": rf"CMake (\d[\d.]*\d)|{asked}"}
    wanted = re.search(asked, tree.text(Path("CMakeLists.txt")))
    for path in tree.files:
        if not wanted or path.name not in ("CMakeLists.txt", *forms):
            continue
        for number, line in tree.lines(path):
            for match in re.finditer(forms.get(path.name, asked), line):
                version = ".".join(group for group in match.groups() if group)
                if version != wanted[1]:
                    yield f"{path}:{number}: CMake version: {version} here, {wanted[1]} in CMakeLists.txt"


def versions_agree(tree):
    """The version of include/eddy/version.hpp is that of the citation and of the packages, and README and pages ask for its minor one."""
    header = Path("include/eddy/version.hpp")
    numbers = re.findall(r"EDDY_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", tree.text(header)) if (tree.root / header).is_file() else []
    forms = {"CITATION.cff": r"^version: (\S+)", "vcpkg.json": r'"version": "([^"]+)"', "package.py": r'version\("([\d.]+)"'}
    asked = r"find_package\(eddy ([\d.]+)|GIT_TAG v(\d+\.\d+\.\d+)|libeddy-dev_([\d.]+)_|\beddy/(\d[\d.]*)\b"
    for path in tree.files:
        of_user = path.suffix == ".md" and path.parts[0] in ("README.md", "docs", "packaging")
        if not numbers or not (of_user or path.name in forms):
            continue
        for number, line in tree.lines(path):
            for match in re.finditer(forms.get(path.name, asked), line):
                version = next(group for group in match.groups() if group).split(".")
                if version != numbers[:len(version)]:
                    yield f"{path}:{number}: version: {'.'.join(version)} here, {'.'.join(numbers)} in {header}"


def pages_include_public_headers(tree):
    """README, pages and examples include what docs/guide/install.md calls public: the doors, what they name, and methods."""
    doors = [FRONT_DOOR, RUNTIME_DOOR, STORAGE_DOOR, CUDA_DOOR, THRUST_DOOR, MPI_DOOR, NCCL_DOOR]
    named = {f"eddy/{door.relative_to('include/eddy')}" for door in doors}
    named |= {name for _, _, name in includes(tree, [door for door in doors[:3] if (tree.root / door).is_file()])}
    for path in tree.files:
        if path.parts[0] not in ("README.md", "docs", "examples") or path.parts[:2] == ("docs", "design"):
            continue
        for number, line in tree.lines(path):
            match = INCLUDE.match(line)
            if match and match[1].startswith("eddy/") and match[1] not in named and not match[1].startswith("eddy/solvers/"):
                yield f"{path}:{number}: private header: {match[1]} is named by neither eddy.hpp nor storage.hpp"


def paths_are_relative(tree):
    for path in tree.files:
        for number, line in tree.lines(path):
            if match := ABSOLUTE_PATH.search(line):
                yield f"{path}:{number}: absolute path: {match[0]} exists on one machine only"


RULES = [floors_are_known, classes_do_not_end_empty, nothing_includes_upward, heads_name_their_tests, the_design_knows_each_header,
         the_design_names_headers_that_are_there,
         outside_libraries_stay_in_backends, names_say_what_is_inside, headers_are_short, compilers_are_told_apart_once, macros_are_few,
         namespaces_have_a_version, headers_are_listed, a_door_opens_to_each_header,
         storage_stays_off_the_front_door, the_light_door_stays_light, sources_are_built, cmake_versions_agree, versions_agree, pages_include_public_headers,
         paths_are_relative]


def complaints(root):
    tree = Tree(root)
    return [complaint for rule in RULES for complaint in rule(tree)]


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2]
    found = complaints(root)
    for complaint in found:
        print(complaint)
    tree = Tree(root)
    print(f"{len(RULES)} rules, {len(tree.files)} files, {len(tree.headers())} headers: {len(found)} complaints")
    sys.exit(1 if found or not tree.headers() else 0)


if __name__ == "__main__":
    main()
