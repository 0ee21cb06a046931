"""Prompts: the approvals and questions of a task, and which of them wait for an answer."""

from collections.abc import Iterable
from typing import Any

Event = dict[str, Any]

_IDS = {"approval": "approvalId", "question": "questionId"}
_OPEN = ("requested", "asked")


def prompt_id(event: Event | None) -> str:
    """The id of an approval or a question; empty for any other event."""
    return "" if event is None else str(event.get(_IDS.get(event["type"], ""), ""))


def open_prompts(events: Iterable[Event]) -> dict[str, Event]:
    """Those without an answer by id, in the order in which they were asked last."""
    found: dict[str, Event] = {}
    for event in events:
        if name := prompt_id(event):
            found.pop(name, None)
            if event["state"] in _OPEN:
                found[name] = event
    return found
