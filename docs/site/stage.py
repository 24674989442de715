"""stage.py ROOT FOLDER: copies the pages to FOLDER as the site wants them.

README.md becomes index.md, docs/README.md docs.md. A link to a file that is no page of the site becomes its name.
"""

import re
import shutil
import sys
from pathlib import Path

LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")


def staged_path(path):
    """Where a file of the repository lies on the site; None where it does not."""
    if path == Path("README.md"):
        return Path("index.md")
    if path == Path("docs/README.md"):
        return Path("docs.md")
    if path.parts[0] == "docs" and path.suffix in (".md", ".svg", ".png") and path.parts[1] != "site":
        return Path(*path.parts[1:])
    return path if path in (Path("CHANGELOG.md"), Path("CONTRIBUTING.md")) else None


def with_links(text, page, root):
    """The text of a page with its links as they are on the site."""
    here = staged_path(page).parent

    def link(hit):
        picture, words, target, anchor = hit.groups()
        if "://" in target:
            return hit[0]
        path = Path(shutil.os.path.normpath(page.parent / target))
        if (root / path).is_dir() and (root / path / "README.md").is_file():
            path = path / "README.md"
        to = Path(*path.parts[1:]) if path.parts[:3] == ("docs", "reference", "api") else staged_path(path)
        if to is None or (root / path).is_dir():
            return f"{words} (`{path}`)"
        return f"{picture}[{words}]({Path(shutil.os.path.relpath(to, here)).as_posix()}{anchor or ''})"

    return LINK.sub(link, text)


def main():
    root, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    pages = [Path("README.md"), Path("CHANGELOG.md"), Path("CONTRIBUTING.md"), *(file.relative_to(root) for file in (root / "docs").rglob("*.*"))]
    for page in pages:
        to = staged_path(page)
        if to is None:
            continue
        (folder / to).parent.mkdir(parents=True, exist_ok=True)
        if page.suffix == ".md":
            (folder / to).write_text(with_links((root / page).read_text(encoding="utf-8"), page, root), encoding="utf-8")
        else:
            shutil.copy(root / page, folder / to)


main()
