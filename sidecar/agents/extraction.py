"""Finds the JSON in what a model said: between fences, after a preface, or the whole of it."""

import json
from collections.abc import Iterator
from typing import Any

_TRIES = 50


def objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects in a text, those inside of another one left out."""
    decoder = json.JSONDecoder()
    place = text.find("{")
    for _ in range(_TRIES):
        if place < 0:
            return
        try:
            found, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            place = text.find("{", place + 1)
            continue
        if isinstance(found, dict):
            yield found
        place = text.find("{", end)


def words_around(text: str) -> str:
    """What a model said beside its JSON."""
    before = text.partition("```")[0] if "```" in text else text.partition("{")[0]
    return before.strip()
