"""Slack by HTTP: a mention or `/brain` starts a task; a thread is a conversation."""

import re

from sidecar.doors.actions import Action, Ignore, Json, StartTask, StopTask, text_at
from sidecar.doors.settings import SlackDoor

_MAX_TEXT = 20_000
_MENTION = re.compile(r"<@[A-Z0-9]{1,30}>")


def subject(event: str, payload: Json) -> str:
    """The thread. A slash command has none, so each begins its own."""
    channel, thread = (
        text_at(payload, "event.channel"),
        text_at(payload, "event.thread_ts") or text_at(payload, "event.ts"),
    )
    return f"slack:{channel}:{thread}" if channel and thread else ""


def read_event(event: str, payload: Json, door: SlackDoor) -> Action:
    if text_at(payload, "command"):
        person, channel, text = (text_at(payload, name) for name in ("user_id", "channel_id", "text"))
    elif text_at(payload, "event.type") == "app_mention" and not text_at(payload, "event.bot_id"):
        person, channel, text = (text_at(payload, f"event.{name}") for name in ("user", "channel", "text"))
    else:
        return Ignore("neither a mention nor a command")
    if person not in door.allow:
        return Ignore("the sender is not in `allow` of doors.toml")
    workspace = door.channels.get(channel)
    if workspace is None:
        return Ignore(f"channel {channel} is not in `channels` of doors.toml")
    words = _MENTION.sub("", text[:_MAX_TEXT]).strip().removeprefix("task ").strip()
    if not words:
        return Ignore("it says nothing")
    if words.lower() in ("stop", "cancel"):
        return StopTask()
    return StartTask(words, workspace, {"approvals": door.approvals}, words)
