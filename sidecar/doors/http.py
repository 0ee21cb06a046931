"""The one HTTP client of the doors: bounded sizes and times, no redirects; it backs off when a server asks for it."""

import json
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import aiohttp

_CONNECTIONS = 8
_MAX_ANSWER = 8 * 1024 * 1024
_SECONDS = 60.0
_CONNECT_SECONDS = 10.0
_READ_SECONDS = 20.0
#: No server may make us wait longer before the next attempt.
_LONGEST_REST = 3_600.0
_SECONDARY_REST = 60.0


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """Raises `NotSent` if it isn't JSON."""
        try:
            return json.loads(self.body) if self.body else None
        except (ValueError, RecursionError) as error:
            raise NotSent("the answer is not JSON", 1) from error


class NotSent(Exception):
    """Try again in so many seconds; `again` is `None` if that can't help. `status` is what the server answered."""

    def __init__(self, why: str, again: float | None, status: int = 0) -> None:
        super().__init__(why)
        self.again = again
        self.status = status


class DoorsHttp:
    """No redirects, no cookies, no proxy from the environment: a secret goes only where you said."""

    def __init__(self) -> None:
        self._session: aiohttp.ClientSession | None = None
        #: Until when each origin asked us to wait.
        self._resting: dict[str, float] = {}

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def request(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        accepted: int = 200,
    ) -> Answer:
        """The answer if its status is 2xx, or `accepted`; raises `NotSent` otherwise."""
        origin = "{0.scheme}://{0.netloc}".format(urlsplit(url))
        rest = self._resting.get(origin, 0) - time.monotonic()
        if rest > 0:
            raise NotSent("the server asked us to wait", rest, 429)
        answer = await self._exchange(method, url, headers or {}, body)
        if (pause := rest_of(answer, time.time())) is not None:
            self._resting[origin] = time.monotonic() + pause
        if 200 <= answer.status < 300 or answer.status == accepted:
            return answer
        why = f"{method} {urlsplit(url).path} was answered {answer.status}{_reason(answer)}"
        if pause is not None:
            raise NotSent(why, pause, answer.status)
        raise NotSent(why, 1 if answer.status in (408, 409, 425) or answer.status >= 500 else None, answer.status)

    async def _exchange(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Answer:
        import aiohttp

        session = self._session = self._session or _open_session()
        named = {"User-Agent": "rainy-brain", **headers}
        try:
            async with session.request(method, url, headers=named, data=body, allow_redirects=False) as response:
                content = bytearray()
                async for chunk in response.content.iter_chunked(65_536):
                    content += chunk
                    if len(content) > _MAX_ANSWER:
                        raise NotSent("the answer is too long", None)
                given = {name.lower(): value for name, value in response.headers.items()}
                return Answer(response.status, given, bytes(content))
        except (aiohttp.InvalidURL, aiohttp.NonHttpUrlClientError) as error:
            raise NotSent(f"the address can't be used: {error}", None) from error
        except (aiohttp.ClientError, OSError) as error:
            raise NotSent(f"{type(error).__name__}: {error}", 1) from error


def rest_of(answer: Answer, now: float) -> float | None:
    """How long the server asks us to wait; `None` if it doesn't.

    GitHub answers 403 for both of its limits, and names no time for some secondary ones.
    """
    if answer.status not in (403, 429, 503):
        return None
    headers = answer.headers
    if (named := headers.get("retry-after", "")) and (seconds := _seconds(named, now)) is not None:
        return seconds
    if headers.get("x-ratelimit-remaining") == "0" and (reset := headers.get("x-ratelimit-reset", "")).isdigit():
        return _bounded(float(reset[:12]) - now)
    if answer.status == 429 or b"secondary rate limit" in answer.body[:2_000].lower():
        return _SECONDARY_REST
    return None


def _seconds(named: str, now: float) -> float | None:
    """`Retry-After` is a number of seconds, or a date."""
    if named.isascii() and named.isdigit():
        return _bounded(float(named[:9]))
    try:
        return _bounded(parsedate_to_datetime(named).timestamp() - now)
    except (ValueError, OverflowError):
        return None


def _bounded(seconds: float) -> float:
    return min(_LONGEST_REST, max(1.0, seconds))


def _reason(answer: Answer) -> str:
    """What the server says of it, cut; empty if it says nothing that can be read."""
    try:
        said = json.loads(answer.body)
        message = said.get("message") or said["errors"][0]["message"]
        return f": {str(message)[:200]}"
    except (ValueError, RecursionError, AttributeError, LookupError, TypeError):
        return ""


def _open_session() -> "aiohttp.ClientSession":
    import aiohttp

    limits = aiohttp.ClientTimeout(total=_SECONDS, sock_connect=_CONNECT_SECONDS, sock_read=_READ_SECONDS)
    connector = aiohttp.TCPConnector(limit=_CONNECTIONS, keepalive_timeout=5)
    return aiohttp.ClientSession(
        connector=connector, timeout=limits, trust_env=False, cookie_jar=aiohttp.DummyCookieJar()
    )
