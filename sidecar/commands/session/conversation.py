"""The tasks of a session: what you send, and the events that come back. Its methods block; it prints nothing."""

import base64
import re
import secrets
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

from sidecar.client.client import Client, Json
from sidecar.client.errors import ClientError, Refused, is_stopping
from sidecar.client.follow import ENDED, Follower, Seen, find_again
from sidecar.client.sidecars import Launcher
from sidecar.commands.errors import EXIT_USAGE, CommandFailed

MAX_IMAGES = 8
MAX_BYTES = 5 * 1024 * 1024
_TYPES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp"}
#: A path in quotation marks, or one whose spaces are escaped, as a terminal inserts it when you drop a file.
_PATHS = re.compile(r"'([^'\n]+)'|\"([^\"\n]+)\"|((?:\\.|[^\s'\"\\])+)")

_ATTEMPTS = 3


def find_images(text: str, workspace: Path) -> list[Path]:
    """Images named in what you typed."""
    found: list[Path] = []
    for quoted, double, bare in _PATHS.findall(text):
        # A bare path may end a sentence.
        name = quoted or double or re.sub(r"\\(.)", r"\1", bare).rstrip("?!.,;:)")
        name = name.removeprefix("@").removeprefix("file://")
        if Path(name).suffix.lower() not in _TYPES or len(name) > 4_096:
            continue
        path = workspace / Path(name).expanduser()
        if path.is_file() and path not in found:
            found.append(path)
    return found[:MAX_IMAGES]


def attach(path: Path) -> Json:
    if path.stat().st_size > MAX_BYTES:
        limit = MAX_BYTES // 1_048_576
        raise CommandFailed(
            f"{path.name} is larger than {limit} MB; nothing was sent. Attach a smaller one.", EXIT_USAGE
        )
    data = base64.b64encode(path.read_bytes()).decode()
    return {"name": path.name, "mediaType": _TYPES[path.suffix.lower()], "data": data}


class TerminalConversation:
    """`on_event` and `on_notice` are called in another thread."""

    def __init__(
        self,
        data_dir: Path,
        workspace: Path,
        on_event: Callable[[Seen], None],
        on_notice: Callable[[str], None],
    ) -> None:
        self.workspace = workspace
        self.launcher = Launcher(data_dir, workspace)
        self.task = ""
        self.conversation = ""
        #: Options of the next task, as on the wire.
        self.options: Json = {"approvals": "ask"}
        self._data_dir = data_dir
        self._on_event = on_event
        self._on_notice = on_notice
        self._client: Client | None = None
        self.connected = False
        self._lock = threading.Lock()
        self._following = ""
        self._again = False
        #: The task whose events were read, and how far.
        self._read_task, self._last = "", 0
        #: The next message starts a new task of the same conversation, because its options changed.
        self.fresh = False

    def client(self) -> Client:
        with self._lock:
            if self._client is None:
                self._client = self.launcher.client()
                self.connected = True
                threading.Thread(target=self._hold, args=(self._client,), daemon=True).start()
            return self._client

    def _hold(self, client: Client) -> None:
        """Keep a stream open: a sidecar that we started exits when it has no reader and no task runs."""
        with suppress(ClientError):
            for _ in client.stream_all("now"):
                pass
        with self._lock:
            if self._client is client:
                self._client = None

    def get(self, path: str, query: Json | None = None) -> Json:
        found: Json = self._call(lambda client: client.get(path, query))
        return found

    def post(self, path: str, body: Json | None = None, headers: dict[str, str] | None = None) -> Json:
        done: Json = self._call(lambda client: client.post(path, body, headers=headers))
        return done

    def send(self, text: str, attachments: Sequence[Json] = ()) -> None:
        """Start a task, steer the running one, or continue the one that ended."""
        if self.task and not self.fresh:
            self.act("messages", {"text": text, "attachments": list(attachments)})
        else:
            options = {**self.options, **({"conversationId": self.conversation} if self.conversation else {})}
            context = {"workspace": str(self.workspace), "attachments": list(attachments)}
            body = {"task": text, "context": context, "options": options}
            key = {"Idempotency-Key": secrets.token_hex(16)}
            accepted = self.post("/api/brain/execute", body, key)
            if notice := accepted.get("notice"):
                self._on_notice(notice)
            self.attach(accepted["taskId"])
            self.fresh = False
        self.follow()

    def attach(self, task_id: str) -> Json:
        """Make this the session's task; its events come from the first one."""
        found = self.get(f"/api/brain/tasks/{task_id}")
        self.task, self.conversation = found["id"], found["conversationId"]
        return found

    def leave(self) -> None:
        """Begin a new conversation with the next message."""
        self.task = self.conversation = ""

    def act(self, operation: str, body: Json | None = None) -> Json:
        return self.post(f"/api/brain/tasks/{self.task}/{operation}", body)

    def answer(self, prompt: Json, answer: Json, reason: str = "") -> None:
        """The reason is a message: it is there when the agent learns of the answer."""
        if reason:
            self.act("messages", {"text": reason})
        kind, name = ("approvals", "approvalId") if prompt["type"] == "approval" else ("questions", "questionId")
        try:
            self.act(f"{kind}/{quote(prompt[name], safe='')}", answer)
        except Refused as refusal:
            # 409: answered elsewhere in the meantime; the events say so.
            if refusal.status != 409:
                raise

    def follow(self) -> None:
        """Read the task's events in a thread until it ends."""
        with self._lock:
            if self._following == self.task:
                self._again = True
                return
            self._following, self._again = self.task, False
            if self.task != self._read_task:
                self._read_task, self._last = self.task, 0
        threading.Thread(target=self._read, args=(self.task,), daemon=True).start()

    def _read(self, task_id: str) -> None:
        while True:
            try:
                if not self._last or self._has_news(task_id):
                    follower = Follower(task_id, find_again(self._data_dir, self.launcher, task_id), self._last)
                    for seen in follower.events(self.client(), self._on_notice):
                        if self._following != task_id:
                            return  # another task took its place
                        self._last = seen.event.get("seq") or self._last
                        self._on_event(seen)
            except ClientError as error:
                self._on_notice(str(error))
            with self._lock:
                if self._following != task_id:
                    return
                if not self._again:
                    self._following = ""
                    return
                self._again = False

    def _has_news(self, task_id: str) -> bool:
        task = self.get(f"/api/brain/tasks/{task_id}")
        return bool(task["status"] not in ENDED or task["lastSeq"] > self._last)

    def _call(self, act: Callable[[Client], Json]) -> Json:
        """A sidecar that stopped since is started again."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return act(self.client())
            except ClientError as error:
                if not is_stopping(error) or attempt == _ATTEMPTS:
                    raise
            with self._lock:
                self._client = None
        raise AssertionError("the last attempt returns or raises")

    def close(self) -> None:
        """Stop the sidecar that we started, unless a task still runs on it."""
        self._following = ""
        self.launcher.release()
