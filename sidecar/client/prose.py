"""The part of an agent's message that is written for people."""

import json

#: These agents answer with JSON, which `plan` and `verdict` events show.
STRUCTURED = frozenset({"planner", "reviewer"})
_JSON_ATTEMPTS = 20


def without_json(text: str) -> str:
    """The text around a JSON object; without one, the whole text."""
    decoder = json.JSONDecoder()
    start = text.find("{")
    for _ in range(_JSON_ATTEMPTS):
        if start < 0:
            break
        try:
            _, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            start = text.find("{", start + 1)
            continue
        before = text[:start].rstrip().removesuffix("```json").removesuffix("```").rstrip()
        after = text[end:].lstrip().removeprefix("```").strip()
        return "\n".join(part for part in (before, after) if part)
    return text
