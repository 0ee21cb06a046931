"""The real process under test: start it, call it, watch it, kill it, start it again. Every wait is bounded."""

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from tests.e2e.preloaded import ForkedProcess, can_fork
from tests.waiting import SECONDS, busy_seconds

PROJECT = Path(__file__).resolve().parents[2]
#: The command itself; a sidecar that would be started by it is forked from a preloaded one where that is the same.
PLAIN = (sys.executable, "-m", "sidecar")
ENDED = ("completed", "failed", "cancelled", "escalated")

Json = dict[str, Any]


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class RunningSidecar:
    """A sidecar in a process of its own. `kill` is SIGKILL, `stop` is SIGTERM, `restart` begins a new life."""

    command: Sequence[str] = ("serve", "--port", "0")

    def __init__(self, data_dir: Path, workspace: Path, arguments: Sequence[str], environ: Mapping[str, str]) -> None:
        self.data_dir = data_dir
        self.workspace = workspace
        self.log_file = data_dir.parent / f"{data_dir.name}.log"
        self.environ = dict(environ)
        self._arguments = tuple(arguments)
        #: What is run; a test may put something in front of it, or something else in its place.
        self.launcher: Sequence[str] = PLAIN
        self.process: subprocess.Popen[str] | ForkedProcess | None = None
        self.ready: Json = {}

    # -- its life ----------------------------------------------------------------------------------------------------

    def start(self, *more: str) -> "RunningSidecar":
        arguments = [*self.command, "--data-dir", str(self.data_dir), "--workspace", str(self.workspace)]
        arguments += [*self._arguments, *more]
        with self.log_file.open("a") as log:
            self.process = self._spawn(arguments, log)
        line = _first_line(self.process, busy_seconds())
        assert line, f"The sidecar did not start:\n{self.log_file.read_text()}"
        self.ready = json.loads(line)
        return self

    def _spawn(self, arguments: Sequence[str], log: IO[str]) -> subprocess.Popen[str] | ForkedProcess:
        return spawn(arguments, self.environ, log, self.launcher)

    def kill(self) -> None:
        assert self.process
        self.process.kill()
        self._wait()

    def stop(self, number: int = signal.SIGTERM) -> int:
        assert self.process
        self.process.send_signal(number)
        return self._wait()

    def restart(self, *more: str) -> "RunningSidecar":
        """A new life on the same data directory; the old one is ended if it is still there."""
        self.close()
        return self.start(*more)

    def close(self) -> None:
        if self.process is None:
            return
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self._wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self._wait()

    def _wait(self, seconds: float = SECONDS) -> int:
        assert self.process
        code = self.process.wait(seconds)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        return code

    @property
    def url(self) -> str:
        url: str = self.ready["url"]
        return url

    @property
    def pid(self) -> int:
        pid: int = self.ready["pid"]
        return pid

    @property
    def port(self) -> int:
        port = urlsplit(self.url).port
        assert port
        return port

    @property
    def token(self) -> str:
        return Path(self.ready["tokenFile"]).read_text()

    # -- calls -------------------------------------------------------------------------------------------------------

    def request(
        self,
        method: str,
        path: str,
        body: object = None,
        headers: Mapping[str, str] | None = None,
        *,
        authenticated: bool = True,
        timeout: float = SECONDS,
    ) -> Answer:
        """`body` is sent as it is if it is bytes, and as JSON otherwise."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, _encoded(body), self._headers(body, headers, authenticated))
            response = connection.getresponse()
            return Answer(
                response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
            )
        finally:
            connection.close()

    def get(self, path: str, **options: Any) -> Answer:
        return self.request("GET", path, **options)

    def post(self, path: str, body: object = None, **options: Any) -> Answer:
        return self.request("POST", path, body, **options)

    def _headers(self, body: object, more: Mapping[str, str] | None, authenticated: bool) -> dict[str, str]:
        headers = {"Authorization": f"Bearer {self.token}"} if authenticated else {}
        if body is not None:
            headers["Content-Type"] = "application/json"
        return headers | dict(more or {})

    # -- tasks -------------------------------------------------------------------------------------------------------

    def script(self, name: str, replies: object) -> Json:
        """Writes a script and returns the `models` option that plays it in every role."""
        directory = self.data_dir / "scripts"
        directory.mkdir(parents=True, exist_ok=True)
        # In one step: a task that was started before may be reading it.
        written = directory / f".{name}.new"
        written.write_text(json.dumps(replies))
        written.replace(directory / f"{name}.json")
        return dict.fromkeys(("fast", "smart", "instant"), f"scripted/{name}")

    def execute(self, task: str, *, context: Json | None = None, **options: object) -> str:
        answer = self.post("/api/brain/execute", {"task": task, "context": context or {}, "options": options})
        assert answer.status == 202, answer.body
        task_id: str = answer.json["taskId"]
        return task_id

    def task(self, task_id: str) -> Json:
        found: Json = self.get(f"/api/brain/tasks/{task_id}").json
        return found

    def events(self, task_id: str, after: int = 0) -> list[Json]:
        """The durable events there are now."""
        found: list[Json] = []
        more = True
        while more:
            page = self.get(f"/api/brain/tasks/{task_id}/events?after={after}").json
            found += page["events"]
            more, after = page["more"], found[-1]["seq"] if found else after
        return found

    @contextmanager
    def stream(self, task_id: str, after: int = 0, *, timeout: float = SECONDS) -> Iterator[Iterator[Json]]:
        """The events as they come; `timeout` bounds each wait for the next."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            headers = self._headers(None, {"Last-Event-ID": str(after)} if after else None, True)
            connection.request("GET", f"/api/brain/tasks/{task_id}/stream", headers=headers)
            response = connection.getresponse()
            assert response.status == 200, response.read()
            yield _events_of(response)
        finally:
            connection.close()

    def wait_for_event(self, task_id: str, wanted: Callable[[Json], bool], *, seconds: float = SECONDS) -> Json:
        with self.stream(task_id, timeout=seconds) as events:
            seen = []
            for event in events:
                seen.append(event)
                if wanted(event):
                    return event
        raise AssertionError(f"The task ended without it; its events: {seen}")

    def wait_for_status(self, task_id: str, *statuses: str, seconds: float = SECONDS) -> Json:
        self.wait_for_event(
            task_id, lambda event: event["type"] == "status" and event["status"] in statuses, seconds=seconds
        )
        return self.task(task_id)

    def wait_for_end(self, task_id: str, *, seconds: float = SECONDS) -> Json:
        """Reads the stream until it closes, which is after the last event."""
        with self.stream(task_id, timeout=seconds) as events:
            for _ in events:
                pass
        task = self.task(task_id)
        assert task["status"] in ENDED, task
        return task


@contextmanager
def running_sidecar(
    tmp_path: Path, *arguments: str, workspace: Path | None = None, data_dir: Path | None = None, **env: str
) -> Iterator[RunningSidecar]:
    """A sidecar on a data directory of its own, alone with its environment; ended at the end, whatever happened."""
    workspace = workspace or tmp_path / "workspace"
    workspace.mkdir(parents=True, exist_ok=True)
    data_dir = data_dir or tmp_path / "data"
    sidecar = RunningSidecar(data_dir, workspace, arguments, clean_environ(tmp_path, **env))
    try:
        yield sidecar.start()
    finally:
        sidecar.close()


def spawn(
    arguments: Sequence[str], environ: Mapping[str, str], log: IO[str], launcher: Sequence[str] = PLAIN
) -> subprocess.Popen[str] | ForkedProcess:
    """The command in a process of its own: forked from a preloaded one, except in the long forms of fault tests."""
    if launcher == PLAIN and can_fork(environ):
        return ForkedProcess(arguments, environ, log)
    pipe = subprocess.PIPE
    command = [*launcher, *arguments]
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=log, text=True, env=environ, cwd=PROJECT)


def clean_environ(home: Path, **more: str) -> dict[str, str]:
    """The environment without the user's own settings and keys; their home directory is not read either."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith("BRAIN_") and "API_KEY" not in name
    }
    kept |= {"HOME": str(home), "XDG_CONFIG_HOME": str(home / "config"), "XDG_DATA_HOME": str(home / "share")}
    kept.pop("NO_COLOR", None)
    return kept | more


def is_alive(pid: int) -> bool:
    """Whether a process is there; one that has ended and was not yet collected is not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        pass
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return not Path("/proc/self").exists()


def host_pid(task_id: str, inner: int) -> int:
    """The number that a task's process inside a sandbox has out here; the same if it is in none."""
    for place in Path("/proc").iterdir():
        if place.name.isdecimal():
            try:
                status = (place / "status").read_text()
                marked = f"BRAIN_CALL_ID={task_id}".encode() in (place / "environ").read_bytes()
            except OSError:
                continue
            numbers = next(line for line in status.splitlines() if line.startswith("NSpid:")).split()[1:]
            if marked and numbers[-1] == str(inner):
                return int(place.name)
    return inner


def _encoded(body: object) -> bytes | None:
    return body if body is None or isinstance(body, bytes) else json.dumps(body).encode()


def _events_of(response: http.client.HTTPResponse) -> Iterator[Json]:
    for line in response:
        if line.startswith(b"data: "):
            yield json.loads(line[6:])


def _first_line(process: subprocess.Popen[str] | ForkedProcess, seconds: float) -> str:
    assert process.stdout
    # Whoever does not get ready in time is killed; the read then returns with nothing.
    late = threading.Timer(seconds, process.kill)
    late.start()
    try:
        return process.stdout.readline()
    finally:
        late.cancel()
        late.join()
