"""The HTTP API of Docker, as Docker and Podman serve it on a Unix socket: what sandboxes need of it."""

import asyncio
import io
import json
import os
import tarfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tools.sandboxes.port import SandboxError, SandboxOutput, too_long

if TYPE_CHECKING:
    import aiohttp

#: Docker 20.10 and Podman 3 have it.
_VERSION = "v1.41"
_MAX_ANSWER = 8 * 1024 * 1024
_SECONDS = 60.0
#: One frame of output: its stream, three empty bytes, its length.
_HEAD = 8


def find_socket(configured: str) -> str | None:
    if configured:
        return configured if Path(configured).is_socket() else None
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    places = ["/var/run/docker.sock", f"{runtime}/podman/podman.sock", "/run/podman/podman.sock"]
    return next((place for place in places if place.startswith("/") and Path(place).is_socket()), None)


class ContainerEngine:
    """Raises `SandboxError` with what the engine says."""

    def __init__(self, socket: str) -> None:
        self.socket = socket
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def call(self, method: str, path: str, body: object = None, *, missing: Any = None, **query: str) -> Any:
        """The parsed answer; `missing`, if given, for one that isn't there."""
        data = None if body is None else json.dumps(body).encode()
        async with self._request(method, path, data, "application/json", query) as response:
            content = await _read(response, _MAX_ANSWER)
            if response.status == 404 and missing is not None:
                return missing
            _check(response.status, content, path)
            return json.loads(content) if content.strip() else None

    async def put_file(self, container: str, folder: str, name: str, content: bytes) -> None:
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), 0o600
            archive.addfile(entry, io.BytesIO(content))
        path = f"/containers/{container}/archive"
        async with self._request("PUT", path, buffer.getvalue(), "application/x-tar", {"path": folder}) as response:
            _check(response.status, await _read(response, _MAX_ANSWER), path)

    async def get_file(self, container: str, place: str, limit: int) -> bytes:
        path = f"/containers/{container}/archive"
        async with self._request("GET", path, None, "", {"path": place}) as response:
            content = await _read(response, limit + 1024 * 1024)
            _check(response.status, content, path)
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as archive:
            for entry in archive:
                if entry.isreg() and (file := archive.extractfile(entry)) is not None:
                    if entry.size > limit:
                        raise too_long(limit)
                    return file.read()
        raise SandboxError(f"The sandbox has no file {place}.")

    async def run(
        self, container: str, argv: Sequence[str], cwd: str, environment: Mapping[str, str], output: SandboxOutput
    ) -> int:
        made = await self.call(
            "POST",
            f"/containers/{container}/exec",
            {
                "Cmd": list(argv),
                "WorkingDir": cwd,
                "Env": [f"{name}={value}" for name, value in environment.items()],
                "AttachStdout": True,
                "AttachStderr": True,
            },
        )
        path = f"/exec/{quote(made['Id'])}"
        body = json.dumps({"Detach": False, "Tty": False}).encode()
        async with self._request("POST", f"{path}/start", body, "application/json", {}, endless=True) as response:
            if response.status >= 400:
                _check(response.status, await _read(response, _MAX_ANSWER), path)
            await _frames(response, output)
        code = (await self.call("GET", f"{path}/json")).get("ExitCode")
        return int(code) if code is not None else -1

    @asynccontextmanager
    async def _request(
        self, method: str, path: str, data: bytes | None, kind: str, query: Mapping[str, str], *, endless: bool = False
    ) -> "AsyncIterator[aiohttp.ClientResponse]":
        import aiohttp

        if self._session is None:
            connector = aiohttp.UnixConnector(self.socket, force_close=True)
            self._session = aiohttp.ClientSession(connector=connector, trust_env=False)
        limits = aiohttp.ClientTimeout(total=None if endless else _SECONDS, sock_connect=_SECONDS)
        headers = {"Content-Type": kind} if kind else {}
        url = f"http://engine/{_VERSION}{path}"
        try:
            async with self._session.request(
                method, url, data=data, headers=headers, params=query, timeout=limits
            ) as response:
                yield response
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise SandboxError(f"The container engine at {self.socket} doesn't answer: {error}.") from error
        except (ValueError, tarfile.TarError) as error:
            raise SandboxError(f"The container engine at {self.socket} sent what can't be read: {error}.") from error


async def _read(response: "aiohttp.ClientResponse", limit: int) -> bytes:
    content = bytearray()
    async for chunk in response.content.iter_chunked(1 << 18):
        content += chunk
        if len(content) > limit:
            raise too_long(limit)
    return bytes(content)


async def _frames(response: "aiohttp.ClientResponse", output: SandboxOutput) -> None:
    reader = response.content
    try:
        while True:
            head = await reader.readexactly(_HEAD)
            left = int.from_bytes(head[4:], "big")
            while left:
                data = await reader.read(min(left, 1 << 16))
                if not data:
                    return
                left -= len(data)
                output(2 if head[0] == 2 else 1, data)
    except asyncio.IncompleteReadError:
        return


def _check(status: int, content: bytes, path: str) -> None:
    if status < 400:
        return
    try:
        said = json.loads(content)
        why = said.get("message") or said.get("cause") or ""
    except (ValueError, AttributeError):
        why = content[:500].decode("utf-8", "replace")
    raise SandboxError(f"The container engine refused {path.split('/')[1]}: {str(why)[:500] or status}")
