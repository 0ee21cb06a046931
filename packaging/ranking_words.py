"""How much each word of a question says about the code that it asks for: "fix" nothing, "symlink" nearly all.

A word says something if the code that was asked for holds it more often than any other code does. How rare a word is in
the code tells less: "regression" is rare there, and never where the regression was.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from learn_names import first_sentence
from ranking_questions import MOST_FILES, is_source, read_commits, subject_of

from sidecar.memory.chunks import Chunk, cut
from sidecar.memory.tokens import count_terms, name_terms, query_terms
from sidecar.memory.word_weights import UNKNOWN
from tools.code.source import SourceText

COMMITS = 4_000
MAX_BYTES = 400_000
FUNCTIONS = 10_000
#: Rarer words, and those of fewer repositories, are accidents.
FEWEST = 8
REPOSITORIES = 3
#: So many imagined questions say that a word is worth what an unknown one is.
PRIOR = 5.0
LEAST = 0.02


class Count(NamedTuple):
    """Of the questions with a word: how many, how many whose answer holds it, and how many would by chance."""

    asked: float = 0.0
    held: float = 0.0
    expected: float = 0.0


Counts = dict[str, Count]


def count_changes(repository: Path, root: Path) -> Counts:
    """From every commit of the repository, and its files as they are in `root`."""
    terms: dict[str, frozenset[str]] = {}
    pairs = []
    for commit in read_commits(repository, COMMITS):
        files = [path for _, path in commit.changes if is_source(path)]
        if 1 <= len(files) <= MOST_FILES and (text := subject_of(commit)):
            for path in files:
                terms.setdefault(path, _terms_of_file(root, path))
            pairs += [(text, terms[path], 1 / len(files)) for path in files if terms[path]]
    return _count(pairs, [held for _, held, _ in pairs])


def count_descriptions(root: Path) -> Counts:
    """From every documented function, without its documentation."""
    pairs: list[tuple[str, frozenset[str], float]] = []
    functions: list[frozenset[str]] = []
    for file in sorted(root.rglob("*")):
        path = file.relative_to(root).as_posix()
        if not is_source(path) or not file.is_file() or file.is_symlink() or len(functions) >= FUNCTIONS:
            continue
        for chunk in cut(SourceText(path, file.read_bytes())).chunks:
            if chunk.kind in ("function", "method"):
                functions.append(held := _terms_of_function(chunk))
                if chunk.doc and len(text := first_sentence(chunk.doc)) > 1:
                    pairs.append((text.replace(chunk.symbol.rpartition(".")[2], " "), held, 1.0))
    return _count(pairs, functions)


def _terms_of_file(root: Path, path: str) -> frozenset[str]:
    file = root / path
    if not file.is_file() or file.is_symlink() or file.stat().st_size > MAX_BYTES:
        return frozenset()
    return frozenset(count_terms(file.read_text(encoding="utf-8", errors="replace"))) | frozenset(name_terms(path))


def _terms_of_function(chunk: Chunk) -> frozenset[str]:
    return frozenset(count_terms(chunk.text.replace(chunk.doc, " ") if chunk.doc else chunk.text)) | frozenset(
        name_terms(chunk.symbol)
    )


def _count(pairs: Iterable[tuple[str, Collection[str], float]], every: Sequence[Collection[str]]) -> Counts:
    usual = Counter(term for held in every for term in held)
    found: defaultdict[str, Count] = defaultdict(Count)
    for text, held, weight in pairs:
        for term in query_terms(text):
            if usual[term]:
                asked, right, expected = found[term]
                chance = usual[term] / len(every)
                found[term] = Count(asked + weight, right + weight * (term in held), expected + weight * chance)
    return dict(found)


def shares(repositories: Sequence[Counts]) -> dict[str, float]:
    """For each word the share of its rarity that counts, from 0 to 1."""
    total: dict[str, list[Count]] = {}
    for counts in repositories:
        for term, count in counts.items():
            total.setdefault(term, []).append(count)
    found = {}
    for term, each in total.items():
        asked, held, expected = (sum(column) for column in zip(*each, strict=True))
        if asked >= FEWEST and len(each) >= REPOSITORIES:
            chance = min(max(expected / asked, 1e-4), 0.995)
            held, expected = held + PRIOR * chance ** (1 - UNKNOWN), expected + PRIOR * chance
            share = math.log(max(held / expected, 1.001)) / math.log((asked + PRIOR) / expected)
            found[term] = min(max(share, LEAST), 1.0)
    return found


def write(path: Path, changes: Mapping[str, float], descriptions: Mapping[str, float]) -> None:
    lines = [
        "# packaging/learn_ranking.py: a word, and its shares in percent in a wish for a change and in a description"
    ]
    for term in sorted(changes.keys() | descriptions.keys()):
        row = (str(round(100 * table[term])) if term in table else "-" for table in (changes, descriptions))
        lines.append(" ".join((term, *row)))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
