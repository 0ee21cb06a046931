"""`brain doors` in a process of its own, and what its senders do."""

import hashlib
import hmac
import http.client
import json
import sqlite3
import subprocess
import sys
from typing import Any
from urllib.parse import urlsplit

from tests.e2e.support import PROJECT, RunningSidecar, wait_until

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
        self.process: subprocess.Popen[str] | None = None
        self.address = ("", 0)

    def start(self) -> None:
        command = [sys.executable, "-m", "sidecar", "doors", "--port", str(self.port)]
        command += ["--data-dir", str(self.sidecar.data_dir)]
        with self.log_file.open("a") as log:
            self.process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=log, text=True, env=self.environ, cwd=PROJECT
            )
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
        assert self.process.stdout
        self.process.stdout.close()

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
        body = json.dumps(payload).encode()
        signature = f"sha256={sign(body, secret)}"
        return self.post(
            "github", body, X_GitHub_Event=event, X_GitHub_Delivery=delivery, X_Hub_Signature_256=signature
        )

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
