"""Finds tools by words, for agents that have hundreds of them: names count most, then descriptions and arguments."""

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from sidecar.memory.tokens import count_terms, name_terms, query_terms, stem, words_of
from sidecar.wire.base import JsonObject
from sidecar.wire.tools import ToolInfo
from sidecar.work.tool_words import Phrase, names_action, same_meaning

_NAME, _SERVER, _DESCRIPTION, _ARGUMENT, _ARGUMENT_TEXT = 3.0, 2.5, 1.0, 0.4, 0.15
#: How much a word counts that only looks like the wanted one.
_SIMILAR = 0.5
#: How much more the tools of a server count that the request names.
_NAMED_SERVER = 1.3
#: How much of a meaning is left after a found tool fits it well, so that five tools of one noun don't hide another.
_LEFT, _LEAST = 0.8, 0.5
#: How much an action counts that the request only implies.
_GUESS = 0.5
_USUAL_ACTIONS = ("list", "get")
#: How much each word of a tool's name counts against it that the request doesn't say.
_UNSAID = 0.95
#: How fast repeated words stop counting, and how much long descriptions count less.
_SATURATION, _LENGTH = 1.2, 0.4
_QUESTION = frozenset({"what", "which", "who", "whose", "where"})
#: Words of a server's name that tell it from no other.
_EMPTY = frozenset({"mcp", "server"})
#: Words of a short request.
_SHORT = 5
_MAX_TERMS = 40
_CANDIDATES = 40
_SHORTEST_PART = 4
_ALIKE_LETTERS, _ALIKE_SHARE = 5, 0.7
_MAX_ARGUMENT_TEXT, _MAX_CHOICES = 300, 20
#: `PRs`, which would else be split into `P` and `Rs`.
_PLURAL = re.compile(r"\b([A-Z]{2,})s\b")


class ToolIndex:
    def __init__(self, tools: Sequence[ToolInfo]) -> None:
        self._tools = tools
        weights = [_weigh(tool) for tool in tools]
        lengths = [sum(each.values()) for each in weights]
        usual = sum(lengths) / max(1, len(lengths)) or 1.0
        #: For each term how well it fits which tools, from 0 to 1.
        self._fits: dict[str, dict[int, float]] = defaultdict(dict)
        for place, (terms, length) in enumerate(zip(weights, lengths, strict=True)):
            damping = _SATURATION * (1 - _LENGTH + _LENGTH * length / usual)
            for term, weight in terms.items():
                self._fits[term][place] = weight / (weight + damping)
        self._fits.default_factory = None
        self._servers = [_server_terms(tool) for tool in tools]
        self._names = [frozenset(name_terms(tool.name.rpartition("__")[2])) - _server_terms(tool) for tool in tools]

    def search(self, query: str, limit: int = 5) -> list[ToolInfo]:
        """The best first; none if no word fits."""
        query = _PLURAL.sub(r"\1", query[:2_000])
        terms = query_terms(query)[:_MAX_TERMS]
        short = len(terms) <= _SHORT
        # A long request brings its own synonyms, and most of its words are details.
        trust = 1.0 if short else _SHORT / len(terms)
        meanings = [(1.0, self._rate(phrase, trust)) for phrase in _phrases(terms)]
        fitting = {place for _, rated in meanings for place in rated}
        guessing = not names_action(terms) or not _QUESTION.isdisjoint(words_of(query.lower()))
        if guessing:
            meanings += [(_GUESS, self._rate((term,), trust)) for term in _USUAL_ACTIONS if term not in terms]
        preferences = self._prefer(terms, guessing=guessing)
        scores = {place: preferences[place] * _sum_up(place, meanings) for place in fitting}
        left = sorted(scores, key=lambda place: (-scores[place], place))[:_CANDIDATES]
        found: list[int] = []
        while left and len(found) < limit:
            best = max(left, key=lambda place: preferences[place] * _sum_up(place, meanings)) if short else left[0]
            left.remove(best)
            found.append(best)
            covered = max(range(len(meanings)), key=lambda each: meanings[each][1].get(best, 0.0))
            share, rated = meanings[covered]
            meanings[covered] = (max(_LEAST, share * _LEFT), rated)
        return [self._tools[place] for place in found]

    def _prefer(self, terms: Sequence[str], *, guessing: bool) -> Sequence[float]:
        """Tools of a server that the request names, and names without words that it doesn't say in some way."""
        said = {term for phrase in _phrases(terms) for each in (phrase, *same_meaning(phrase)) for term in each}
        said |= set(_USUAL_ACTIONS) if guessing else set()
        return [
            (_NAMED_SERVER if server and server.issubset(terms) else 1.0) * _UNSAID ** len(name - said)
            for server, name in zip(self._servers, self._names, strict=True)
        ]

    def _rate(self, phrase: Phrase, trust: float) -> Mapping[int, float]:
        """How well tools fit one meaning, by the best of the words for it; `trust` in words that aren't its own."""
        # A rare word for a common thing is no rarer than the thing.
        usual = min(len(self._fits.get(term, ())) for term in phrase)
        rated: dict[int, float] = {}
        for share, terms in self._alternatives(phrase, trust):
            columns = [self._fits[term] for term in terms]
            rarities = [math.log(1 + len(self._tools) / max(usual, len(column))) for column in columns]
            for place in columns[0]:
                if all(place in column for column in columns):
                    fit = sum(rarity * column[place] for rarity, column in zip(rarities, columns, strict=True))
                    rated[place] = max(rated.get(place, 0.0), share * fit)
        return rated

    def _alternatives(self, phrase: Phrase, trust: float) -> list[tuple[float, Phrase]]:
        """The phrase and those that may replace it, as far as tools have them; else words that look like it."""
        known = {each: share * trust for each, share in same_meaning(phrase).items()} | {phrase: 1.0}
        usable = [(share, each) for each, share in known.items() if all(term in self._fits for term in each)]
        if not usable and len(phrase) == 1:
            usable = [(_SIMILAR, (term,)) for term in self._similar(phrase[0])]
        return usable

    def _similar(self, word: str) -> Iterator[str]:
        """Terms within the word or around it, and those that begin alike: `mail`, `email`; `subscripton`."""
        if len(word) >= _SHORTEST_PART:
            for term in self._fits:
                part = (len(term) >= _SHORTEST_PART and term in word) or word in term
                if part or _begin_alike(word, term):
                    yield term


def _sum_up(place: int, meanings: Sequence[tuple[float, Mapping[int, float]]]) -> float:
    return sum(share * rated.get(place, 0.0) for share, rated in meanings)


def _begin_alike(one: str, other: str) -> bool:
    most = max(len(one), len(other))
    wanted = max(_ALIKE_LETTERS, math.ceil(_ALIKE_SHARE * most))
    return one[:wanted] == other[:wanted]


def _phrases(terms: Sequence[str]) -> Iterator[Phrase]:
    """The terms of a request, and known phrases in it."""
    yield from ((term,) for term in terms)
    yield from (pair for pair in pairwise(terms) if same_meaning(pair))


def _server_terms(tool: ToolInfo) -> frozenset[str]:
    server, separator, _ = tool.name.partition("__")
    return frozenset(stem(word) for word in words_of(server.lower().replace("_", " ")) if separator) - _EMPTY


def _weigh(tool: ToolInfo) -> Mapping[str, float]:
    server, separator, name = tool.name.partition("__")
    weights: dict[str, float] = defaultdict(float)
    parts = ((_SERVER, server if separator else ""), (_NAME, name if separator else tool.name))
    for weight, text in parts:
        for term in name_terms(text):
            weights[term] += weight
    for term, count in count_terms(tool.description).items():
        weights[term] += _DESCRIPTION * min(count, 3)
    for weight, text in _arguments(tool.parameters):
        for term in count_terms(text):
            weights[term] += weight
    return weights


def _arguments(schema: JsonObject) -> Iterator[tuple[float, str]]:
    """Names of arguments, and what is written about them."""
    properties = schema.get("properties")
    for name, field in properties.items() if isinstance(properties, dict) else ():
        yield _ARGUMENT, name
        if isinstance(field, dict):
            about, choices = field.get("description"), field.get("enum")
            yield _ARGUMENT_TEXT, about[:_MAX_ARGUMENT_TEXT] if isinstance(about, str) else ""
            yield _ARGUMENT_TEXT, " ".join(map(str, choices[:_MAX_CHOICES])) if isinstance(choices, list) else ""
