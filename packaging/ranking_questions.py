"""Questions with known answers, from the history and the documentation of a Git repository.

The subject of a commit asks for the files that it changed, and the first sentence of a function's documentation asks
for that function. The workspaces for asking them hold neither that commit nor that documentation.
"""

import random
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from learn_names import first_sentence

from sidecar.memory.chunks import Chunk, cut
from sidecar.memory.indexer import wanted
from tools.code.languages import SUFFIXES
from tools.code.source import SourceText
from tools.test_files import is_test

#: Commits after the one whose tree is asked; at most half of the history.
LATER = 600
GENERATIONS = 500
MOST_FILES = 5
MOST_CHANGED_FILES = 30
FEWEST_WORDS = 4
MOST_WORDS = 30
#: A file may differ by this share of its lines from what it was when the commit changed it.
MOST_DIFFERENCE = 0.05
FEWEST_LINES = 3
FUNCTIONS_OF_FILE = 2
CHANGES = 90
DESCRIPTIONS = 60
SEED = 7
_PREFIX = re.compile(r"^\w+(?:\([^)]*\))?!?:\s*|\s*\(?#\d+\)?")
#: Commits that change files for reasons that no file tells.
_CHORES = re.compile(
    r"\b(?:bump|release|changelog|typos?|lint|merge|revert|version|deps|dependenc|pre-commit|docstring|mypy|ruff)", re.I
)
_NOTES = re.compile(r"@|http|^(?:NOTE|Warning|TODO|XXX|-)|nolint", re.I)


class Question(NamedTuple):
    text: str
    #: The files that a change is about, or the file of the described function.
    files: frozenset[str]
    #: The described function and its first line; empty for a change.
    symbol: str = ""
    line: int = 0


class Commit(NamedTuple):
    id: str
    subject: str
    #: Status and path of each changed file.
    changes: tuple[tuple[str, str], ...]


def git(repository: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=repository, check=True, capture_output=True, text=True, errors="replace")
    return done.stdout


def is_source(path: str) -> bool:
    """Whether a question may ask for this file: the product's own code."""
    return Path(path).suffix in SUFFIXES and wanted(path) and not is_test(path)


def subject_of(commit: Commit) -> str:
    """The subject without its scope and numbers; empty if it says too little."""
    text = _PREFIX.sub("", commit.subject).strip(" .")
    return "" if len(text.split()) < FEWEST_WORDS or _CHORES.search(text) else text


def read_commits(repository: Path, count: int) -> list[Commit]:
    log = git(repository, "log", "--first-parent", "--no-merges", "--no-renames", "--name-status", f"-{count}",
              "--format=%x01%H%x02%s")  # fmt: skip
    found = []
    for record in log.split("\x01")[1:]:
        head, _, names = record.partition("\n")
        key, _, subject = head.partition("\x02")
        rows = [line.split("\t") for line in names.split("\n")]
        found.append(Commit(key, subject, tuple((row[0], row[1]) for row in rows if len(row) == 2)))
    return found


def prepare(repository: Path, work: Path) -> tuple[list[Question], list[Question]]:
    """Make `work/plain` and `work/nodoc`; the questions about changes and about functions to ask there."""
    plain, nodoc = work / "plain", work / "nodoc"
    commits = read_commits(repository, 2 * LATER)
    later = min(LATER, len(commits) // 2)
    base = commits[later].id
    plain.mkdir(parents=True)
    git(plain, "init", "-q")
    git(plain, "fetch", "-q", f"--depth={GENERATIONS}", str(repository.resolve()), base)
    git(plain, "checkout", "-q", "FETCH_HEAD")
    shutil.copytree(plain, nodoc, symlinks=True, ignore=lambda folder, _: {".git"} if folder == str(plain) else set())
    chance = random.Random(SEED)
    changes = list(_changes(repository, base, commits[:later]))
    descriptions = list(describe(nodoc))
    chance.shuffle(changes)
    chance.shuffle(descriptions)
    chosen = _spread(descriptions)[:DESCRIPTIONS]
    _blank(nodoc, chosen)
    return changes[:CHANGES], [question for question, _ in chosen]


def _changes(repository: Path, base: str, commits: Sequence[Commit]) -> Iterator[Question]:
    """Commits whose files were at that time nearly what they are at the base."""
    tree = {line.split("\t")[1]: line.split()[2] for line in git(repository, "ls-tree", "-r", base).splitlines()}
    for commit in commits:
        changed = [(status, path) for status, path in commit.changes if is_source(path)]
        files = [path for _, path in changed]
        text = subject_of(commit)
        few = 1 <= len(files) <= MOST_FILES and len(commit.changes) <= MOST_CHANGED_FILES
        if not text or not few or any(status != "M" or path not in tree for status, path in changed):
            continue
        if not _names_one(text, files) and all(_alike(repository, base, f"{commit.id}^", path) for path in files):
            yield Question(text, frozenset(files))


def _names_one(text: str, files: Sequence[str]) -> bool:
    """A question that names its file is no question."""
    words = {re.sub(r"[-_]", "", word).lower() for word in re.findall(r"[\w-]+", text)}
    return any(re.sub(r"[-_]", "", Path(path).name.partition(".")[0]).lower() in words for path in files)


def _alike(repository: Path, base: str, before: str, path: str) -> bool:
    counts = git(repository, "diff", "--numstat", base, before, "--", path).split()
    if not counts:
        return True
    lines = git(repository, "show", f"{base}:{path}").count("\n") or 1
    return counts[0].isdecimal() and (int(counts[0]) + int(counts[1])) / 2 <= MOST_DIFFERENCE * lines


Described = tuple[Question, range]


def describe(root: Path) -> Iterator[Described]:
    """Each documented function that its first sentence alone tells from others, and the lines of its documentation."""
    found: dict[str, list[Described]] = {}
    for file in sorted(each for each in root.rglob("*") if each.suffix in SUFFIXES and each.is_file()):
        path = file.relative_to(root).as_posix()
        source = SourceText(path, file.read_bytes()) if is_source(path) and not file.is_symlink() else None
        for chunk in cut(source).chunks if source is not None else ():
            if chunk.kind in ("function", "method") and chunk.end_line - chunk.line >= FEWEST_LINES:
                lines = source.text.decode("utf-8", "replace").split("\n") if source is not None else []
                text, documented = _description(chunk), _documented(chunk, lines)
                if text and documented:
                    question = Question(text, frozenset((path,)), chunk.symbol, chunk.line)
                    found.setdefault(text, []).append((question, documented))
    return (same[0] for same in found.values() if len(same) == 1)


def _description(chunk: Chunk) -> str:
    name = chunk.symbol.rpartition(".")[2]
    text = first_sentence(chunk.doc).rstrip(".").removeprefix(name).strip()
    known = re.search(rf"\b{re.escape(name)}\b", text, re.I) or _NOTES.search(text)
    return "" if known or not FEWEST_WORDS <= len(text.split()) <= MOST_WORDS else text


def _documented(chunk: Chunk, lines: Sequence[str]) -> range:
    """The lines of the documentation, above the function or first in it; empty if they aren't found."""
    first = chunk.doc.split("\n", 1)[0].strip()
    count = chunk.doc.count("\n") + 1
    for start in (chunk.line - count, *range(chunk.line + 1, min(chunk.line + 16, chunk.end_line))):
        if first and start > 0 and lines[start - 1].strip().startswith(first[:40]):
            return range(start, start + count)
    return range(0)


def _spread(described: Sequence[Described]) -> list[Described]:
    counts: dict[frozenset[str], int] = {}
    found = []
    for each in described:
        counts[each[0].files] = counts.get(each[0].files, 0) + 1
        if counts[each[0].files] <= FUNCTIONS_OF_FILE:
            found.append(each)
    return found


def _blank(root: Path, described: Sequence[Described]) -> None:
    """Remove the documentation; line numbers stay."""
    for question, documented in described:
        for path in question.files:
            lines = (root / path).read_bytes().split(b"\n")
            lines[documented.start - 1 : documented.stop - 1] = [b""] * len(documented)
            (root / path).write_bytes(b"\n".join(lines))
