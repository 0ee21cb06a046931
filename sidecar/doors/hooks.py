"""Webhooks of your own: a template of `hooks/NAME.toml` turns JSON into a task."""

import re

from sidecar.doors.actions import Action, Ignore, Json, StartSchedule, StartTask, text_at
from sidecar.doors.settings import IncomingHook

_VALUE = re.compile(r"\{([A-Za-z0-9_.-]{1,200})\}")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_MAX_VALUE = 4_000
_MAX_TEXT = 50_000


def subject(name: str, payload: Json, hook: IncomingHook) -> str:
    found = _fill(hook.subject, payload)[0] if hook.subject else ""
    return f"hook:{name}:{found[:500]}" if found else ""


def read_event(payload: Json, hook: IncomingHook) -> Action:
    if hook.schedule:
        return StartSchedule(hook.schedule)
    text, missing = _fill(hook.task, payload)
    if missing:
        return Ignore(f"the JSON has no {', '.join(missing)}")
    chosen = {"agentType": hook.agent} if hook.agent else {}
    return StartTask(text[:_MAX_TEXT], hook.workspace or "", {"approvals": hook.approvals, **chosen}, text[:_MAX_TEXT])


def _fill(template: str, payload: Json) -> tuple[str, list[str]]:
    """The text, and the names for which there is no value. A value is never read as a template again."""
    missing: list[str] = []

    def value(match: re.Match[str]) -> str:
        found = _CONTROL.sub(" ", text_at(payload, match[1])[:_MAX_VALUE])
        if not found:
            missing.append(match[1])
        return found

    return _VALUE.sub(value, template), missing
