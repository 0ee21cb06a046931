"""Sends what is in the outbox: in order to each target, again after a failure, and given up in the end."""

import asyncio
import hashlib
import hmac
import json
import logging
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from sidecar.doors.outbox import DoorsOutbox, Letter
from sidecar.doors.settings import Webhook
from sidecar.doors.work_loop import WorkLoop

if TYPE_CHECKING:
    import httpcore

log = logging.getLogger("brain.doors")

MAX_ATTEMPTS = 12
_CONNECTIONS = 8
_LONGEST_PAUSE = 3_600.0
_MAX_ANSWER = 4 * 1024 * 1024
_TIMEOUTS = {"timeout": {"connect": 10.0, "read": 20.0, "write": 20.0, "pool": 20.0}}
_SUBJECT = re.compile(r"github:([A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100})#(\d{1,10})")


class Answer(NamedTuple):
    status: int
    body: bytes
    retry_after: float | None


class NotSent(Exception):
    """`again` in so many seconds; `None` if trying again can't help."""

    def __init__(self, why: str, again: float | None) -> None:
        super().__init__(why)
        self.again = again


class Sender:
    def __init__(self, outbox: DoorsOutbox, webhooks: Sequence[Webhook], github_url: str, github_token: str) -> None:
        self._outbox = outbox
        self._webhooks = {hook.name: hook for hook in webhooks}
        self._github_url = github_url.rstrip("/")
        self._github_token = github_token
        self.loop = WorkLoop(outbox, self._send)
        self._pool: httpcore.AsyncConnectionPool | None = None

    async def close(self) -> None:
        if self._pool is not None:
            await self._pool.aclose()

    async def _send(self, letter: Letter) -> None:
        try:
            if letter.target.startswith("webhook:"):
                await self._call(letter)
            else:
                await self._comment(letter)
            await self._outbox.settle(letter, "sent")
        except NotSent as problem:
            if problem.again is None or letter.attempts + 1 >= MAX_ATTEMPTS:
                await self._outbox.settle(letter, "dead", str(problem))
                log.error("gave up on %s for %s; it is kept: %s", letter.key, letter.target, problem)
            else:
                pause = min(_LONGEST_PAUSE, max(problem.again, 2.0**letter.attempts))
                await self._outbox.postpone(letter, pause, str(problem))

    async def _call(self, letter: Letter) -> None:
        hook = self._webhooks.get(letter.target.removeprefix("webhook:"))
        if hook is None:
            raise NotSent("webhooks.toml no longer names it", None)
        body = letter.body.encode()
        signature = hmac.new(hook.secret.encode(), body, hashlib.sha256).hexdigest()
        headers = {"Content-Type": "application/json", "X-Brain-Delivery": letter.key}
        await self._request("POST", hook.url, {**headers, "X-Brain-Signature": f"sha256={signature}"}, body)

    async def _comment(self, letter: Letter) -> None:
        """An attempt whose answer got lost may have succeeded, so a later one looks for its mark first."""
        found = _SUBJECT.fullmatch(letter.target)
        if found is None:
            raise NotSent("not an issue", None)
        url = f"{self._github_url}/repos/{found[1]}/issues/{found[2]}/comments"
        mark = f"<!-- {letter.key} -->"
        headers = {"Authorization": f"Bearer {self._github_token}", "Accept": "application/vnd.github+json"}
        if letter.attempts:
            newest = await self._request("GET", f"{url}?per_page=100&sort=created&direction=desc", headers, b"")
            if mark in newest.body.decode("utf-8", "replace"):
                return
        body = json.dumps({"body": f"{letter.body}\n\n{mark}"}).encode()
        await self._request("POST", url, {**headers, "Content-Type": "application/json"}, body)

    async def _request(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Follows no redirect: a secret goes only where you said."""
        import httpcore

        self._pool = self._pool or httpcore.AsyncConnectionPool(max_connections=_CONNECTIONS, keepalive_expiry=5)
        named = [(name, value) for name, value in {**headers, "User-Agent": "rainy-brain"}.items()]
        try:
            async with asyncio.timeout(60):
                async with self._pool.stream(
                    method, url, headers=named, content=body, extensions=_TIMEOUTS
                ) as response:
                    content = b""
                    async for chunk in response.aiter_stream():
                        content += chunk
                        if len(content) > _MAX_ANSWER:
                            raise NotSent("the answer is too long", None)
                    given = {name.lower(): value for name, value in response.headers}
                    return _checked(Answer(response.status, content, _seconds(given.get(b"retry-after", b""))))
        except (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError, TimeoutError) as error:
            raise NotSent(f"{type(error).__name__}: {error}", 1) from error
        except httpcore.UnsupportedProtocol as error:
            raise NotSent(str(error), None) from error


def _checked(answer: Answer) -> Answer:
    if 200 <= answer.status < 300:
        return answer
    again = answer.status in (403, 408, 409, 425, 429) or answer.status >= 500
    raise NotSent(f"the server answered {answer.status}", (answer.retry_after or 1) if again else None)


def _seconds(text: bytes) -> float | None:
    return float(text) if text.isdigit() and len(text) < 6 else None
