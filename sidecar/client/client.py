"""HTTP client of the sidecar. Every call has a time limit; refusals become one-line errors."""

import http.client
import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from sidecar.client.errors import Refused, Unreachable
from sidecar.config.proofs import TOKEN_ID, new_nonce, same, server_proof
from sidecar.telemetry.correlation import HEADER, current_header

SECONDS = 30.0
#: A stream sends a keep-alive every 15 seconds.
STREAM_SECONDS = 40.0
#: Events in a page.
_EVENTS = 2_000
_CHALLENGE = "/api/brain/session/challenge"
_MAX_CHALLENGE = 10_000

Json = dict[str, Any]


class Message(NamedTuple):
    id: str | None
    data: str


class SseParser:
    """Server-sent events without I/O: bytes in, messages out, wherever the bytes were cut."""

    def __init__(self) -> None:
        self._rest = b""
        self._id: str | None = None
        self._data: list[str] = []

    def feed(self, data: bytes) -> list[Message]:
        """The messages completed by these bytes. Comments complete none."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        messages = []
        for line in lines:
            text = line.removesuffix(b"\r").decode("utf-8", "replace")
            if text:
                self._field(text)
            elif self._data:
                messages.append(Message(self._id, "\n".join(self._data)))
                self._id, self._data = None, []
        return messages

    def _field(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "id":
            self._id = value


class Client:
    def __init__(
        self, url: str, token: str, pid: int = 0, *, runs_tasks: bool = True, certificate: str | None = None
    ) -> None:
        self.url = url
        self.pid = pid
        #: Whether it runs tasks; one started with --no-work only answers.
        self.runs_tasks = runs_tasks
        self.token = token
        self._address = urlsplit(url)
        #: The file with the one certificate that a sidecar with TLS shows.
        self._certificate = certificate

    def get(self, path: str, query: Mapping[str, object] | None = None, *, timeout: float = SECONDS) -> Any:
        wanted = {name: value for name, value in (query or {}).items() if value is not None}
        return self._call("GET", f"{path}?{urlencode(wanted, doseq=True)}" if wanted else path, None, {}, timeout)

    def events(self, task: str) -> Iterator[Json]:
        """The stored events of a task, read page by page."""
        more, after = True, 0
        while more:
            page = self.get(f"/api/brain/tasks/{task}/events", {"after": after, "limit": _EVENTS})
            yield from page["events"]
            more = page["more"] and bool(page["events"])
            after = page["events"][-1]["seq"] if page["events"] else after

    def post(
        self, path: str, body: Json | None = None, *, headers: Mapping[str, str] | None = None, timeout: float = SECONDS
    ) -> Any:
        return self._call("POST", path, body, headers or {}, timeout)

    def put(self, path: str, body: Json, *, timeout: float = SECONDS) -> Any:
        return self._call("PUT", path, body, {}, timeout)

    def patch(self, path: str, body: Json, *, timeout: float = SECONDS) -> Any:
        return self._call("PATCH", path, body, {}, timeout)

    def delete(self, path: str) -> Any:
        return self._call("DELETE", path, None, {}, SECONDS)

    def stream(self, task_id: str, after: int = 0) -> Iterator[Message]:
        """A task's events until the stream ends; raises `Unreachable` if it breaks."""
        return self._stream(f"/api/brain/tasks/{task_id}/stream", {"Last-Event-ID": str(after)} if after else {})

    def stream_all(self, cursor: str = "") -> Iterator[Message]:
        """The durable events of all tasks after this cursor, the `id` of a message; after `now` only new ones."""
        if cursor == "now":
            return self._stream("/api/brain/events?after=now", {})
        return self._stream("/api/brain/events", {"Last-Event-ID": cursor} if cursor else {})

    def _stream(self, path: str, headers: Mapping[str, str]) -> Iterator[Message]:
        with closing(self._connection(STREAM_SECONDS)) as connection:
            try:
                connection.request("GET", path, headers=self._headers(headers))
                response = connection.getresponse()
                if response.status != 200:
                    raise parse_refusal(response.status, response.read())
                parser = SseParser()
                while data := response.read1(65_536):
                    yield from parser.feed(data)
            except (OSError, http.client.HTTPException) as error:
                raise self._unreachable(error) from error

    def has(self, path: str) -> bool:
        """Whether a GET succeeds."""
        return self._exchange("GET", path, None, {}, SECONDS)[0] == 200

    def is_genuine(self, *, timeout: float) -> bool:
        """Whether the program at this address knows our token. Asked before the token is sent to it."""
        nonce = new_nonce()
        sent = json.dumps({"id": TOKEN_ID, "nonce": nonce}).encode()
        with closing(self._connection(timeout)) as connection:
            try:
                connection.request("POST", _CHALLENGE, sent, {"Content-Type": "application/json"})
                response = connection.getresponse()
                status, content = response.status, response.read(_MAX_CHALLENGE)
            except (OSError, http.client.HTTPException) as error:
                raise self._unreachable(error) from error
        try:
            answered = json.loads(content)
            expected = server_proof(self.token, self._address.netloc, TOKEN_ID, nonce, str(answered["nonce"]))
            return status == 200 and same(str(answered["proof"]), expected)
        except (ValueError, KeyError, TypeError):
            return False

    def _call(self, method: str, path: str, body: Json | None, headers: Mapping[str, str], timeout: float) -> Any:
        sent = None if body is None else json.dumps(body).encode()
        typed = {"Content-Type": "application/json"} if body is not None else {}
        status, content = self._exchange(method, path, sent, {**typed, **headers}, timeout)
        if status >= 400:
            raise parse_refusal(status, content)
        return json.loads(content)

    def _exchange(
        self, method: str, path: str, sent: bytes | None, headers: Mapping[str, str], timeout: float
    ) -> tuple[int, bytes]:
        with closing(self._connection(timeout)) as connection:
            try:
                connection.request(method, path, sent, self._headers(headers))
                response = connection.getresponse()
                return response.status, response.read()
            except (OSError, http.client.HTTPException) as error:
                raise self._unreachable(error) from error

    def _connection(self, timeout: float) -> http.client.HTTPConnection:
        host, port = self._address.hostname or "", self._address.port
        if self._certificate is None:
            return http.client.HTTPConnection(host, port, timeout=timeout)
        import ssl

        try:
            context = ssl.create_default_context(cafile=self._certificate)
        except OSError as error:
            raise self._unreachable(error) from error
        # This certificate and no other; the name in it is the public one.
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        context.check_hostname = False
        return http.client.HTTPSConnection(host, port, timeout=timeout, context=context)

    def _headers(self, more: Mapping[str, str]) -> dict[str, str]:
        trace = current_header()
        return {"Authorization": f"Bearer {self.token}", **({HEADER: trace} if trace else {}), **more}

    def _unreachable(self, error: Exception) -> Unreachable:
        return Unreachable(
            f"The sidecar at {self.url} doesn't answer ({error or type(error).__name__}). Your tasks are safe; "
            "run `brain doctor`."
        )


def parse_refusal(status: int, content: bytes) -> Refused:
    try:
        problem = json.loads(content)
        return Refused(status, problem["code"], problem["detail"])
    except (ValueError, KeyError, TypeError):
        return Refused(status, "http_error", f"The sidecar answered {status} without a problem document.")
