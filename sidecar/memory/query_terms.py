"""A question: its terms, each with its postings and its weight in one index."""

import math
import sqlite3
from dataclasses import dataclass

from sidecar.memory.postings import NAME, NONE, Postings, read_postings
from sidecar.memory.store import get_meta
from sidecar.memory.synonyms import related
from sidecar.memory.tokens import WORD, joined, query_terms, stem, terms_of

_MAX_TERMS = 24
_MAX_RELATED = 14
#: The rarest terms with so many postings together propose candidates; all terms weigh them.
_MAX_POSTINGS = 12_000


@dataclass(slots=True)
class Term:
    text: str
    postings: Postings
    commits: Postings
    #: Inverse document frequency among chunks and among commits.
    weight: float
    commit_weight: float


@dataclass(slots=True)
class RelatedTerm:
    """A word that may stand for one of the question's."""

    text: str
    weight: float
    postings: Postings
    names: Postings


class QueryTerms:
    """A question's terms with their weights in one index."""

    def __init__(self, store: sqlite3.Connection, query: str) -> None:
        words = WORD.findall(query)
        #: For each term, the word of the question that it comes from.
        self.words: dict[str, str] = {}
        for word in words:
            for text in terms_of(word):
                self.words.setdefault(text, word)
        asked = query_terms(query)[:_MAX_TERMS]
        others = _related(asked)
        chunks, commits = read_postings(
            store, [*asked, *others, *(NAME + other for other in others), *(NAME + text for text in asked)]
        )
        self.chunks = max(int(get_meta(store, "chunk_count") or 0), 1)
        self.commits = max(int(get_meta(store, "commits") or 0), 1)
        self.terms = [self._term(text, chunks.get(text, NONE), commits.get(text, NONE)) for text in asked]
        self.names = {text: chunks[NAME + text] for text in asked if NAME + text in chunks}
        self.known = [term for term in self.terms if term.postings.ids]
        self.asked = frozenset(asked)
        self.total = sum(term.weight for term in self.known) or 1.0
        weights = {term.text: term.weight for term in self.terms}
        self.related = [
            RelatedTerm(other, share * weights[of], chunks.get(other, NONE), chunks.get(NAME + other, NONE))
            for other, (of, share) in others.items()
            if other in chunks
        ]
        #: Identifiers as they stand in the question, such as `parse_args` or `useTemplateRef`.
        self.identifiers = frozenset(joined(word) for word in words if len(terms_of(word)) > 1)
        self.verb = stem(words[0].lower()) if words else ""

    def _term(self, text: str, postings: Postings, commits: Postings) -> Term:
        return Term(text, postings, commits, _idf(len(postings.ids), self.chunks), _idf(len(commits.ids), self.commits))

    def selective(self) -> list[Term]:
        """The rarest terms, at least one."""
        found: list[Term] = []
        rows = 0
        for term in sorted(self.known, key=lambda each: len(each.postings.ids)):
            rows += len(term.postings.ids)
            if rows > _MAX_POSTINGS and found:
                break
            found.append(term)
        return found


def _related(asked: list[str]) -> dict[str, tuple[str, float]]:
    """Other words for the question's, each with the term it stands for and a share of its weight."""
    found: dict[str, tuple[str, float]] = {}
    for text in asked:
        for other, share in related(text):
            if other not in asked:
                found.setdefault(other, (text, share))
    return dict(list(found.items())[:_MAX_RELATED])


def _idf(documents: int, of: int) -> float:
    return math.log(1 + (of - documents + 0.5) / (documents + 0.5)) if documents <= of else 0.1
