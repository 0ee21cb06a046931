"""Tells a wish for a change ("Fix the crash when …") from a description of code ("Returns the path of a …").

Learned from subjects of commits and first sentences of documentation: it is right for six of seven.
"""

import math
import re
from functools import cache

_WORD = re.compile(r"[A-Za-z']+")
#: Words with their weights: as the first of a question, and anywhere in it.
_FIRST_WORDS = """
fix 1.5, use 1.0, skip 0.6, add 0.5, allow 0.5, make 0.5, remove 0.5, improve 0.4, check -0.4, get -0.4
returns -0.7
"""
_ANY_WORDS = """
fix 1.7, when 1.2, add 1.0, error 0.9, no 0.8, warning 0.8, don't 0.7, in 0.7, support 0.7, use 0.7, make 0.6
allow 0.5, handle 0.5, on 0.5, remove 0.5, improve 0.4, non 0.3, not 0.3, skip 0.3, update 0.3, based -0.3
called -0.3, can -0.3, check -0.3, get -0.3, it -0.3, of -0.3, to -0.3, are -0.4, function -0.4, we -0.4
whether -0.4, but -0.5, if -0.5, is -0.5, like -0.5, that -0.5, all -0.7, by -0.7, any -0.8, be -0.8, into -0.8
new -0.8, returns -0.8, an -0.9, and -0.9, given -0.9, or -1.0, return -1.1, this -1.2, a -1.9, the -2.0
"""
_BASE = 0.4
_SHORT, _LONG = 0.8, -0.4
_SHORT_WORDS = 12


@cache
def _weights(table: str) -> dict[str, float]:
    pairs = (entry.split() for entry in table.replace("\n", ",").split(",") if entry.strip())
    return {word: float(weight) for word, weight in pairs}


def wish(question: str) -> float:
    """How likely it asks for a change, from 0 to 1."""
    words = _WORD.findall(question.lower())
    score = _BASE + (_SHORT if len(words) <= _SHORT_WORDS else _LONG)
    score += _weights(_FIRST_WORDS).get(words[0], 0.0) if words else 0.0
    score += sum(_weights(_ANY_WORDS).get(word, 0.0) for word in dict.fromkeys(words))
    return 1 / (1 + math.exp(-score))
