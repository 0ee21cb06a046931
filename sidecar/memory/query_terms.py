"""A question: its terms, each with its postings and its weight in one index."""

import math
import sqlite3
from dataclasses import dataclass

from sidecar.memory.postings import NAME, NONE, Postings, read_postings
from sidecar.memory.store import get_meta
from sidecar.memory.synonyms import related
from sidecar.memory.tokens import STOP_WORDS, WORD, joined, parts_of, query_terms, stem, terms_of, word_parts
from sidecar.memory.translations import translations
from sidecar.memory.wishes import wish
from sidecar.memory.word_weights import share_of

_MAX_TERMS = 24
_MAX_RELATED = 14
_MAX_LEARNED = 9
_MAX_PHRASES = 36
_MAX_WORDS = 40
#: The rarest terms with so many postings together propose candidates; all terms weigh them.
_MAX_POSTINGS = 12_000
#: Terms that weigh less than this share of the heaviest one propose nothing.
_LEAST_SHARE = 0.1


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
    """A word that may replace one of the question's."""

    text: str
    weight: float
    postings: Postings
    names: Postings


class QueryTerms:
    """A question's terms with their weights in one index."""

    def __init__(self, store: sqlite3.Connection, query: str) -> None:
        words = WORD.findall(query)
        #: How likely the question is a wish for a change, from 0 to 1.
        self.wish = wish(query)
        #: For each term, the word of the question that it comes from, or the part of that word.
        self.words: dict[str, str] = {}
        for word in words:
            terms = terms_of(word)
            parts = {stem(part): part for part in word_parts(word)} if len(terms) > 1 else {}
            for text in terms:
                self.words.setdefault(text, parts.get(text, word))
        asked = query_terms(query)[:_MAX_TERMS]
        others = _related(asked)
        phrases = [phrase for phrase in _phrases(words) if phrase not in asked]
        named = [NAME + text for text in (*asked, *others)]
        chunks, commits = read_postings(store, [*asked, *others, *phrases, *named])
        self.chunks = max(int(get_meta(store, "chunk_count") or 0), 1)
        self.commits = max(int(get_meta(store, "commits") or 0), 1)
        self.terms = [self._term(text, chunks.get(text, NONE), commits.get(text, NONE)) for text in asked]
        self.names = {text: chunks[NAME + text] for text in asked if NAME + text in chunks}
        self.known = [term for term in self.terms if term.postings.ids]
        self.asked = frozenset(asked)
        #: Adjacent words, as one identifier of the code.
        self.phrases = [self._term(text, chunks[text], commits.get(text, NONE)) for text in phrases if text in chunks]
        self.total = sum(term.weight for term in self.known) or 1.0
        self.weights = {term.text: term.weight for term in self.known}
        weights = {term.text: term.weight for term in self.terms}
        self.related = [
            RelatedTerm(other, share * weights[of], chunks.get(other, NONE), chunks.get(NAME + other, NONE))
            for other, (of, share) in others.items()
            if other in chunks
        ]
        #: Identifiers as written in the question, such as `parse_args` or `useTemplateRef`.
        self.identifiers = frozenset(joined(word) for word in words if len(terms_of(word)) > 1)
        self.verb = stem(words[0].lower()) if words else ""
        self.evidence = translations().evidence(part for word in words[:_MAX_WORDS] for part in parts_of(word))

    def _term(self, text: str, postings: Postings, commits: Postings) -> Term:
        share = share_of(text, self.wish)
        weight, commit_weight = _idf(len(postings.ids), self.chunks), _idf(len(commits.ids), self.commits)
        return Term(text, postings, commits, share * weight, share * commit_weight)

    def selective(self) -> list[Term]:
        """The rarest terms that say something, at least one."""
        found: list[Term] = []
        rows = 0
        least = _LEAST_SHARE * max((each.weight for each in self.known), default=0.0)
        likely = [each for each in self.known if each.weight >= least]
        for term in sorted(likely, key=lambda each: len(each.postings.ids)):
            rows += len(term.postings.ids)
            if rows > _MAX_POSTINGS and found:
                break
            found.append(term)
        return found


def _phrases(words: list[str]) -> list[str]:
    found: dict[str, None] = {}
    plain = [word.lower() for word in words]
    for length in (2, 3):
        for start in range(len(plain) - length + 1):
            part = plain[start : start + length]
            if STOP_WORDS.isdisjoint(part):
                whole = "".join(part)
                found[joined(whole)] = found[stem(whole)] = None
                if whole.endswith("s"):
                    found[joined(whole[:-1])] = None
    return list(found)[:_MAX_PHRASES]


def _related(asked: list[str]) -> dict[str, tuple[str, float]]:
    """Other words for the question's, each with the term it replaces and a share of its weight."""
    table = translations()
    learned = [(other, word, share) for word in asked for other, share in table.related(word)]
    written = [(other, word, share) for word in asked for other, share in related(word)]
    learned.sort(key=lambda each: -each[2])
    found: dict[str, tuple[str, float]] = {}
    for other, text, share in (*learned[:_MAX_LEARNED], *written):
        if other not in asked:
            found.setdefault(other, (text, share))
    return dict(list(found.items())[:_MAX_RELATED])


def _idf(documents: int, of: int) -> float:
    return math.log(1 + (of - documents + 0.5) / (documents + 0.5)) if documents <= of else 0.1
