"""What changed, read from Git: the files, and the lines of each that are new."""

import re
from typing import NamedTuple

_FILE = re.compile(r'^\+\+\+ (?:"?b/(.*?)"?|/dev/null)$')
_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@")

DIFF = ("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--unified=0", "--src-prefix=a/", "--dst-prefix=b/")


class ChangedLines(NamedTuple):
    path: str
    lines: frozenset[int]
    created: bool


def changed_lines(diff: str) -> list[ChangedLines]:
    """From a diff without context. What was deleted has no lines left to look at, and is left out."""
    found: list[ChangedLines] = []
    path, lines, created, body = "", set[int](), False, 0
    for line in diff.split("\n"):
        if body and line[:1] in "+-\\":
            body -= line[:1] == "+"
            continue
        if line.startswith("diff --git "):
            if path:
                found.append(ChangedLines(path, frozenset(lines), created))
            path, lines, created = "", set(), False
        elif line.startswith("new file mode"):
            created = True
        elif name := _FILE.match(line):
            path = name[1] or ""
        elif hunk := _HUNK.match(line):
            first, count = int(hunk[1]), int(hunk[2]) if hunk[2] is not None else 1
            lines.update(range(first, first + count))
            body = count
    if path:
        found.append(ChangedLines(path, frozenset(lines), created))
    return found
