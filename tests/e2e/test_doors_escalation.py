"""Tasks that need someone: the chain of places, acknowledged once, over kills; against servers of our own."""

import email
import socketserver
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from email.message import Message
from email.policy import default
from pathlib import Path

import pytest

from tests.e2e.chats import SlackServer, text_of
from tests.e2e.doors import Doors
from tests.e2e.support import RunningSidecar
from tests.waiting import wait_until


class MailServer:
    """As much of SMTP as smtplib speaks; `received` are the mails it took."""

    def __init__(self) -> None:
        self.received: list[Message] = []
        #: Answers to DATA to give instead.
        self.refusals: list[str] = []

    @contextmanager
    def running(self) -> Iterator[str]:
        owner = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                self.say("220 ready")
                for line in iter(self.rfile.readline, b""):
                    self.answer(line.strip().upper().split(b" ")[0])

            def answer(self, verb: bytes) -> None:
                if verb == b"EHLO":
                    self.say("250 here")
                elif verb == b"DATA":
                    self.say("354 go on")
                    lines = list(iter(self.rfile.readline, b".\r\n"))
                    if owner.refusals:
                        self.say(owner.refusals.pop(0))
                        return
                    owner.received.append(email.message_from_bytes(b"".join(lines), policy=default))
                    self.say("250 taken")
                else:
                    self.say("221 bye" if verb == b"QUIT" else "250 ok")

            def say(self, text: str) -> None:
                self.wfile.write(f"{text}\r\n".encode())

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True

        with Server(("127.0.0.1", 0), Handler) as server:
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            try:
                yield f"smtp://127.0.0.1:{server.server_address[1]}?from=brain@example.com"
            finally:
                server.shutdown()
                thread.join()


@pytest.fixture
def mails() -> MailServer:
    return MailServer()


def configure(sidecar: RunningSidecar, chain: str) -> None:
    directory = Path(sidecar.environ["XDG_CONFIG_HOME"]) / "rainy-brain"
    directory.mkdir(parents=True, exist_ok=True)
    people = '[slack]\nallow = ["U1", "U2"]\ndecide = ["U1"]\n'
    (directory / "doors.toml").write_text(
        f'panel_url = "https://brain.example"\n{people}[escalation]\nchain = [{chain}]'
    )


def fail(sidecar: RunningSidecar) -> str:
    """A task that fails: its model declines."""
    failure = {"code": "model_refused", "message": "no", "recoverable": True, "retry": False}
    models = sidecar.script("broken", [{"text": "", "stop": "declined", "failure": failure}])
    task_id = sidecar.execute("try it", models=models, intent="explain_code")
    assert sidecar.wait_for_end(task_id)["status"] == "failed"
    return task_id


def test_a_failed_task_is_mailed_once_over_refusals_and_kills(sidecar: RunningSidecar, mails: MailServer) -> None:
    configure(sidecar, '{channel = "mail"}')
    mails.refusals.append("451 try again later")
    with mails.running() as url:
        doors = Doors(sidecar, BRAIN_SMTP_URL=url, BRAIN_MAIL_TO="alice@example.com")
        doors.start()
        try:
            task_id = fail(sidecar)
            wait_until(lambda: not mails.refusals, what="the first attempt")
            doors.end(kill=True)
            # The server asked for a minute; nobody waits for it here.
            hurry(sidecar)
            doors.start()
            sent = "SELECT count(*) FROM outbox WHERE target = 'mail' AND state = 'sent'"
            wait_until(lambda: doors.rows(sent) == [(1,)], what="the mail")
            doors.end(kill=True)
            doors.start()
        finally:
            doors.end()
    (mail,) = mails.received
    assert mail["To"] == "alice@example.com" and mail["Subject"].startswith("A task failed:")
    assert f"https://brain.example/#task={task_id}" in mail.get_content()


def hurry(sidecar: RunningSidecar) -> None:
    store = sqlite3.connect(sidecar.data_dir / "doors.db")
    with store:
        store.execute("UPDATE outbox SET next_at = 0")
    store.close()


def test_the_chain_goes_on_until_someone_acknowledges_and_then_no_one_is_notified(
    sidecar: RunningSidecar, mails: MailServer
) -> None:
    configure(sidecar, '{channel = "slack:C1"}, {channel = "slack:C2", after = 0.2}, {channel = "mail", after = 3600}')
    slack = SlackServer()
    tokens = {"BRAIN_SLACK_APP_TOKEN": "xapp-1-a", "BRAIN_SLACK_BOT_TOKEN": "xoxb-1-a"}
    with slack.running(), mails.running() as url:
        doors = Doors(sidecar, BRAIN_SLACK_URL=slack.url, BRAIN_SMTP_URL=url, BRAIN_MAIL_TO="a@example.com", **tokens)
        doors.start()
        try:
            task_id = fail(sidecar)
            wait_until(lambda: len(slack.posts) == 2, what="both channels")
            assert [post["channel"] for post in slack.posts] == ["C1", "C2"]
            assert f"#task={task_id}" in text_of(slack.posts[0])
            slack.press("I'm on it", slack.posts[0], person="U666")
            doors.wait_until_worked_on()
            assert doors.rows("SELECT state FROM alerts") == [("open",)]
            slack.press("I'm on it", slack.posts[1], person="U2", channel="C2")
            slack.press("I'm on it", slack.posts[0], person="U1")
            doors.wait_until_worked_on()
            assert doors.rows("SELECT state, note FROM alerts") == [("acknowledged", "U2")]
            wait_until(lambda: len(slack.edits) == 2, what="the edits")
            assert {text_of(edit) for edit in slack.edits} == {"U2 is on it."}
            assert {edit["ts"] for edit in slack.edits} == {post["ts"] for post in slack.posts}
        finally:
            doors.end()
    assert mails.received == []


def test_in_quiet_hours_only_the_steps_for_the_night_are_taken(sidecar: RunningSidecar) -> None:
    configure(sidecar, '{channel = "slack:C1"}, {channel = "slack:C2", at_night = true}')
    config = Path(sidecar.environ["XDG_CONFIG_HOME"]) / "rainy-brain/doors.toml"
    config.write_text(config.read_text().replace("[escalation]", '[escalation]\nquiet = "00:00-23:59"'))
    if datetime.now().astimezone().strftime("%H:%M") == "23:59":
        pytest.skip("the one minute of the day that isn't quiet here")
    slack = SlackServer()
    with slack.running():
        doors = Doors(sidecar, BRAIN_SLACK_URL=slack.url, BRAIN_SLACK_BOT_TOKEN="xoxb-1-a")
        doors.start()
        try:
            fail(sidecar)
            wait_until(lambda: slack.posts, what="the step for the night")
            wait_until(lambda: doors.rows("SELECT state FROM alerts") == [("exhausted",)], what="the end of the chain")
        finally:
            doors.end()
    assert [post["channel"] for post in slack.posts] == ["C2"]


def test_a_task_that_goes_on_settles_its_alert(sidecar: RunningSidecar) -> None:
    configure(sidecar, '{channel = "slack:C1"}')
    slack = SlackServer()
    with slack.running():
        doors = Doors(sidecar, BRAIN_SLACK_URL=slack.url, BRAIN_SLACK_BOT_TOKEN="xoxb-1-a")
        doors.start()
        try:
            command = {"calls": [{"tool": "run_command", "args": {"command": "make release"}}]}
            models = sidecar.script("asks", [command, {"text": "done"}])
            task_id = sidecar.execute("release", models=models, intent="run_command")
            asked = sidecar.wait_for_event(task_id, lambda event: event["type"] == "approval")
            wait_until(lambda: slack.posts, what="the alert")
            assert "waits for you" in text_of(slack.posts[0])
            sidecar.post(f"/api/brain/tasks/{task_id}/approvals/{asked['approvalId']}", {"decision": "deny"})
            wait_until(lambda: slack.edit_with("Settled:"), what="the end")
        finally:
            doors.end()
