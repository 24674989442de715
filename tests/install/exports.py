"""exports.py CXX NM INCLUDE FOLDER LIBRARY…: makes a shared library of the static ones, and compares what it exports with what the
headers in INCLUDE mark EDDY_EXPORT: each exported name is marked, each marked function and class is there, and nothing else is. The
templates of the standard library are weak, and show in every library."""

import re
import subprocess
import sys
from pathlib import Path

MARKED_CLASS = re.compile(r"\b(?:class|struct) EDDY_EXPORT (\w+)")
MARKED_FUNCTION = re.compile(r"(?<!class )(?<!struct )\bEDDY_EXPORT [^;{()]*?(operator<<|operator \w+|\w+)\(")


def marked_names(include):
    classes, functions = set(), set()
    for header in include.rglob("*.hpp"):
        if "cuda" in header.parts or header.name == "export.hpp":
            continue
        text = header.read_text(encoding="utf-8")
        classes.update(MARKED_CLASS.findall(text))
        functions.update(MARKED_FUNCTION.findall(text))
    return classes, functions


def without_return_type(name):
    """Functions that come of templates are told with it: eddy::Array<float> eddy::open<float>(int) -> eddy::open<float>(int)."""
    depth = 0
    for at, character in enumerate(name):
        depth += {"<": 1, ">": -1}.get(character, 0)
        if depth == 0 and character == "(":
            break
        if depth == 0 and character == " " and name.startswith("eddy::", at + 1):
            return name if name.startswith(("typeinfo", "vtable")) else name[at + 1:]
    return name


def exported_symbols(nm, library):
    """(kind, name) of each symbol that others may link to: not weak, or of eddy's own."""
    listing = subprocess.run([nm, "-DC", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    for line in listing.splitlines():
        kind, name = line.split(" ", 2)[1:]
        name = without_return_type(name)
        of_eddy = re.match(r"(?:(?:typeinfo|typeinfo name|vtable) for )?eddy::", name)
        if kind.isupper() and (kind not in "WVU" or of_eddy or "fmt::" in name):
            yield name


def words_of(name):
    """The class or function that a symbol belongs to, innermost last: eddy::KeptThreads::run(long) -> KeptThreads, run."""
    plain = re.sub(r"^(?:typeinfo|typeinfo name|vtable) for ", "", name)
    plain = re.sub(r"\[abi:\w+\]", "", plain)
    plain = plain if "operator<<" in plain else re.split(r"[(<]", plain)[0]
    return [word for word in plain.split("(")[0].split("::") if word not in ("eddy", "v0", "detail")]


def main():
    compiler, nm, include, folder = sys.argv[1:5]
    shared = Path(folder) / "libeddy_exports.so"
    subprocess.run([compiler, "-shared", "-o", shared, "-Wl,--whole-archive", *sys.argv[5:], "-Wl,--no-whole-archive", "-pthread"],
                   check=True)
    classes, functions = marked_names(Path(include))
    complaints, seen = [], set()
    for name in sorted(set(exported_symbols(nm, shared))):
        words = words_of(name)
        if "eddy::v0::" not in name or not words:
            complaints.append(f"exported, but not eddy's, or without the version of its ABI: {name}")
        elif not classes.intersection(words) and words[-1] not in functions:
            complaints.append(f"exported, but not marked EDDY_EXPORT: {name}")
        seen.update(words)
    unused = {"Cancelled", "NonDeterministicBody"}  # thrown in headers only
    complaints += [f"marked EDDY_EXPORT, but not exported: {name}" for name in sorted((classes | functions) - seen - unused)]
    for complaint in complaints:
        print(complaint)
    print(f"{len(classes)} classes and {len(functions)} functions marked: {len(complaints)} complaints")
    return 1 if complaints else 0


sys.exit(main())
