"""What chats ask for, and what they hear: read from payloads and events, without a network."""

from typing import Any

import pytest

from sidecar.doors import slack, telegram
from sidecar.doors.actions import Ignore, Press, Reply, StartTask, StopTask
from sidecar.doors.chat.render import Progress, cut, remarks_of
from sidecar.doors.settings import SlackDoor, TelegramDoor

SLACK = SlackDoor(allow=["U1"], decide=["U2"], approvals="ask", channels={"C1": "/w", "D1": "/w"})
TELEGRAM = TelegramDoor(allow=["7"], decide=["8"], approvals="auto", chats={"7": "/w"})


def slack_message(text: str, **more: Any) -> dict[str, Any]:
    event = {"type": "message", "user": "U1", "channel": "C1", "ts": "1.2", "text": text, **more}
    return {"event": event, "authorizations": [{"user_id": "UBOT"}]}


@pytest.mark.parametrize(
    ("payload", "wanted"),
    [
        (slack_message("<@UBOT> do it", type="app_mention"), StartTask),
        (slack_message("<@UBOT> do it", thread_ts="1.0"), Ignore),  # it comes as a mention, too
        (slack_message("go on", thread_ts="1.0"), Reply),
        (slack_message("go on", thread_ts="1.0", bot_id="B1"), Ignore),
        (slack_message("go on", thread_ts="1.0", subtype="message_changed"), Ignore),
        (slack_message("chatter"), Ignore),
        (slack_message("do it", channel="D1", channel_type="im"), StartTask),
        (slack_message("do it", channel="D9", channel_type="im"), Ignore),
        (slack_message("<@UBOT> kill", type="app_mention"), StopTask),
        (slack_message("do it", user="U9", type="app_mention"), Ignore),
        ({"command": "/brain", "text": "task do it", "user_id": "U1", "channel_id": "C1"}, StartTask),
        ({"command": "/brain", "text": "task", "user_id": "U1", "channel_id": "C1"}, Ignore),
        ({"type": "block_actions", "user": {"id": "U2"}, "actions": [{"value": "x"}], "channel": {"id": "C1"}}, Press),
        ({"type": "block_actions", "user": {"id": "U9"}, "actions": [{"value": "x"}]}, Ignore),
        ({}, Ignore),
    ],
)
def test_what_slack_asks_for(payload: dict[str, Any], wanted: type) -> None:
    assert isinstance(slack.read_event("", payload, SLACK), wanted)


def test_a_chat_with_someone_to_ask_is_attended_and_one_without_is_not() -> None:
    started = slack.read_event("", slack_message("<@UBOT> a &lt;b&gt; &amp;amp;", type="app_mention"), SLACK)
    assert isinstance(started, StartTask) and started.text == "a <b> &amp;"
    assert started.options == {"approvals": "ask", "unattended": False}
    started = telegram.read_event(telegram_message("do it"), TELEGRAM)
    assert isinstance(started, StartTask) and started.options == {"approvals": "auto", "unattended": True}


def telegram_message(text: str, person: int = 7, kind: str = "private", reply: int | None = None) -> dict[str, Any]:
    message = {"message_id": 5, "from": {"id": person}, "chat": {"id": 7, "type": kind}, "text": text}
    return {"message": message | ({"reply_to_message": {"message_id": reply}} if reply else {})}


@pytest.mark.parametrize(
    ("payload", "wanted", "subject"),
    [
        (telegram_message("do it"), StartTask, "telegram:7:5"),
        (telegram_message("do it", kind="group"), Ignore, "telegram:7:5"),
        (telegram_message("/task@our_bot do it", kind="group"), StartTask, "telegram:7:5"),
        (telegram_message("/brain task do it", reply=3), StartTask, "telegram:7:5"),
        (telegram_message("go on", reply=3), Reply, "telegram:7:3"),
        (telegram_message("/stop", reply=3), StopTask, "telegram:7:3"),
        (telegram_message("/stop"), Ignore, "telegram:7:5"),
        (telegram_message("/start"), Ignore, "telegram:7:5"),
        (telegram_message("/tasks do it"), Ignore, "telegram:7:5"),
        (telegram_message("do it", person=9), Ignore, "telegram:7:5"),
        ({"callback_query": {"from": {"id": 8}, "data": "x", "message": {"chat": {"id": 7}}}}, Press, ""),
        ({}, Ignore, ""),
    ],
)
def test_what_telegram_asks_for(payload: dict[str, Any], wanted: type, subject: str) -> None:
    assert isinstance(telegram.read_event(payload, TELEGRAM), wanted)
    assert telegram.subject(payload) == subject


def test_an_escalation_offers_its_suggestions_and_its_error_is_not_said_twice() -> None:
    event = {"type": "escalation", "seq": 9, "reason": "tests fail", "attempts": 3, "suggestions": ["fix a", "drop b"]}
    (remark,) = remarks_of(event)
    assert "1. fix a" in remark.text and [button.choice for button in remark.buttons] == ["fix a", "drop b"]
    error = {"type": "error", "seq": 8, "message": "tests fail", "code": "not_verified"}
    assert remarks_of(error) == []


def test_a_question_without_choices_is_answered_by_a_reply() -> None:
    asked = {"type": "question", "questionId": "q", "text": "Which?", "state": "asked"}
    (remark,) = remarks_of(asked)
    assert remark.question == "q" and not remark.buttons
    (remark,) = remarks_of({**asked, "choices": ["x" * 100, "b"]})
    assert remark.question == "" and len(remark.buttons[0].label) == 60 and remark.buttons[0].choice == "x" * 100


def test_a_long_text_is_cut_and_says_where_the_rest_is() -> None:
    assert cut("short", 100, "link") == "short"
    short = cut("word " * 1_000, 100, "https://brain.example/#task=t")
    assert len(short) <= 100 and short.endswith("https://brain.example/#task=t)")


def test_progress_shows_the_newest_state() -> None:
    progress = Progress("slack:C1:1.2")
    progress.fold({"type": "step", "state": "started", "step": 1, "total": 2, "agent": "coder", "message": "Write"})
    for number in range(3):
        progress.fold({"type": "tool", "status": "success", "tool": "read_file", "summary": f"file {number}"})
    assert progress.render("t_1") == "Task t_1\nStep 1 of 2, coder: Write\n3 tool calls, last read_file: file 2"
