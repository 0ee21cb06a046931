"""A model's reply: collects the stream, and finds JSON in its text."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sidecar.engine.state import UserMessage
from sidecar.models.errors import Failure
from sidecar.models.port import Delta, Reply, Stop

_MAX_TRIES = 50
#: A bracket that may open an object or a list, unlike most brackets in prose.
_OPENING = re.compile(r"[{\[](?=\s*[\"{\[}\]])")


@dataclass(frozen=True, slots=True)
class CollectedReply:
    """A reply, and the messages that you sent just before the model was asked."""

    messages: Sequence[UserMessage]
    reply: Reply
    #: The limit, in tokens, that the history had; a resumed task leaves out the same.
    room: int | None = None


async def collect(
    stream: AsyncIterator[Delta | Reply],
    show: Callable[[Delta], None],
    keep_partial: Callable[[str], None] = lambda text: None,
) -> Reply:
    """Returns the whole reply. A stream that ends without one was cut off, and nothing in it is acted upon.

    If the reply fails or its reader is cancelled, the text so far goes to `keep_partial`: you may have read it.
    """
    reply: Reply | None = None
    texts: list[str] = []
    try:
        async for part in stream:
            if isinstance(part, Reply):
                # Nothing follows, but reading to the end lets the stream clean up.
                reply = part
                continue
            if part.kind == "text":
                if part.anew:
                    texts.clear()
                texts.append(part.text)
            show(part)
    except asyncio.CancelledError:
        keep_partial("".join(texts))
        raise
    if reply is None:
        failure = Failure(code="stream_cut", message="The model's reply broke off before its end.")
        reply = Reply(stop=Stop.FAILED, failure=failure)
    if reply.stop is Stop.FAILED and not reply.text:
        keep_partial("".join(texts))
    return reply


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
