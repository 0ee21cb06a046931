"""Slack and Telegram as people there meet `brain doors`: real clients on our side, servers of our own on the other."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.chats import SlackServer, TelegramServer, text_of
from tests.e2e.doors import Doors
from tests.e2e.support import RunningSidecar
from tests.e2e.verification import RIGHT, WRONG, project, run_verified, says, write
from tests.waiting import wait_until

CONFIG = """
panel_url = "https://brain.example"
[slack]
allow = ["U1", "U2"]
decide = ["U1"]
approvals = "ask"
channels = {{C1 = "{workspace}"}}
[telegram]
allow = ["7", "8"]
decide = ["7"]
approvals = "ask"
chats = {{7 = "{workspace}", -9 = "{workspace}"}}
"""
APP_TOKEN, BOT_TOKEN = "xapp-1-canary-canary-canary", "xoxb-1-canary-canary-canary"
COMMAND = "task run `touch made.txt`"


@pytest.fixture
def config(sidecar: RunningSidecar, workspace: Path) -> None:
    directory = Path(sidecar.environ["XDG_CONFIG_HOME"]) / "rainy-brain"
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "doors.toml").write_text(CONFIG.format(workspace=workspace))


@pytest.fixture
def slack() -> Iterator[SlackServer]:
    server = SlackServer()
    with server.running():
        yield server


@pytest.fixture
def telegram() -> Iterator[TelegramServer]:
    server = TelegramServer()
    with server.running():
        yield server


@pytest.fixture
def slack_doors(sidecar: RunningSidecar, slack: SlackServer, config: None) -> Iterator[Doors]:
    tokens = {"BRAIN_SLACK_APP_TOKEN": APP_TOKEN, "BRAIN_SLACK_BOT_TOKEN": BOT_TOKEN}
    doors = Doors(sidecar, BRAIN_SLACK_URL=slack.url, **tokens)
    doors.start()
    yield doors
    doors.end()


@pytest.fixture
def telegram_doors(sidecar: RunningSidecar, telegram: TelegramServer, config: None) -> Iterator[Doors]:
    doors = Doors(sidecar, BRAIN_TELEGRAM_URL=telegram.url, BRAIN_TELEGRAM_TOKEN=telegram.token)
    doors.start()
    yield doors
    doors.end()


def tasks(sidecar: RunningSidecar) -> list[str]:
    return [task["id"] for task in sidecar.get("/api/brain/tasks").json["tasks"]]


def test_a_slash_command_asks_in_its_thread_and_only_a_decider_may_answer(
    slack: SlackServer, slack_doors: Doors, sidecar: RunningSidecar, workspace: Path
) -> None:
    envelope = slack.command(COMMAND)
    assert slack.acknowledged[envelope]["payload"]["text"] == "Working on it."
    status = slack.wait_for(lambda: slack.post_with("is queued"), "the status message")
    assert "thread_ts" not in status
    asked = slack.wait_for(lambda: slack.post_with("May it do this?"), "the approval")
    assert asked["thread_ts"] == status["ts"] and "touch made.txt" in text_of(asked)
    (task_id,) = tasks(sidecar)
    token = asked["blocks"][1]["elements"][0]["value"]
    # Someone who may only start tasks, a stranger, another channel, and a made-up button.
    slack.press("Allow once", asked, person="U2")
    slack.press("Allow once", asked, person="U666")
    slack.press_token(token, "U1", "C2")
    slack.press_token("0" * 32, "U1", "C1")
    slack_doors.wait_until_worked_on()
    assert sidecar.task(task_id)["status"] == "waiting" and not (workspace / "made.txt").exists()
    slack.press("Allow once", asked)
    assert sidecar.wait_for_end(task_id)["status"] == "completed"
    assert (workspace / "made.txt").exists()
    slack.wait_for(lambda: slack.post_with("made.txt") and slack.edit_with("Allowed:"), "the answer")
    shown = slack.wait_for(lambda: slack.edit_with(f"Done: task {task_id}"), "the end")
    assert shown["ts"] == status["ts"]
    # A second press changes nothing; the buttons are gone.
    slack.press("Deny", asked)
    slack_doors.wait_until_worked_on()
    decided = [each for each in slack.edits if each["ts"] == asked["ts"]]
    assert [len(each["blocks"]) for each in decided] == [1]
    stored = slack_doors.rows("SELECT count(*) FROM deliveries")
    assert stored == [(6,)]  # the stranger left no trace


def test_an_envelope_that_comes_again_acts_once_even_after_a_kill(
    slack: SlackServer, slack_doors: Doors, sidecar: RunningSidecar
) -> None:
    payload = {"command": "/brain", "text": "task list the files", "user_id": "U1", "channel_id": "C1"}
    payload["trigger_id"] = "trigger"
    for kill in (False, True, False):
        slack.deliver("slash_commands", payload, envelope="same")
        if kill:
            slack_doors.end(kill=True)
            slack_doors.start()
    slack.wait_for(lambda: slack.post_with("notes.txt"), "the result")
    slack_doors.wait_until_worked_on()
    assert len(tasks(sidecar)) == 1
    texts = [text_of(post) for post in slack.posts]
    assert len(texts) == len(set(texts)) == 2


def test_a_lost_answer_is_looked_for_before_a_message_is_posted_again(slack: SlackServer, slack_doors: Doors) -> None:
    slack.drop_answers = 1
    slack.refusals.append((429, {"Retry-After": "1"}, {"ok": False, "error": "ratelimited"}))
    slack.command("task list the files")
    slack.wait_for(lambda: slack.post_with("notes.txt"), "the result")
    assert [text_of(post) for post in slack.posts if "is queued" in text_of(post)] == [text_of(slack.posts[0])]
    assert "conversations.history" in slack.calls


def test_replies_in_a_thread_steer_its_task_and_stop_ends_it(
    slack: SlackServer, slack_doors: Doors, sidecar: RunningSidecar
) -> None:
    slack.command(COMMAND)
    asked = slack.wait_for(lambda: slack.post_with("May it do this?"), "the approval")
    thread = asked["thread_ts"]
    (task_id,) = tasks(sidecar)
    slack.say("also list the files", thread, person="U2")
    slack.say("wipe the disk", thread, person="U666")
    slack_doors.wait_until_worked_on()
    heard = [event["text"] for event in sidecar.events(task_id) if event["type"] == "message"]
    assert "also list the files" in heard and "wipe the disk" not in heard
    slack.say("stop", thread, person="U2")
    assert sidecar.wait_for_end(task_id)["status"] == "cancelled"
    slack.wait_for(lambda: slack.edit_with(f"Cancelled: task {task_id}"), "the end")


def test_questions_are_answered_by_button_and_long_texts_are_cut_with_a_link(
    slack: SlackServer, slack_doors: Doors, sidecar: RunningSidecar
) -> None:
    models = sidecar.script("long", [{"text": "1. Look at the files\n" + "word " * 2_000}, *[{"text": "done"}] * 5])
    options = {"conversationId": "door:slack:C1:1700.5", "models": models, "plan": True}
    task_id = sidecar.execute("change the notes", **options)
    asked = slack.wait_for(lambda: next((post for post in slack.posts if "Go ahead" in str(post)), None), "the plan")
    label = asked["blocks"][1]["elements"][0]["text"]["text"]
    assert asked["thread_ts"] == "1700.5" and len(text_of(asked)) <= 3_000
    slack.press(label, asked, person="U2")
    slack_doors.wait_until_worked_on()
    assert sidecar.task(task_id)["status"] == "waiting"
    slack.press(label, asked)
    sidecar.wait_for_end(task_id)
    end = slack.wait_for(lambda: next(iter(slack.posts[2:]), None), "the result")
    assert len(text_of(end)) <= 3_000 and f"https://brain.example/#task={task_id}" in text_of(end)


def test_text_in_a_chat_consents_to_nothing_and_is_not_interpreted(
    slack: SlackServer, slack_doors: Doors, sidecar: RunningSidecar, workspace: Path
) -> None:
    slack.command("task run `touch made.txt '&lt;!channel&gt; you may'`")
    asked = slack.wait_for(lambda: slack.post_with("May it do this?"), "the approval")
    assert asked["blocks"][0]["text"]["type"] == "plain_text"
    assert all("<!channel>" not in post["text"] for post in slack.posts)
    assert not (workspace / "made.txt").exists()
    slack.press("Deny", asked)
    (task_id,) = tasks(sidecar)
    sidecar.wait_for_end(task_id)
    assert not (workspace / "made.txt").exists()


def test_a_flood_of_strangers_is_answered_and_stores_nothing(slack: SlackServer, slack_doors: Doors) -> None:
    for _ in range(200):
        envelope = slack.command("task list the files", person="U666")
    assert "may not" in slack.acknowledged[envelope]["payload"]["text"]
    assert slack_doors.rows("SELECT count(*) FROM deliveries") == [(0,)]
    assert slack.posts == []


def test_tokens_are_in_no_log_and_no_store(slack: SlackServer, slack_doors: Doors, sidecar: RunningSidecar) -> None:
    slack.command("task list the files")
    slack.wait_for(lambda: slack.post_with("notes.txt"), "the result")
    assert slack.tokens == {f"Bearer {APP_TOKEN}", f"Bearer {BOT_TOKEN}"}
    for file in sidecar.data_dir.rglob("*"):
        if file.is_file():
            assert b"canary-canary" not in file.read_bytes(), file


def test_telegram_asks_and_a_decider_answers_there(
    telegram: TelegramServer, telegram_doors: Doors, sidecar: RunningSidecar, workspace: Path
) -> None:
    said = telegram.say("/brain " + COMMAND)
    status = telegram.wait_for(lambda: telegram.post_with("is queued"), "the status message")
    assert f'"message_id": {said}' in status["reply_parameters"]
    asked = telegram.wait_for(lambda: telegram.post_with("May it do this?"), "the approval")
    (task_id,) = tasks(sidecar)
    telegram.press("Allow once", asked, person=8)
    telegram.press("Allow once", asked, person=666)
    telegram.press("Allow once", asked, chat=-9)
    telegram_doors.wait_until_worked_on()
    assert sidecar.task(task_id)["status"] == "waiting" and not (workspace / "made.txt").exists()
    telegram.press("Allow for this task", asked)
    assert sidecar.wait_for_end(task_id)["status"] == "completed"
    telegram.wait_for(lambda: telegram.edit_with("Allowed:") and telegram.edit_with(f"Done: task {task_id}"), "it")
    assert (workspace / "made.txt").exists()
    assert "answerCallbackQuery" in telegram.calls
    # A reply to any of our messages goes on with that task.
    telegram.say("list the files", reply_to=asked["message_id"])
    telegram.wait_for(lambda: telegram.post_with("notes.txt"), "the next round")
    assert tasks(sidecar) == [task_id]


def test_telegram_updates_act_once_over_kills_and_refusals(
    telegram: TelegramServer, telegram_doors: Doors, sidecar: RunningSidecar
) -> None:
    telegram.refusals.append(
        (429, {}, {"ok": False, "error_code": 429, "description": "Too Many", "parameters": {"retry_after": 1}})
    )
    telegram.say("list the files")
    telegram_doors.end(kill=True)
    telegram.confirmed = 0  # as if the last confirmation had been lost
    telegram_doors.start()
    wait_until(lambda: telegram.confirmed, what="the next poll")
    telegram.wait_for(lambda: telegram.post_with("notes.txt"), "the result")
    telegram.say("list the files", kind="group", chat=-9)  # not for us
    telegram.say("list the files", person=666)
    telegram_doors.wait_until_worked_on()
    assert len(tasks(sidecar)) == 1


def test_progress_edits_one_message_and_not_with_every_event(
    slack: SlackServer, slack_doors: Doors, sidecar: RunningSidecar
) -> None:
    reads = [{"calls": [{"tool": "find_files", "args": {"pattern": f"*{number}"}}]} for number in range(30)]
    command = {"calls": [{"tool": "run_command", "args": {"command": "make release"}}]}
    models = sidecar.script("busy", [*reads, command, {"text": "done"}])
    task_id = sidecar.execute("look around", conversationId="door:slack:C1:1700.7", models=models, intent="edit_code")
    slack.wait_for(lambda: slack.edit_with("tool calls"), "progress")
    status = slack.wait_for(lambda: slack.post_with("is queued"), "the status message")
    shown = [edit for edit in slack.edits if edit["ts"] == status["ts"]]
    assert len(shown) <= 3 and len(shown[-1]["blocks"]) == 2
    slack.press_token(shown[-1]["blocks"][1]["elements"][0]["value"], "U2", "C1")  # Stop
    assert sidecar.wait_for_end(task_id)["status"] == "cancelled"


def test_an_escalation_offers_suggestions_and_a_decider_picks_one(
    slack: SlackServer, slack_doors: Doors, sidecar: RunningSidecar
) -> None:
    project(sidecar)
    replies = [*[write("calc.py", WRONG), says("All tests pass.")] * 3, write("calc.py", RIGHT), says("Now it adds.")]
    story = run_verified(sidecar, replies, conversationId="door:slack:C1:1700.9")
    assert story.task["status"] == "escalated"
    told = slack.wait_for(lambda: slack.post_with("The task needs you after 3 attempts"), "the escalation")
    (escalation,) = story.escalations
    first = escalation["suggestions"][0]
    assert told["thread_ts"] == "1700.9" and f"1. {first}" in text_of(told)
    slack.press("Do 1", told, person="U2")
    slack_doors.wait_until_worked_on()
    assert sidecar.task(story.task["id"])["status"] == "escalated"
    slack.press("Do 1", told)
    slack.press("Do 1", told)
    wait_until(lambda: sidecar.task(story.task["id"])["verified"], what="the next round")
    slack_doors.wait_until_worked_on()
    asked = [each for each in sidecar.events(story.task["id"]) if each["type"] == "message" and each["role"] == "user"]
    assert [each["text"] for each in asked[1:]] == [first], "said once, however often it is pressed"


def test_telegram_cuts_long_texts_with_a_link_and_its_stop_button_stops(
    telegram: TelegramServer, telegram_doors: Doors, sidecar: RunningSidecar
) -> None:
    models = sidecar.script("long", [{"text": "word " * 3_000}])
    options = {"models": models, "intent": "explain_code"}
    task_id = sidecar.execute("explain it", conversationId="door:telegram:7:100", **options)
    end = telegram.wait_for(lambda: telegram.post_with("word word"), "the result")
    assert len(text_of(end)) <= 4_096 and f"https://brain.example/#task={task_id}" in text_of(end)
    options["models"] = sidecar.script("slow", [{"text": "late", "delayMs": 600_000}])
    task_id = sidecar.execute("explain more", conversationId="door:telegram:7:101", **options)
    status = telegram.wait_for(lambda: telegram.post_with(f"Task {task_id} is queued"), "the status message")
    telegram.press("Stop", status, person=666)
    telegram.press("Stop", status, person=8)
    assert sidecar.wait_for_end(task_id)["status"] == "cancelled"
    telegram.wait_for(lambda: telegram.edit_with(f"Cancelled: task {task_id}"), "the end")
    telegram_doors.wait_until_worked_on()
    notes = telegram_doors.rows("SELECT note FROM deliveries")
    assert notes == [("by 8",)], "strangers leave no trace"
