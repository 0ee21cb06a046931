"""Shortens texts for models, events and people."""

import re
from typing import TYPE_CHECKING

from pydantic import JsonValue

if TYPE_CHECKING:
    from sidecar.wire.base import JsonObject


#: Characters of one result that a model reads.
CONTENT = 60_000
_SHOWN_STRING = 4_000
_SHOWN_ITEMS = 100
_DEPTH = 64


def clip(text: str, limit: int = CONTENT) -> str:
    """Head and tail, with a note on the gap between them."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n… {len(text) - 2 * half} characters omitted; ask for a smaller part …\n{text[-half:]}"


def first_words(text: str, limit: int) -> str:
    """The beginning in at most `limit` characters, with an ellipsis for the rest. Cuts between words and lines."""
    if len(text) <= limit:
        return text
    kept = text[: limit - 2]
    end = max(kept.rfind(" "), kept.rfind("\n"))
    # In the middle of a word only if the word is most of the text.
    return f"{kept[:end].rstrip() if end > limit // 2 else kept} …"


def shorten(text: str, limit: int, advice: str = "") -> str:
    """The beginning of the text, up to the end of a line or at least of a word, and how much is left out."""
    if len(text) <= limit:
        return text
    head = text[:limit]
    end = max(head.rfind("\n"), head.rfind(" "))
    head = head[:end].rstrip() if end > limit // 2 else head
    return f"{head}\n[{len(text) - len(head):,} characters left out{advice}]"


def display_arguments(args: "JsonObject") -> "JsonObject":
    """Arguments as an event shows them, with long values cut."""
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
    """About how many characters a value has; counting stops beyond `limit`.

    Raises `UnicodeError` for text that JSON can't hold.
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


#: Characters that a terminal or page obeys instead of showing, that show nothing, or that reorder a text.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u1680\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f"
    "\u2800\u3164\ufe00-\ufe0e\ufeff\uffa0\U000e0000-\U000e0fff]"
)


def escape_hidden(text: str) -> str:
    """Escape characters that could hide from you what you are about to approve."""
    return _HIDDEN.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def on_one_line(name: str) -> str:
    """A name that anybody may have given, so that it can't go on in a line of its own."""
    return name if name.isprintable() else escape_hidden(name).replace("\n", "\\n").replace("\t", "\\t")


def fenced(text: str) -> str:
    """Fences the text so that it can't close the fence itself."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{text}\n{fence}"
