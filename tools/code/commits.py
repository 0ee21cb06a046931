"""Commits as they are told: what each says, without its prefix, in groups that a reader of a changelog knows."""

import re
from collections.abc import Sequence
from typing import NamedTuple

_CONVENTIONAL = re.compile(r"^(?P<kind>[a-z]+)(?:\([^)]*\))?(?P<breaking>!)?: (?P<rest>.+)$")
_KINDS = {
    "feat": "Added",
    "fix": "Fixed",
    "perf": "Changed",
    "refactor": "Changed",
    "change": "Changed",
    "docs": "Documentation",
    "test": "Tests",
    "build": "Build",
    "ci": "Build",
    "chore": "Other",
    "style": "Other",
    "revert": "Removed",
}
_WORDS = (
    ("Added", r"add|adds|added|new|introduce|implement|create|support|allow"),
    ("Fixed", r"fix|fixes|fixed|correct|repair|resolve|bugfix|prevent|handle"),
    ("Removed", r"remove|removes|removed|delete|drop|revert"),
    ("Changed", r"change|update|improve|refactor|rename|move|make|use|replace|bump|upgrade|simplify|rework|clean"),
    ("Documentation", r"docs?|document|readme|changelog"),
    ("Tests", r"tests?"),
)
_ORDER = ("Breaking", "Added", "Changed", "Fixed", "Removed", "Documentation", "Tests", "Build", "Other")


class Commit(NamedTuple):
    hash: str
    subject: str

    @property
    def plain(self) -> str:
        """The subject without its conventional prefix, as a sentence begins."""
        found = _CONVENTIONAL.match(self.subject)
        text = found["rest"] if found and found["kind"] in _KINDS else self.subject
        return text[:1].upper() + text[1:]

    @property
    def group(self) -> str:
        found = _CONVENTIONAL.match(self.subject)
        if found and found["kind"] in _KINDS:
            return "Breaking" if found["breaking"] else _KINDS[found["kind"]]
        first = re.match(r"[A-Za-z]+", self.subject)
        word = first[0] if first else ""
        return next((name for name, words in _WORDS if re.fullmatch(words, word, re.IGNORECASE)), "Other")


def read_commits(text: str) -> list[Commit]:
    """From lines of a hash, a tab, and a subject."""
    return [Commit(*line.split("\t", 1)) for line in text.splitlines() if "\t" in line]


def grouped(commits: Sequence[Commit]) -> dict[str, list[Commit]]:
    """By kind; merges say nothing that their commits do not say."""
    found: dict[str, list[Commit]] = {}
    for commit in commits:
        if not commit.subject.startswith("Merge "):
            found.setdefault(commit.group, []).append(commit)
    return {name: found[name] for name in _ORDER if name in found}
