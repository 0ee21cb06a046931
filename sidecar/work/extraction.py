"""Finds JSON in a model's text: fenced, after a preface, or all of it."""

import json
import re
from collections.abc import Iterator
from typing import Any

_MAX_TRIES = 50
#: A bracket that may open an object or a list, unlike most brackets in prose.
_OPENING = re.compile(r"[{\[](?=\s*[\"{\[}\]])")


def find_values(text: str) -> Iterator[dict[str, Any] | list[Any]]:
    """The outermost JSON objects and lists in the text."""
    decoder = json.JSONDecoder()
    begins = _OPENING.search(text)
    for _ in range(_MAX_TRIES):
        if begins is None:
            return
        try:
            found, end = decoder.raw_decode(text, begins.start())
        except (ValueError, RecursionError):
            begins = _OPENING.search(text, begins.end())
            continue
        yield found
        begins = _OPENING.search(text, end)


def find_objects(text: str) -> Iterator[dict[str, Any]]:
    """The outermost JSON objects in the text, also those in a list."""
    for found in find_values(text):
        yield from (found,) if isinstance(found, dict) else (each for each in found if isinstance(each, dict))


def text_before_json(text: str) -> str:
    """The model's prose before its JSON."""
    before = text.partition("```")[0] if "```" in text else _OPENING.split(text, 1)[0]
    return before.strip()
