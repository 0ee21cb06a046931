"""Finds the JSON in what a model said: between fences, after a preface, or the whole of it."""

import json
import re
from collections.abc import Iterator
from typing import Any

_TRIES = 50
#: Where an object or a list may begin: not every bracket in prose, but one before what can stand in them.
_OPENING = re.compile(r"[{\[](?=\s*[\"{\[}\]])")


def values(text: str) -> Iterator[dict[str, Any] | list[Any]]:
    """The JSON objects and lists in a text, those inside of another one left out."""
    decoder = json.JSONDecoder()
    begins = _OPENING.search(text)
    for _ in range(_TRIES):
        if begins is None:
            return
        try:
            found, end = decoder.raw_decode(text, begins.start())
        except (ValueError, RecursionError):
            begins = _OPENING.search(text, begins.end())
            continue
        yield found
        begins = _OPENING.search(text, end)


def objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects in a text, also those in a list, but not those inside of another one."""
    for found in values(text):
        yield from (found,) if isinstance(found, dict) else (each for each in found if isinstance(each, dict))


def words_around(text: str) -> str:
    """What a model said beside its JSON."""
    before = text.partition("```")[0] if "```" in text else _OPENING.split(text, 1)[0]
    return before.strip()
