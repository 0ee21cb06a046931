"""Slack: a mention, `/brain task` or a direct message starts a task; a thread is a conversation; buttons decide."""

import re

from sidecar.doors.actions import Action, Ignore, Json, Press, Reply, StartTask, StopTask, text_at
from sidecar.doors.settings import SlackDoor

_MAX_TEXT = 20_000
_MENTION = re.compile(r"<@[A-Z0-9]{1,30}>")
_STOP = ("stop", "cancel", "kill")


def subject(event: str, payload: Json) -> str:
    """The thread. A slash command has none, so each begins its own; a button knows its task."""
    if text_at(payload, "command"):
        return f"slack:{text_at(payload, 'channel_id')}:cmd-{text_at(payload, 'trigger_id')}"
    channel, thread = (
        text_at(payload, "event.channel"),
        text_at(payload, "event.thread_ts") or text_at(payload, "event.ts"),
    )
    return f"slack:{channel}:{thread}" if channel and thread else ""


def person(payload: Json) -> str:
    """Who sent it, whatever it is."""
    return text_at(payload, "user_id") or text_at(payload, "user.id") or text_at(payload, "event.user")


def read_event(event: str, payload: Json, door: SlackDoor) -> Action:
    who = person(payload)
    if who not in door.allow and who not in door.decide:
        return Ignore("the sender is not in `allow` of doors.toml")
    if text_at(payload, "type") == "block_actions":
        return Press(text_at(payload, "actions.0.value"), who, text_at(payload, "channel.id"))
    if text_at(payload, "command"):
        return _start(text_at(payload, "text"), text_at(payload, "channel_id"), door)
    kind, channel, text = (text_at(payload, f"event.{name}") for name in ("type", "channel", "text"))
    if text_at(payload, "event.bot_id") or text_at(payload, "event.subtype"):
        return Ignore("not written by a person")
    if kind == "app_mention":
        return _start(text, channel, door)
    ours = text_at(payload, "authorizations.0.user_id")
    if kind != "message" or (ours and f"<@{ours}>" in text):
        return Ignore("neither a mention nor a command, or a mention that comes once more as a message")
    if text_at(payload, "event.thread_ts"):
        return Reply(_plain(text), who)
    if text_at(payload, "event.channel_type") == "im":
        return _start(text, channel, door)
    return Ignore("neither a mention nor in a thread")


def _start(text: str, channel: str, door: SlackDoor) -> Action:
    workspace = door.channels.get(channel)
    if workspace is None:
        return Ignore(f"channel {channel} is not in `channels` of doors.toml")
    words = _plain(text).removeprefix("task ").strip()
    if not words or words == "task":
        return Ignore("the message is empty")
    if words.lower() in _STOP:
        return StopTask()
    return StartTask(words, workspace, chat_options(door.approvals), words)


def chat_options(approvals: str) -> dict[str, object]:
    """Someone is there to answer, unless nothing would ask."""
    return {"approvals": approvals, "unattended": approvals not in ("ask", "edits")}


def _plain(text: str) -> str:
    """Without the mention, and as it was typed: Slack escapes three characters."""
    text = _MENTION.sub("", text[:_MAX_TEXT])
    for escaped, plain in (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")):
        text = text.replace(escaped, plain)
    return text.strip()
