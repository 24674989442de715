"""prose.py ROOT: measures the prose of README.md and docs/ (guide, tutorials, recipes, reference), and fails where it is hard to read.

Counted are sentences of running text and lists; code, tables, headings, pictures and addresses of links are not. `--list` prints the long
sentences and each place of a word that has a better one. docs/design and docs/benchmarks.md are not for users.
"""

import re
import sys
from pathlib import Path

LONG, AVERAGE, LONG_SHARE, LANES, README_LINES = 35, 30, 1 / 50, 20, 130
FOLDERS = ("guide", "tutorials", "recipes", "reference", "coming_from")
INSIDE = {"inside.md"}  # the page on how a trajectory is computed may say lane
# Words of ours for which the field has others, and turns of phrase that hide who does what.
BETTER = {
    r"the way (?:back|forward)": "the backward (forward) pass",
    r"\bbut for\b": "except",
    r"\b(?:nobody|somebody|whoever)\b": "name who it is",
    r"gradients? that holds?\b": "reliable gradients",
}


def without_code(text):
    text = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return re.sub(r"`[^`]*`", "code", text)


def paragraphs(text):
    """Runs of text: a list's item is one, and so is what stands between empty lines."""
    run = []
    for line in without_code(text).split("\n"):
        line = line.strip()
        if not line or line.startswith(("|", "#", "---")):
            yield " ".join(run)
            run = []
            continue
        if re.match(r"(?:[-*>]|\d+\.)\s", line):
            yield " ".join(run)
            run = []
            line = re.sub(r"^(?:[-*>]|\d+\.)\s+", "", line)
        run.append(line)
    yield " ".join(run)


def sentences(text):
    for paragraph in paragraphs(text):
        for sentence in re.split(r"(?<=[.!?:])[)*_\"]*\s+(?=[\"*_(\[]*[A-Z0-9]|code|eddy)", paragraph):
            words = re.findall(r"[A-Za-z0-9][\w'’./–-]*", sentence)
            if words:
                yield len(words), sentence


def pages(root):
    yield root / "README.md"
    yield from sorted((root / "docs").glob("*.md"))
    for folder in FOLDERS:
        yield from sorted((root / "docs" / folder).rglob("*.md"))


def main():
    root, tell = Path(sys.argv[1]), "--list" in sys.argv
    problems, total, long, lanes = [], 0, 0, 0
    for page in pages(root):
        if page.name == "benchmarks.md" or "api" in page.parts:
            continue
        text = page.read_text(encoding="utf-8")
        name = page.relative_to(root)
        found = list(sentences(text))
        total += len(found)
        for count, sentence in found:
            if count > LONG:
                long += 1
                if tell:
                    print(f"{name}: {count} words: {sentence}")
        average = sum(count for count, _ in found) / max(1, len(found))
        if average > AVERAGE:
            problems.append(f"{name}: {average:.1f} words a sentence on average; at most {AVERAGE}")
        prose = without_code(text)
        for word, better in BETTER.items():
            for hit in re.finditer(word, prose, re.IGNORECASE):
                problems.append(f"{name}: '{hit[0]}'; say {better}: …{prose[max(0, hit.start() - 40):hit.end() + 30]!r}")
        if page.name not in INSIDE:
            here = len(re.findall(r"\blanes?\b", prose, re.IGNORECASE))
            lanes += here
            if tell and here:
                print(f"{name}: lane {here} times")
    if long > total * LONG_SHARE:
        problems.append(f"{long} of {total} sentences have more than {LONG} words; at most 1 in {1 / LONG_SHARE:.0f} (--list shows them)")
    if lanes > LANES:
        problems.append(f"'lane' stands {lanes} times; at most {LANES}: a trajectory is what users solve")
    lines = (root / "README.md").read_text(encoding="utf-8").count("\n")
    if lines > README_LINES:
        problems.append(f"README.md has {lines} lines; at most {README_LINES}")
    print(f"{total} sentences, {long} above {LONG} words, 'lane' {lanes} times, README {lines} lines")
    print("\n".join(problems))
    return 1 if problems else 0


sys.exit(main())
