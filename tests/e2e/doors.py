"""`brain doors` in a process of its own, and what its senders do."""

import asyncio
import hashlib
import hmac
import http.client
import json
import sqlite3
import subprocess
import time
from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from tests.e2e.preloaded import ForkedProcess
from tests.e2e.support import RunningSidecar, spawn
from tests.waiting import wait_until

SECRET = "it's a secret"
SECRETS = {
    "BRAIN_GITHUB_WEBHOOK_SECRET": SECRET,
    "BRAIN_LINEAR_WEBHOOK_SECRET": SECRET,
    "BRAIN_SLACK_SIGNING_SECRET": SECRET,
    "BRAIN_HOOK_CI": SECRET,
}


class Doors:
    def __init__(self, sidecar: RunningSidecar, port: int = 0, **environ: str) -> None:
        self.sidecar = sidecar
        self.port = port
        self.log_file = sidecar.data_dir.parent / "doors.log"
        self.environ = {**sidecar.environ, **SECRETS, **environ}
        self.process: subprocess.Popen[str] | ForkedProcess | None = None
        self.address = ("", 0)

    def start(self) -> None:
        arguments = ["doors", "--port", str(self.port), "--data-dir", str(self.sidecar.data_dir)]
        with self.log_file.open("a") as log:
            self.process = spawn(arguments, self.environ, log)
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, self.log_file.read_text()
        ready = json.loads(line)
        assert ready["event"] == "ready"
        assert ready["pid"] == self.process.pid
        url = urlsplit(ready["url"])
        self.address = (url.hostname or "", url.port or 0)

    def end(self, *, kill: bool = False) -> None:
        assert self.process
        self.process.kill() if kill else self.process.terminate()
        self.process.wait(60)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()

    def post(self, name: str, body: bytes, **headers: str) -> tuple[int, Any]:
        connection = http.client.HTTPConnection(*self.address, timeout=60)
        try:
            named = {key.replace("_", "-"): value for key, value in headers.items()}
            connection.request("POST", f"/hooks/{name}", body, {"Content-Type": "application/json", **named})
            response = connection.getresponse()
            return response.status, json.loads(response.read() or b"null")
        finally:
            connection.close()

    def github(self, event: str, payload: object, delivery: str, secret: str = SECRET) -> tuple[int, Any]:
        body, headers = signed(event, payload, delivery, secret)
        return self.post("github", body, **headers)

    def rows(self, sql: str) -> list[Any]:
        store = sqlite3.connect(f"file:{self.sidecar.data_dir}/doors.db?mode=ro", uri=True)
        try:
            return store.execute(sql).fetchall()
        finally:
            store.close()

    def wait_until_worked_on(self) -> None:
        wait_until(
            lambda: self.rows("SELECT count(*) FROM deliveries WHERE state = 'stored'") == [(0,)], what="the deliveries"
        )


def sign(body: bytes, secret: str = SECRET) -> str:
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def signed(event: str, payload: object, delivery: str, secret: str = SECRET) -> tuple[bytes, dict[str, str]]:
    """A delivery of GitHub."""
    body = json.dumps(payload).encode()
    signature = f"sha256={sign(body, secret)}"
    return body, {"X-GitHub-Event": event, "X-GitHub-Delivery": delivery, "X-Hub-Signature-256": signature}


class Sent(NamedTuple):
    status: int
    #: From the attempt to connect to the last byte of the answer.
    seconds: float


def send_at_once(address: tuple[str, int], senders: Sequence[Sequence[bytes]]) -> list[Sent]:
    """All senders at the same time; the requests of each one after the other, each in a connection of its own.

    No HTTP client: most of the time that is measured should be the receiver's.
    """

    class Exchange(asyncio.Protocol):
        def __init__(self, request: bytes, answered: "asyncio.Future[bytes]") -> None:
            self._request, self._answered, self._answer = request, answered, b""

        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            assert isinstance(transport, asyncio.WriteTransport)
            transport.write(self._request)

        def data_received(self, data: bytes) -> None:
            self._answer += data

        def connection_lost(self, error: Exception | None) -> None:
            self._answered.set_result(self._answer)

    async def send(request: bytes) -> Sent:
        loop, began = asyncio.get_running_loop(), time.monotonic()
        answered: asyncio.Future[bytes] = loop.create_future()
        await loop.create_connection(lambda: Exchange(request, answered), *address)
        answer = await answered
        return Sent(int(answer.split(b" ", 2)[1]), time.monotonic() - began)

    async def send_all(requests: Sequence[bytes]) -> list[Sent]:
        return [await send(each) for each in requests]

    async def everything() -> list[list[Sent]]:
        return await asyncio.gather(*(send_all(each) for each in senders))

    return [each for sender in asyncio.run(everything()) for each in sender]


def request_of(name: str, body: bytes, headers: dict[str, str]) -> bytes:
    """A delivery as it is on the wire."""
    given = {"Host": "127.0.0.1", "Content-Type": "application/json", "Connection": "close", **headers}
    lines = [f"POST /hooks/{name} HTTP/1.1", *(f"{key}: {value}" for key, value in given.items())]
    return "\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""]).encode() + body


def labeled(number: int, **more: object) -> dict[str, object]:
    issue = {"number": number, "title": "list the files", "body": ""}
    sender = {"login": "alice", "type": "User"}
    repository = {"full_name": "acme/shop"}
    return {
        "action": "labeled",
        "label": {"name": "brain"},
        "issue": issue,
        "sender": sender,
        "repository": repository,
        **more,
    }
