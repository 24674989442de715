"""works_with.py PROGRAM ROOT [--write]: the tables of docs/guide/what_works_with_what.md are those that PROGRAM prints, and each sentence that
refuses something has a test that expects it. With --write the page gets the tables.

The sentences are those of include/eddy/solve/ask/combinations.hpp: the compiler's are expected by a bad twin of tests/compile_fail, a run's
by another test, between its values.
"""

import re
import subprocess
import sys
from pathlib import Path


def tables(text):
    """(where it begins, where it ends) of each run of lines that begin with |."""
    return [found.span() for found in re.finditer(r"(?:^\|.*\n)+", text, re.MULTILINE)]


def with_tables(page, printed):
    """The page with the printed tables in the place of its own."""
    news = [printed[begin:end] for begin, end in tables(printed)]
    olds = tables(page)
    if len(news) != len(olds):
        sys.exit(f"the page has {len(olds)} tables, but {len(news)} are printed")
    for (begin, end), new in reversed(list(zip(olds, news))):
        page = page[:begin] + new + page[end:]
    return page


def joined(text):
    """Literals that stand one behind the other as one; quotes and braces as they are said."""
    return re.sub(r'"\s*"', "", text).replace('\\"', '"')


def unexpected(root):
    """Sentences that no test expects."""
    header = joined((root / "include/eddy/solve/ask/combinations.hpp").read_text(encoding="utf-8"))
    heads = [path.open(encoding="utf-8").readline() for path in (root / "tests/compile_fail").glob("*.cpp")]
    expected = [head.removeprefix("// expect: ").strip() for head in heads]
    run_tests = [joined(path.read_text(encoding="utf-8")) for path in (root / "tests").glob("*/*.cpp")]
    of_compiler = re.findall(r'static_assert\(refusal != Refusal::\w+,\s*"(.*?)"\);', header)
    of_run = re.findall(r'case Refusal::\w+:\s*return "(.*?)";', header)
    for sentence in of_compiler:
        if not any(re.search(words, sentence) for words in expected):
            yield sentence
    for sentence in of_run:
        words = max(sentence.split("{}"), key=len)
        if not any(words in text for text in run_tests):
            yield sentence
    if not of_compiler or not of_run:
        yield "no sentence is found"


def main():
    program, root = sys.argv[1], Path(sys.argv[2])
    path = root / "docs/guide/what_works_with_what.md"
    page = path.read_text(encoding="utf-8")
    printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    right = with_tables(page, printed)
    if "--write" in sys.argv:
        path.write_text(right, encoding="utf-8")
        return 0
    problems = [f"no test expects: {sentence}" for sentence in unexpected(root)]
    if page != right:
        problems.append(f"{path.name} has other tables than are printed: works_with.py PROGRAM ROOT --write")
    print("\n".join(problems) or "the page is as printed, and each refusal has its test")
    return 1 if problems else 0


sys.exit(main())
