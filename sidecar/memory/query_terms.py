"""A question: its terms, each with its weight in one index."""

import math
import sqlite3
from dataclasses import dataclass
from zlib import crc32

from sidecar.memory.store import get_meta
from sidecar.memory.synonyms import related
from sidecar.memory.tokens import WORD, joined, query_terms, stem, terms_of

_MAX_TERMS = 24
#: The full-text tables look at so many rows for a question at most: the rarest terms come first.
_MAX_ROWS = 10_000


@dataclass(slots=True)
class Term:
    text: str
    #: Hashes as in a file's and in a chunk's packed terms.
    key: int
    short: int
    #: Inverse document frequency among chunks, files and commits.
    chunk: float
    file: float
    commit: float


class QueryTerms:
    """A question's terms with their weights in one index."""

    def __init__(self, store: sqlite3.Connection, query: str) -> None:
        #: For each term, the word of the question that it comes from.
        self.words: dict[str, str] = {}
        for word in WORD.findall(query):
            for text in terms_of(word):
                self.words.setdefault(text, word)
        counts = {name: int(get_meta(store, name) or 0) for name in ("chunk_count", "file_count", "commits")}
        self.chunks, self.files = max(counts["chunk_count"], 1), max(counts["file_count"], 1)
        words = query_terms(query)[:_MAX_TERMS]
        chunks, files, commits = (_frequencies(store, table, words) for table in ("chunk", "file", "commit"))
        self.frequency = {word: chunks.get(word, 0) for word in words}
        self.terms = [
            Term(
                word,
                crc32(word.encode()),
                crc32(word.encode()) & 0xFFFF,
                _idf(chunks.get(word, 0), self.chunks),
                _idf(files.get(word, 0), self.files),
                _idf(commits.get(word, 0), max(counts["commits"], 1)),
            )
            for word in words
        ]
        self.known = [term for term in self.terms if self.frequency[term.text]]
        self.asked = frozenset(words)
        self.total = sum(term.chunk for term in self.known) or 1.0
        self.file_total = sum(term.file for term in self.known) or 1.0
        #: Identifiers as they stand in the question, such as `parse_args` or `useTemplateRef`.
        self.identifiers = frozenset(joined(word) for word in WORD.findall(query) if len(terms_of(word)) > 1)
        first = next((word for word in WORD.findall(query)), "")
        self.verb = stem(first.lower())
        self.related: dict[int, tuple[str, float]] = {}
        for term in self.terms:
            for other, weight in related(term.text):
                key = crc32(other.encode()) & 0xFFFF
                if all(key != each.short for each in self.terms):
                    weight *= term.chunk
                    if weight > self.related.get(key, ("", 0.0))[1]:
                        self.related[key] = (other, weight)

    def selective(self) -> list[str]:
        """The terms worth asking the full-text tables for."""
        found: list[str] = []
        rows = 0
        for term in sorted(self.known, key=lambda each: self.frequency[each.text]):
            rows += self.frequency[term.text]
            if rows > _MAX_ROWS and found:
                break
            found.append(term.text)
        return found


def _frequencies(store: sqlite3.Connection, table: str, words: list[str]) -> dict[str, int]:
    """In how many rows of a full-text table each word occurs."""
    marks = ",".join("?" * len(words))
    return dict(store.execute(f"SELECT term, doc FROM {table}_terms WHERE term IN ({marks})", words))  # noqa: S608


def _idf(documents: int, of: int) -> float:
    return math.log(1 + (of - documents + 0.5) / (documents + 0.5)) if documents <= of else 0.1
