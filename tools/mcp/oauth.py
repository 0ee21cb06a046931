"""OAuth for remote servers. You sign in with `brain mcp login`; the sidecar then uses and renews the stored tokens."""

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from sidecar.config.paths import write_private
from tools.mcp.entry import ServerEntry

_SIGN_IN_SECONDS = 300.0
_MAX_REQUEST = 16_384
_PAGE = (
    "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Security-Policy: default-src 'none'\r\n"
    "Connection: close\r\n\r\n<p>You can close this page and go back.</p>"
)

Redirect = Callable[[str], Awaitable[None]]
Callback = Callable[[], Awaitable[Any]]


class SignInNeeded(Exception):
    pass


class TokenFile:
    """Tokens and the registration of one server, in a private file of the data directory."""

    def __init__(self, data_dir: Path, entry: ServerEntry) -> None:
        name = hashlib.sha256(entry.url.encode()).hexdigest()[:24]
        self._file = data_dir / "mcp-tokens" / f"{name}.json"
        self._entry = entry

    async def get_tokens(self) -> Any:
        from mcp.shared.auth import OAuthToken

        found = self._read().get("tokens")
        return OAuthToken.model_validate(found) if found else None

    async def set_tokens(self, tokens: Any) -> None:
        self._write(tokens=tokens.model_dump(mode="json", exclude_none=True))

    async def get_client_info(self) -> Any:
        from mcp.shared.auth import OAuthClientInformationFull

        found = self._read().get("client")
        if found is None and (own := self._entry.oauth.get("clientId")):
            secret = self._entry.oauth.get("clientSecret")
            found = {"client_id": own, "redirect_uris": None}
            if secret:
                found |= {"client_secret": secret, "token_endpoint_auth_method": "client_secret_basic"}
        return OAuthClientInformationFull.model_validate(found) if found else None

    async def set_client_info(self, client_info: Any) -> None:
        self._write(client=client_info.model_dump(mode="json", exclude_none=True))

    def forget(self) -> None:
        self._file.unlink(missing_ok=True)

    def _read(self) -> dict[str, Any]:
        try:
            found = json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _write(self, **change: Any) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_private(self._file, json.dumps({**self._read(), **change}))


def make_auth(entry: ServerEntry, data_dir: Path) -> Any:
    """For the sidecar: it uses stored tokens, and never opens a browser. `None` if the entry has a header for it."""
    if any(name.lower() == "authorization" for name in entry.headers):
        return None

    async def refuse(url: str) -> None:
        raise SignInNeeded(f"It wants you to sign in: brain mcp login {entry.name}")

    async def never() -> Any:
        raise SignInNeeded(f"It wants you to sign in: brain mcp login {entry.name}")

    return provider(entry, TokenFile(data_dir, entry), "http://127.0.0.1/callback", refuse, never)


def provider(entry: ServerEntry, storage: Any, address: str, redirect: Redirect, callback: Callback) -> Any:
    from mcp.client.auth import OAuthClientProvider
    from mcp.shared.auth import OAuthClientMetadata

    metadata = OAuthClientMetadata(
        client_name="Rainy Brain", redirect_uris=[address], scope=entry.oauth.get("scopes") or None
    )
    return OAuthClientProvider(
        entry.url,
        metadata,
        storage,
        redirect,
        callback,
        client_metadata_url=entry.oauth.get("clientMetadataUrl") or None,
    )


class SignIn:
    """One sign-in: waits on a loopback port for the browser to come back. The SDK checks state and issuer."""

    def __init__(self, entry: ServerEntry, data_dir: Path, show: Callable[[str], None]) -> None:
        self._entry = entry
        self._storage = TokenFile(data_dir, entry)
        self._show = show

    async def run(self) -> int:
        """The number of tools, as a proof that it worked."""
        from mcp import Client

        from tools.mcp.http import http_streams

        self._redirected: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        server = await asyncio.start_server(self._answer, "127.0.0.1", 0, limit=_MAX_REQUEST)
        port = server.sockets[0].getsockname()[1]
        self._storage.forget()
        auth = provider(self._entry, self._storage, f"http://127.0.0.1:{port}/callback", self._redirect, self._callback)
        async with server, Client(http_streams(self._entry, auth), cache=None) as client:
            return len((await client.list_tools()).tools)

    async def _redirect(self, url: str) -> None:
        self._show(url)

    async def _callback(self) -> Any:
        async with asyncio.timeout(_SIGN_IN_SECONDS):
            return await self._redirected

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from mcp.shared.auth import AuthorizationCodeResult

        try:
            async with asyncio.timeout(10):
                line = (await reader.readline()).decode("latin-1").split(" ")
            target = urlsplit(line[1] if len(line) > 1 else "")
            query = {name: values[0] for name, values in parse_qs(target.query).items()}
            if line[0] == "GET" and target.path == "/callback" and not self._redirected.done():
                self._redirected.set_result(
                    AuthorizationCodeResult(code=query.get("code", ""), state=query.get("state"), iss=query.get("iss"))
                )
            writer.write(_PAGE.encode())
            await writer.drain()
        except (OSError, TimeoutError, ValueError):
            pass
        finally:
            writer.close()
