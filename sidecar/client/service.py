"""Tasks of a running sidecar, from any Python program.

brain = BrainService(url, token)
task = brain.execute("run the tests", workspace="/home/me/project")
for event in task.events():
    print(event["type"])
print(task.state()["verified"])
"""

import os
import secrets
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from sidecar.client.client import Client, Json
from sidecar.client.follow import Follower, find_again, try_again
from sidecar.client.sidecars import Launcher
from sidecar.config.paths import default_data_dir

MAX_EVENTS = 25_000

Decision = Literal["allow", "deny"]
Scope = Literal["once", "task", "workspace"]


class BrainService:
    """`url` and `token` as in the ready line of `brain serve`; `BrainService.local()` finds or starts a sidecar."""

    def __init__(self, url: str, token: str) -> None:
        self._client = Client(url, token)
        self._reconnect = try_again(self._client)

    @classmethod
    def local(cls, data_dir: Path | None = None) -> "BrainService":
        """The sidecar of a data directory; one that this starts exits when it is idle."""
        place = data_dir or default_data_dir(os.environ)
        launcher = Launcher(place)
        client = launcher.client()
        service = cls(client.url, client.token)
        service._reconnect = find_again(place, launcher)
        return service

    def execute(
        self, task: str, *, workspace: str | None = None, context: Json | None = None, key: str = "", **options: Any
    ) -> "TaskHandle":
        """Start a task. `options` are the wire's, such as `approvals="auto"`; the same `key` gives the same task."""
        where = {"workspace": workspace} if workspace else {}
        body = {"task": task, "context": {**where, **(context or {})}, "options": options}
        headers = {"Idempotency-Key": key or secrets.token_hex(16)}
        return self.task(self._client.post("/api/brain/execute", body, headers=headers)["taskId"])

    def task(self, task_id: str) -> "TaskHandle":
        return TaskHandle(self, task_id)

    def tasks(self, **query: Any) -> list[Json]:
        """Newest first; `status`, `limit` and `before` as on the wire."""
        found: list[Json] = self.get("/api/brain/tasks", **query)["tasks"]
        return found

    def stream(self, task_id: str, after: int = 0) -> Iterator[Json]:
        """Every event once and in order, across dropped connections, until the task ends."""
        for seen in Follower(task_id, self._reconnected, after).events(self._client, lambda _: None):
            yield seen.event

    def stored_events(self, task_id: str) -> list[Json]:
        """The first `MAX_EVENTS` events of a task, without waiting for more."""
        return list(islice(self._client.events(task_id), MAX_EVENTS))

    def get(self, path: str, **query: Any) -> Any:
        return self._client.get(path, query)

    def post(self, path: str, body: Json | None = None, *, headers: Mapping[str, str] | None = None) -> Any:
        return self._client.post(path, body, headers=headers)

    def _reconnected(self, stopped: bool) -> Client:
        self._client = self._reconnect(stopped)
        return self._client


class TaskHandle:
    def __init__(self, service: BrainService, task_id: str) -> None:
        self.id = task_id
        self._service = service

    def state(self) -> Json:
        """The task as on the wire: status, result, error, verified, usage."""
        state: Json = self._service.get(self._path())
        return state

    def events(self, after: int = 0) -> Iterator[Json]:
        return self._service.stream(self.id, after)

    def wait(self) -> Json:
        """The task once it has ended."""
        for _ in self.events():
            pass
        return self.state()

    def cancel(self) -> None:
        self._service.post(self._path("/cancel"))

    def resume(self) -> None:
        self._service.post(self._path("/resume"))

    def message(self, text: str, *, key: str = "", author: Literal["person", "other"] = "person") -> None:
        """Steer it, or go on with it once it has ended. The same `key` gives the same message."""
        headers = {"Idempotency-Key": key or secrets.token_hex(16)}
        self._service.post(self._path("/messages"), {"text": text, "author": author}, headers=headers)

    def approve(self, approval_id: str, decision: Decision, scope: Scope = "once") -> None:
        self._service.post(self._path(f"/approvals/{quote(approval_id, '')}"), {"decision": decision, "scope": scope})

    def answer(self, question_id: str, answer: str) -> None:
        self._service.post(self._path(f"/questions/{quote(question_id, '')}"), {"answer": answer})

    def diff(self) -> Json:
        diff: Json = self._service.get(self._path("/diff"))
        return diff

    def rewind(self, seq: int = 0) -> Json:
        done: Json = self._service.post(self._path("/rewind"), {"seq": seq})
        return done

    def _path(self, more: str = "") -> str:
        return f"/api/brain/tasks/{quote(self.id, '')}{more}"
