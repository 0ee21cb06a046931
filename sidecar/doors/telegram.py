"""Telegram: a command, or a text in a private chat, starts a task; a reply belongs to the conversation it answers."""

import re

from sidecar.doors.actions import Action, Ignore, Json, Press, Reply, StartTask, StopTask, text_at
from sidecar.doors.settings import TelegramDoor
from sidecar.doors.slack import chat_options

_MAX_TEXT = 20_000
#: `/brain task TEXT`, `/task TEXT`, `/stop`; in groups with the bot's name.
_COMMAND = re.compile(r"/(brain|task|stop|cancel|kill)(?:@\w{1,40})?(?:\s+|$)(.*)", re.DOTALL)


def subject(payload: Json) -> str:
    chat, answered = text_at(payload, "message.chat.id"), text_at(payload, "message.reply_to_message.message_id")
    if not chat:
        return ""
    found = _COMMAND.match(text_at(payload, "message.text"))
    starts = found is not None and not _is_stop(found)
    return f"telegram:{chat}:{text_at(payload, 'message.message_id') if starts or not answered else answered}"


def person(payload: Json) -> str:
    return text_at(payload, "message.from.id") or text_at(payload, "callback_query.from.id")


def read_event(payload: Json, door: TelegramDoor) -> Action:
    who = person(payload)
    if who not in door.allow and who not in door.decide:
        return Ignore("the sender is not in `allow` of doors.toml")
    if token := text_at(payload, "callback_query.data"):
        return Press(token, who, text_at(payload, "callback_query.message.chat.id"))
    text, chat = text_at(payload, "message.text")[:_MAX_TEXT].strip(), text_at(payload, "message.chat.id")
    found, answers = _COMMAND.match(text), text_at(payload, "message.reply_to_message.message_id")
    if found is not None and _is_stop(found):
        return StopTask() if answers else Ignore("stop answers no message of a task")
    if found is not None:
        return _start(found[2].removeprefix("task "), chat, door)
    if answers:
        return Reply(text, who) if text else Ignore("not a text")
    if text_at(payload, "message.chat.type") == "private" and not text.startswith("/"):
        return _start(text, chat, door)
    return Ignore("neither a command nor an answer")


def _is_stop(found: re.Match[str]) -> bool:
    return found[1] in ("stop", "cancel", "kill") or found[2].strip() in ("stop", "cancel", "kill")


def _start(text: str, chat: str, door: TelegramDoor) -> Action:
    workspace = door.chats.get(chat)
    if workspace is None:
        return Ignore(f"chat {chat} is not in `chats` of doors.toml")
    words = text.strip()
    if not words:
        return Ignore("the message is empty")
    return StartTask(words, workspace, chat_options(door.approvals), words)
