"""GitHub's REST API for one token, or for an App: its key signs a request for a token of each installation.

A token of an App is asked for with the permissions of `PERMISSIONS` and for one repository; GitHub ends it in an hour.
"""

import json
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from sidecar.doors.actions import Json, text_at
from sidecar.doors.http import DoorsHttp, NotSent
from sidecar.doors.settings import GITHUB_URL

#: All that the door ever needs; the README lists why.
PERMISSIONS = {
    "checks": "write",
    "contents": "write",
    "issues": "write",
    "metadata": "read",
    "pull_requests": "write",
}
_PAGE = 100
_MAX_PAGES = 30
_EARLY_SECONDS = 300
_TOKEN_SECONDS = 3_600
_JWT_SECONDS = 540


class GithubAuth:
    """`token`, or `app` with the file of its private key."""

    def __init__(self, http: DoorsHttp, url: str, token: str = "", app: str = "", key_file: str = "") -> None:
        self._http = http
        self._url = url
        self._own = token
        self._app = app
        self._key_file = key_file
        self._tokens: dict[str, tuple[str, float]] = {}

    @property
    def configured(self) -> bool:
        return bool(self._own or (self._app and self._key_file))

    @property
    def is_app(self) -> bool:
        return not self._own

    def known(self, repository: str) -> str | None:
        """The token that `token` found last; for callers that can't wait."""
        return self._own or self._tokens.get(repository.lower(), ("", 0.0))[0] or None

    def forget(self, repository: str) -> None:
        self._tokens.pop(repository.lower(), None)

    async def token(self, repository: str) -> str:
        if self._own:
            return self._own
        found, until = self._tokens.get(repository.lower(), ("", 0.0))
        if time.time() < until:
            return found
        headers = _headers(self._signed())
        answer = await self._http.request("GET", f"{self._url}/repos/{quote(repository)}/installation", headers)
        installation = text_at(answer.json(), "id")
        wanted = {"repositories": [repository.partition("/")[2]], "permissions": PERMISSIONS}
        url = f"{self._url}/app/installations/{quote(installation, '')}/access_tokens"
        answer = await self._http.request("POST", url, headers, json.dumps(wanted).encode())
        found = text_at(answer.json(), "token")
        if not found:
            raise NotSent("GitHub gave no token for the installation", 60)
        self._tokens[repository.lower()] = (found, time.time() + _TOKEN_SECONDS - _EARLY_SECONDS)
        return found

    def _signed(self) -> str:
        """Proves that we hold the App's key. Dated back a minute, because clocks differ."""
        import jwt

        now = int(time.time())
        claims = {"iat": now - 60, "exp": now + _JWT_SECONDS, "iss": self._app}
        try:
            return jwt.encode(claims, Path(self._key_file).read_bytes(), algorithm="RS256")
        except (OSError, ValueError, jwt.PyJWTError) as error:
            raise NotSent(f"the key in BRAIN_GITHUB_APP_KEY_FILE can't be used: {type(error).__name__}", 60) from error


class GithubApi:
    def __init__(self, http: DoorsHttp, auth: GithubAuth, url: str = GITHUB_URL) -> None:
        self._http = http
        self._auth = auth
        self._url = url.rstrip("/")

    @property
    def is_app(self) -> bool:
        return self._auth.is_app

    async def authorize(self, repository: str) -> None:
        """Make sure that a token for it is known."""
        await self._auth.token(repository)

    async def call(self, method: str, repository: str, path: str, body: Json | None = None) -> Any:
        """`path` is below the repository, such as `/issues/3/comments`."""
        sent = None if body is None else json.dumps(body).encode()
        url = f"{self._url}/repos/{quote(repository)}{path}"
        try:
            answer = await self._http.request(method, url, _headers(await self._auth.token(repository)), sent)
        except NotSent as refusal:
            if refusal.status != 401 or not self.is_app:
                raise
            self._auth.forget(repository)  # revoked before its time
            answer = await self._http.request(method, url, _headers(await self._auth.token(repository)), sent)
        return answer.json()

    async def pages(self, repository: str, path: str, items: str = "", **query: str) -> AsyncIterator[Json]:
        """The objects of a list, page by page; `items` names the list in an answer that is an object."""
        for page in range(1, _MAX_PAGES + 1):
            asked = urlencode({**query, "per_page": _PAGE, "page": page})
            found = await self.call("GET", repository, f"{path}?{asked}")
            listed = found.get(items) if items and isinstance(found, dict) else found
            for each in listed if isinstance(listed, list) else ():
                yield each
            if not isinstance(listed, list) or len(listed) < _PAGE:
                return

    async def find(self, repository: str, path: str, holds: Callable[[Json], bool], items: str = "") -> Json | None:
        async for each in self.pages(repository, path, items):
            if holds(each):
                return each
        return None


def _headers(token: str) -> dict[str, str]:
    return {
        "Authorization": f"Bearer {token}",
        "Accept": "application/vnd.github+json",
        "Content-Type": "application/json",
        "X-GitHub-Api-Version": "2022-11-28",
    }
