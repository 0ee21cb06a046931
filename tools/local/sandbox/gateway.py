"""A way out of a sandbox without network, to the hosts that you granted by name and to no other.

A small program inside opens a port on the sandbox's own loopback, hands the listening socket out to us, and becomes the
command. We serve an HTTP proxy on it: names are compared, resolved and connected out here, so the command can't choose
an address.
"""

import array
import asyncio
import ipaddress
import re
import socket
import sys
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import urlsplit

#: Sends its listening socket through the handle in its first argument, then becomes the command after it.
_OPENER = """
import array, os, socket, sys
listening = socket.create_server(("127.0.0.1", 0))
control = socket.socket(fileno=int(sys.argv[1]))
control.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [listening.fileno()]))])
control.close()
address = "http://127.0.0.1:%d" % listening.getsockname()[1]
listening.close()
for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
    os.environ[name] = address
os.execvp(sys.argv[2], sys.argv[2:])
"""
_LOCAL = ("localhost", "127.0.0.1", "::1")
_MAX_HEAD = 16_384
_MAX_CONNECTIONS = 64
_HEAD_SECONDS = 20.0
_CONNECT_SECONDS = 30.0
_IDLE_SECONDS = 300.0
_CHUNK = 65_536
_PORTS = {"http": 80, "https": 443}
_BODY = re.compile(rb"\r\n(?:content-length|transfer-encoding)\s*:", re.IGNORECASE)


class Upstream(NamedTuple):
    """Where a request goes, and a header that it gets on the way."""

    name: str
    port: int
    secure: bool = False
    header: tuple[str, str] | None = None


class HostProxy:
    """An HTTP proxy to some hosts and to no others. `close` ends its connections."""

    def __init__(self) -> None:
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    def upstream(self, name: str, port: int, head: bytes, *, tunnel: bool) -> Upstream | None:
        """`None` refuses the host."""
        raise NotImplementedError

    def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for connection in self._connections:
            connection.cancel()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        if len(self._connections) >= _MAX_CONNECTIONS:
            writer.close()
            return
        self._connections.add(task)
        try:
            # Only `close` cancels it. asyncio would log a stream's cancelled task as an error.
            with suppress(asyncio.CancelledError):
                await self._relay(reader, writer)
        except* (OSError, TimeoutError, ValueError, EOFError, asyncio.LimitOverrunError):
            pass  # the command sees a closed connection
        finally:
            self._connections.discard(task)
            writer.close()

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(_HEAD_SECONDS):
            head = await reader.readuntil(b"\r\n\r\n")
        method, target, version = head.split(b"\r\n", 1)[0].decode("ascii").split(" ")
        secure = method == "CONNECT"
        url = urlsplit(f"//{target}" if secure else target)
        name, port = plain_host(url.hostname or ""), url.port or _PORTS.get(url.scheme, 443)
        to = None if not secure and url.scheme != "http" else self.upstream(name, port, head, tunnel=secure)
        if to is None:
            writer.write(_refusal(name))
            await writer.drain()
            return
        async with asyncio.timeout(_CONNECT_SECONDS):
            address = await _resolve(to.name, to.port)
            if address is None:
                writer.write(_answer("502 Bad Gateway", f"{name} has no address that may be reached.\n"))
                await writer.drain()
                return
            there, out = await asyncio.open_connection(
                *address, ssl=to.secure or None, server_hostname=to.name if to.secure else None
            )
        try:
            if secure:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                path = url._replace(scheme="", netloc="").geturl() or "/"
                # One request for each connection: the next one may name another host.
                out.write(f"{method} {path} {version}\r\n".encode() + _plain_headers(head, to.header))
            if secure or _BODY.search(head):
                await _both_ways(reader, writer, there, out)
            else:
                # What follows is another request; a server that closes before it is read takes its answer back.
                await _copy(there, writer)
        finally:
            out.close()


class Gateway(HostProxy):
    """One for each command. Its sockets close with `close`."""

    def __init__(self, hosts: Collection[str]) -> None:
        super().__init__()
        self._hosts = frozenset(map(plain_host, hosts))
        self._outside, self._inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self._outside.setblocking(False)

    def upstream(self, name: str, port: int, head: bytes, *, tunnel: bool) -> Upstream | None:
        return Upstream(name, port) if name in self._hosts else None

    def hand_over(self) -> int:
        """What the command inherits. The caller closes it, even if the start fails."""
        return self._inside.detach()

    def wrap(self, argv: Sequence[str]) -> list[str]:
        return [sys.executable, "-I", "-S", "-c", _OPENER, str(self._inside.fileno()), *argv]

    def environment(self, environment: Mapping[str, str]) -> dict[str, str]:
        direct = [name for name in _LOCAL if name not in self._hosts]
        return {**environment, "NO_PROXY": ",".join(direct), "no_proxy": ",".join(direct), "NODE_USE_ENV_PROXY": "1"}

    def start(self) -> None:
        """In the event loop, after the command was started."""
        asyncio.get_running_loop().add_reader(self._outside, self._receive)

    def close(self) -> None:
        if self._outside.fileno() >= 0:
            asyncio.get_running_loop().remove_reader(self._outside)
            self._outside.close()
        super().close()

    def _receive(self) -> None:
        """The listening socket arrives, or the command ended before it was made."""
        asyncio.get_running_loop().remove_reader(self._outside)
        handles = array.array("i")
        try:
            _, parts, _, _ = self._outside.recvmsg(1, socket.CMSG_SPACE(handles.itemsize))
        except OSError:
            return
        for level, kind, data in parts:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                handles.frombytes(data[: len(data) - len(data) % handles.itemsize])
        for handle in handles:
            listening = socket.socket(fileno=handle)
            listening.setblocking(False)
            serving = asyncio.create_task(self._serve(listening), name="gateway")
            self._connections.add(serving)
            serving.add_done_callback(self._connections.discard)
            return

    async def _serve(self, listening: socket.socket) -> None:
        self._server = await asyncio.start_server(self._connected, sock=listening, limit=_MAX_HEAD)


def plain_host(name: str) -> str:
    return name.lower().rstrip(".")


def _plain_headers(head: bytes, added: tuple[str, str] | None) -> bytes:
    dropped = [b"proxy-", b"connection:", b"keep-alive:", *([added[0].lower().encode() + b":"] if added else ())]
    lines = [line for line in head.split(b"\r\n")[1:] if line and not line.lower().startswith(tuple(dropped))]
    given = [f"{added[0]}: {added[1]}".encode()] if added else []
    return b"\r\n".join([*lines, *given, b"Connection: close", b"", b""])


def _refusal(name: str) -> bytes:
    shown = "".join(char for char in name if char.isalnum() or char in ".-")[:253]
    text = f"{shown} is not among the hosts that you granted. Grant it: brain policy allow-host {shown}\n"
    return _answer("403 Forbidden", text)


def _answer(status: str, text: str) -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len(text)}\r\nConnection: close\r\n\r\n"
    return f"{head}{text}".encode("ascii", "replace")


async def _resolve(name: str, port: int) -> tuple[str, int] | None:
    """An address of that name. A name of the outside never leads to this machine, or to a metadata service."""
    found = await asyncio.get_running_loop().getaddrinfo(name, port, type=socket.SOCK_STREAM)
    for _, _, _, _, address in found:
        place = ipaddress.ip_address(str(address[0]).partition("%")[0])
        mapped = getattr(place, "ipv4_mapped", None) or place
        own = mapped.is_loopback or mapped.is_link_local or mapped.is_unspecified or mapped.is_multicast
        if not own or (name == "localhost" and mapped.is_loopback):
            return str(address[0]), port
    return None


async def _both_ways(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, there: asyncio.StreamReader, out: asyncio.StreamWriter
) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(_copy(reader, out))
        group.create_task(_copy(there, writer))


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while True:
        async with asyncio.timeout(_IDLE_SECONDS):
            data = await source.read(_CHUNK)
        if not data:
            break
        target.write(data)
        await target.drain()
    if target.can_write_eof():
        target.write_eof()
