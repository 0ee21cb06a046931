"""What a person says while a task waits for them: an answer to its question or approval, or a message to it."""

from collections.abc import Sequence

from sidecar.client.errors import Refused
from sidecar.client.prompts import open_prompts, prompt_id
from sidecar.client.service import BrainService, Decision
from sidecar.doors.actions import Json, list_at

_YES = frozenset(("allow", "yes", "y", "ok", "approve", "approved"))
_NO = frozenset(("deny", "no", "n", "reject", "denied"))


def say(service: BrainService, task_id: str, text: str, key: str) -> None:
    """Answer what the task waits for, if the text is an answer to it; else send it as a message."""
    task = service.task(task_id)
    if task.state()["status"] == "waiting":
        asked = waiting_for(service.stored_events(task_id))
        try:
            if asked is not None and asked["type"] == "approval" and (decision := decide(text)) is not None:
                task.approve(prompt_id(asked), decision)
                return
            if asked is not None and asked["type"] == "question" and (answer := choose(asked, text)):
                task.answer(prompt_id(asked), answer)
                return
        except Refused as refusal:
            if refusal.status == 409:  # answered meanwhile, perhaps by this delivery before a crash
                return
            raise
    task.message(text, key=key, author="other")


def waiting_for(events: Sequence[Json]) -> Json | None:
    """The newest approval or question without an answer."""
    return next(reversed(open_prompts(events).values()), None)


def decide(text: str) -> Decision | None:
    """What the whole text says; anything longer than one word decides nothing."""
    word = text.strip().strip("`.!").lower()
    return "allow" if word in _YES else "deny" if word in _NO else None


def choose(question: Json, text: str) -> str:
    """One of its choices, whatever the case of its letters, or nothing; any text where it has none."""
    choices, said = list_at(question, "choices"), text.strip()
    if not choices:
        return said
    return next((str(each) for each in choices if str(each).lower() == said.lower()), "")
