"""What the doors send out: comments to a GitHub that others wrote, and webhooks of one's own."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.doors import SECRET, Doors, labeled, sign, signed
from tests.e2e.support import RunningSidecar
from tests.support.emulate import TOKEN, emulated_github
from tests.waiting import wait_until

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


class Receiver:
    """A web server that refuses the first `refusals` requests, and keeps the others."""

    def __init__(self, refusals: int) -> None:
        received, left = [], [refusals]

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                left[0] -= 1
                if left[0] < 0:
                    received.append((dict(self.headers), body))
                self.send_response(500 if left[0] >= 0 else 200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self.received = received
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def config(sidecar: RunningSidecar, workspace: Path) -> Path:
    directory = Path(sidecar.environ["XDG_CONFIG_HOME"]) / "rainy-brain"
    directory.mkdir(parents=True, exist_ok=True)
    text = f'[github]\nallow = ["alice"]\npull_requests = false\n[github.repositories]\n"acme/shop" = "{workspace}"\n'
    (directory / "doors.toml").write_text(text)
    return directory


@contextmanager
def opened(doors: Doors) -> Iterator[Doors]:
    doors.start()
    try:
        yield doors
    finally:
        doors.end()


def test_a_webhook_is_signed_and_sent_again_until_it_is_taken(sidecar: RunningSidecar, config: Path) -> None:
    other = Receiver(refusals=2)
    url = f"http://127.0.0.1:{other.server.server_port}/brain"
    hook = f'[[webhook]]\nname = "audit"\nurl = "{url}"\nsecret = "{SECRET}"\nevents = ["error"]\n'
    (config / "webhooks.toml").write_text(hook)
    try:
        with opened(Doors(sidecar)) as doors:
            body, headers = signed("issues", labeled(3), "d-1")
            assert doors.post("github", body, **headers, traceparent=f"00-{TRACE}-00f067aa0ba902b7-01")[0] == 202
            wait_until(lambda: other.received, what="the webhook")
            wait_until(lambda: doors.rows("SELECT state FROM outbox") == [("sent",)], what="the letter")
    finally:
        other.server.shutdown()
        other.server.server_close()
    [(headers, body)] = other.received
    assert headers["X-Brain-Signature"] == f"sha256={sign(body)}"
    said = json.loads(body)
    assert said["event"] == "brain/task.failed"
    # The delivery, its task and our webhook about its end carry the same trace id.
    assert headers["traceparent"].split("-")[1] == TRACE
    assert sidecar.task(said["data"]["taskId"])["traceparent"].split("-")[1] == TRACE


def test_the_issue_hears_of_its_task_once_also_if_the_process_is_killed(
    sidecar: RunningSidecar, config: Path, tmp_path: Path
) -> None:
    with emulated_github(tmp_path, {"a.txt": "a\n"}) as github:
        issue = github.call("POST", "/repos/acme/shop/issues", {"title": "list the files"})
        doors = Doors(sidecar, BRAIN_GITHUB_TOKEN=TOKEN, BRAIN_GITHUB_URL=github.url)
        with opened(doors):
            assert doors.github("issues", labeled(issue["number"]), "d-1")[0] == 202
            doors.end(kill=True)
            doors.start()
            comments = f"/repos/acme/shop/issues/{issue['number']}/comments"
            wait_until(lambda: len(github.call("GET", comments)) == 2, what="both comments")
            wait_until(lambda: doors.rows("SELECT DISTINCT state FROM outbox") == [("sent",)], what="the letters")
        first, last = (comment["body"] for comment in github.call("GET", comments))
        assert first.startswith("Working on it as task `t_")
        assert last.startswith("Task `t_")  # no model is there to resolve it
        assert "failed" in last
