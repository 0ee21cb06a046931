"""Finds tools by words, for agents that have hundreds of them: names count most, then descriptions and arguments."""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

from sidecar.memory.synonyms import related
from sidecar.memory.tokens import count_terms, name_terms, query_terms
from sidecar.wire.tools import ToolInfo

_NAME, _SERVER, _DESCRIPTION, _ARGUMENT = 3.0, 2.5, 1.0, 0.4
_SYNONYM = 0.8
#: How fast repeated words stop counting, and how much long descriptions count less.
_SATURATION, _LENGTH = 1.2, 0.4
_MAX_TERMS = 40


class ToolIndex:
    def __init__(self, tools: Sequence[ToolInfo]) -> None:
        self._tools = tools
        self._weights = [_weigh(tool) for tool in tools]
        self._lengths = [sum(each.values()) for each in self._weights]
        self._usual = sum(self._lengths) / len(self._lengths) if tools else 1.0
        self._spread = Counter(term for each in self._weights for term in each)

    def search(self, query: str, limit: int = 5) -> list[ToolInfo]:
        """The best first; none if no word fits."""
        wanted: dict[str, float] = {}
        for term in query_terms(query[:2_000])[:_MAX_TERMS]:
            wanted[term] = 1.0
            for other, weight in related(term):
                wanted[other] = max(wanted.get(other, 0.0), weight * _SYNONYM)
        rated = [(self._rate(place, wanted), -place) for place in range(len(self._tools))]
        best = sorted((each for each in rated if each[0] > 0), reverse=True)[:limit]
        return [self._tools[-place] for _, place in best]

    def _rate(self, place: int, wanted: dict[str, float]) -> float:
        weights = self._weights[place]
        long = 1 - _LENGTH + _LENGTH * self._lengths[place] / self._usual
        total = 0.0
        for term, share in wanted.items():
            if found := weights.get(term):
                rarity = math.log(1 + len(self._tools) / self._spread[term])
                total += share * rarity * found / (found + _SATURATION * long)
        return total


def _weigh(tool: ToolInfo) -> dict[str, float]:
    server, separator, name = tool.name.partition("__")
    weights: dict[str, float] = defaultdict(float)
    parts = ((_SERVER, server if separator else ""), (_NAME, name if separator else tool.name))
    for weight, text in parts:
        for term in name_terms(text):
            weights[term] += weight
    for term, count in count_terms(tool.description).items():
        weights[term] += _DESCRIPTION * min(count, 3)
    properties = tool.parameters.get("properties")
    for argument in properties if isinstance(properties, dict) else ():
        for term in name_terms(argument):
            weights[term] += _ARGUMENT
    return weights
