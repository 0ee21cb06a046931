"""Texts cut to size: for the model, for an event, for a person."""

import re

from pydantic import JsonValue

from sidecar.wire.base import JsonObject

#: What a model reads of one result, in characters.
CONTENT = 60_000
_SHOWN_STRING = 4_000
_SHOWN_ITEMS = 100
_DEPTH = 64


def clip(text: str, limit: int = CONTENT) -> str:
    """Head and tail, with a word about what is left out between them."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n… {len(text) - 2 * half} characters left out; ask for a smaller part …\n{text[-half:]}"


def display_arguments(args: JsonObject) -> JsonObject:
    """Arguments as an event shows them: a large content is named by its length, not repeated."""
    return {name: _shown(value, 0) for name, value in list(args.items())[:_SHOWN_ITEMS]}


def _shown(value: JsonValue, depth: int) -> JsonValue:
    if isinstance(value, str):
        if len(value) > _SHOWN_STRING:
            return f"{value[:_SHOWN_STRING]}… ({len(value)} characters)"
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_shown(item, depth + 1) for item in value[:_SHOWN_ITEMS]] if depth < 8 else "…"
    if isinstance(value, dict):
        return (
            {key[:200]: _shown(item, depth + 1) for key, item in list(value.items())[:_SHOWN_ITEMS]}
            if depth < 8
            else "…"
        )
    return value


def estimate_size(value: JsonValue, limit: int, depth: int = 0) -> int:
    """About how many characters a value has; more than `limit` is only known to be more.

    Text that no JSON document can hold raises a `UnicodeError`.
    """
    if isinstance(value, str):
        return len(value) if value.isascii() or len(value) > limit else len(value.encode())
    total = 1
    if isinstance(value, (list, dict)):
        if depth > _DEPTH:
            return limit + 1
        for item in value.values() if isinstance(value, dict) else value:
            total += estimate_size(item, limit, depth + 1)
            if total > limit:
                break
    return total


#: What a terminal or a page would obey instead of show, and what makes a text read otherwise than it is.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)


def escape_hidden(text: str) -> str:
    """The text with everything escaped that could hide what it says from the person who is asked."""
    return _HIDDEN.sub(lambda match: match[0].encode("unicode_escape").decode(), text)
