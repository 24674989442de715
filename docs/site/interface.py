"""interface.py ROOT FOLDER: writes the reference of the public names to FOLDER, from the comments of the headers.

names.txt lists the names, by group; members are not told of a name with a full stop behind it, nor in a group with `(names)` behind its title. Doxygen reads the headers; this turns its XML into a page for each group. It fails where a name is not found or
has no sentence, where a public member or a value of one has none, where a sentence has words that users do not search for (WORN),
and where a page for users names what is not listed.
"""

import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

DOXYFILE = """INPUT={root}/include {root}/solvers
RECURSIVE=YES
FILE_PATTERNS=*.hpp
GENERATE_HTML=NO
GENERATE_LATEX=NO
GENERATE_XML=YES
XML_PROGRAMLISTING=NO
OUTPUT_DIRECTORY={folder}
QUIET=YES
WARNINGS=NO
EXTRACT_ALL=YES
MACRO_EXPANSION=YES
EXPAND_ONLY_PREDEF=YES
PREDEFINED="EDDY_HD=" "EDDY_HD_AS_ARGUMENT=" "EDDY_EXPORT="
MAX_INITIALIZER_LINES=1
INPUT_FILTER="sed -e 's/namespace eddy::inline v0/namespace eddy/'"
"""
# Names on pages that are not eddy's own: namespaces, CMake targets, a folder.
NO_NAMES = {"nccl", "eddy", "detail", "nn", "train", "storage", "cuda", "mpi", "dlpack", "passes", "simd"}
# Members by which the library meets its concepts, and by which it fills its results in.
LIBRARY_CALLS = {"propose", "in_single", "is_adaptive", "is_joint", "require_valid", "is_valid", "num_workers", "stores", "memory", "at", "name",
                 "machine", "takes_probe", "watch_tangents", "y_of", "tangent_of", "variance_of", "num_columns", "append_step",
                 "take_steps", "reset", "clear", "launch", "lanes", "set_attempt_cost", "reset_later",
                 "failed_paths_of_lanes", "lost_states", "follow", "keep_events", "relative_errors", "marks", "was_redone"}
# Words of the source that are not those of the field: a trajectory is a lane only as a place in a SIMD vector. Code in backticks is free.
WORN = re.compile(r"(?<!SIMD )\blanes?\b|\bway (?:back|forward)\b|\b(?:nobody|somebody|whoever)\b|\bbut for\b", re.IGNORECASE)
NAMED = re.compile(r"\b((?:eddy|nn|train)(?:::\w+)+)")


def text_of(node):
    return re.sub(r"\s+", " ", "".join(node.itertext())).strip() if node is not None else ""


def description(node):
    """What the comment says: the first sentence, then the rest."""
    return " ".join(filter(None, (text_of(node.find("briefdescription")), text_of(node.find("detaileddescription")))))


def prose_of(node):
    """What a node says outside code."""
    return (node.text or "") + "".join((" " if part.tag == "computeroutput" else prose_of(part)) + (part.tail or "") for part in node)


def problems_of(name, *nodes):
    """What is wrong with the comments of a name: that they say nothing, or by which words. Overloads share a sentence."""
    if not any(map(description, nodes)):
        return [f"no sentence: {name}"]
    comments = [node.find(part) for node in nodes for part in ("briefdescription", "detaileddescription")]
    words = [word for comment in comments if comment is not None for word in WORN.findall(re.sub(r"\s+", " ", prose_of(comment)))]
    return [f"{name} says \"{word}\": say it in the words of the field, or put code in backticks" for word in dict.fromkeys(words)]


def signature(member):
    kind = member.get("kind")
    name = text_of(member.find("name"))
    if kind == "function":
        return re.sub(r" ([&*]+)(\w)", r"\1 \2", f"{name}{text_of(member.find('argsstring'))}").replace(" &", "&")
    if kind == "variable":
        return f"{text_of(member.find('type'))} {name}{text_of(member.find('argsstring'))} {text_of(member.find('initializer'))}".strip()
    return name


def members(compound):
    """Public members of a struct or class that a user calls or sets: no constructors, no operators, nothing that only the library calls."""
    own = text_of(compound.find("compoundname")).split("::")[-1].split("<")[0].strip()
    for section in compound.findall("sectiondef"):
        for member in section.findall("memberdef"):
            name = text_of(member.find("name"))
            if name in LIBRARY_CALLS:
                continue
            if member.get("prot") == "public" and member.get("kind") in ("function", "variable") and name != own and \
                    not name.startswith(("~", "operator")) and "friend" not in section.get("kind"):
                yield member


class Interface:
    def __init__(self, folder):
        self.compounds, self.free = {}, {}
        for file in sorted(Path(folder, "xml").glob("*.xml")):
            if not file.name.startswith(("struct", "class", "namespace", "concept", "union")):
                continue
            for compound in ElementTree.parse(file).getroot().findall("compounddef"):
                name = text_of(compound.find("compoundname"))
                if compound.get("kind") != "namespace":
                    self.compounds.setdefault(name, compound)
                    continue
                for member in compound.iter("memberdef"):
                    self.free.setdefault(f"{name}::{text_of(member.find('name'))}", []).append(member)

    def find(self, name, with_members):
        """The lines of a name, and what is wrong with its sentences."""
        if name in self.compounds:
            compound = self.compounds[name]
            lines = [f"### `{name}`", "", description(compound), ""]
            chosen, overloads = list(members(compound)) if with_members else [], {}
            for member in chosen:
                overloads.setdefault(text_of(member.find("name")), []).append(member)
            problems = problems_of(name, compound)
            for member, nodes in overloads.items():
                problems += problems_of(f"{name}::{member}", *nodes)
            told = {member: next(filter(None, map(description, nodes)), "") for member, nodes in overloads.items()}
            cells = [(description(member) or told[text_of(member.find("name"))]).replace("|", r"\|") for member in chosen]
            rows = [f"| `{signature(member)}` | {cell} |" for member, cell in zip(chosen, cells)]
            if rows:
                lines += ["| | |", "| --- | --- |", *dict.fromkeys(rows), ""]
            return lines, problems
        if name in self.free:
            overloads = self.free[name]
            told = list(dict.fromkeys(filter(None, map(description, overloads))))
            problems = problems_of(name, *overloads)
            lines = [f"### `{name}`", "", *[f"`{signature(member)}`  " for member in overloads if member.get("kind") == "function"], "", *told, ""]
            for value in (value for member in overloads for value in member.findall("enumvalue")):
                lines.append(f"- `{text_of(value.find('name'))}`: {description(value)}")
                problems += problems_of(f"{name}::{text_of(value.find('name'))}", value)
            return lines + [""], problems
        return [], [f"not found: {name}"]


def functions_of_the_language(root):
    """The page on right-hand sides lists them in a table; their sentences are those of mathematics."""
    page = (root / "docs/guide/right_hand_sides.md").read_text(encoding="utf-8")
    table = page[page.index("## What the language has"):].split("\n\n")[1]
    return set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]*)`", table))))


def used_names(root):
    for page in [root / "README.md", *(root / "docs").rglob("*.md")]:
        if "design" in page.parts or page.name == "benchmarks.md":
            continue
        for name in NAMED.findall(page.read_text(encoding="utf-8")):
            parts = name.split("::")
            parts = parts if parts[0] == "eddy" else ["eddy", *parts]
            if parts[-1] not in NO_NAMES:
                yield "::".join(parts), page


def main():
    root, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "Doxyfile").write_text(DOXYFILE.format(root=root, folder=folder), encoding="utf-8")
    subprocess.run(["doxygen", str(folder / "Doxyfile")], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    interface, problems, listed, index, page = Interface(folder), [], set(), [], None
    pages = {}
    for line in Path(__file__).with_name("names.txt").read_text(encoding="utf-8").split("\n"):
        if line.startswith("# "):
            title, with_members = line[2:].removesuffix(" (names)"), not line.endswith(" (names)")
            page = pages.setdefault(re.sub(r"\W+", "_", title.lower()), [f"# {title}", ""])
            index.append(title)
        elif line.strip():
            for name in line.split():
                tells_members, name = with_members and not name.endswith("."), name.rstrip(".")
                lines, wrong = interface.find(f"eddy::{name}", tells_members)
                listed.add(f"eddy::{name}")
                problems += wrong
                page += lines
    for name, lines in pages.items():
        (folder / f"{name}.md").write_text("\n".join(lines), encoding="utf-8")
    (folder / "README.md").write_text("# The interface\n\nMade from the comments of the headers; every public name has its sentence.\n\n" + "\n".join(
        f"- [{title}]({re.sub(r'[^a-z0-9]+', '_', title.lower())}.md)" for title in index) + "\n", encoding="utf-8")
    unlisted, known = {}, functions_of_the_language(root)
    for name, where in used_names(root):
        prefixes = {"::".join(name.split("::")[:k]) for k in range(2, len(name.split("::")) + 1)}
        if not prefixes & listed and name.split("::")[-1] not in known:
            unlisted.setdefault(name, where.relative_to(root))
    problems += [f"{where} names {name}, which names.txt does not list" for name, where in sorted(unlisted.items())]
    print("\n".join(problems) or f"{len(listed)} names, each with its sentence")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
