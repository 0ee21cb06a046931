"""Reads a text from the public web, and nothing else: the address that was checked is the one that is dialled."""

import asyncio
import ipaddress
import socket
import ssl
import zlib
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple
from urllib.parse import SplitResult, urljoin, urlsplit

from tools.errors import ToolError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_REDIRECTS = 5
_SECONDS = 20.0
_TEXTS = ("text/", "application/json", "application/xml", "application/javascript", "application/x-yaml")
_TEXT_SUFFIXES = ("+json", "+xml", "/yaml", "/toml")


class WebPage(NamedTuple):
    url: str
    status: int
    content_type: str
    body: bytes
    #: There is more than the limit allows.
    cut: bool


def parse_url(url: str) -> SplitResult:
    """Only http and https, a host, and no password."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError as error:
        raise ToolError(f"{url[:200]} is not a URL: {error}.", code="bad_url") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise ToolError("Only http and https URLs with a host can be fetched.", code="bad_url")
    if parts.username or parts.password:
        raise ToolError("A URL with a user name or password is not fetched.", code="bad_url")
    if any(ord(letter) <= 32 or ord(letter) == 127 for letter in url.strip()):
        raise ToolError("The URL contains spaces or control characters.", code="bad_url")
    return parts


def is_public(address: Address) -> bool:
    """Whether it belongs to the public internet, also if it wraps another address."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        if address.sixtofour is not None:
            return is_public(address.sixtofour)
        if address.teredo is not None:
            return False
        if address in _NAT64:
            return is_public(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
        if address.is_site_local:
            return False
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)


def literal_address(host: str) -> Address | None:
    """The address that a host is written as; None for a name."""
    try:
        return ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        pass
    try:
        # Also 127.1, 0x7f.1 and 2130706433, as the C library reads them.
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except OSError:
        return None


def private_name(host: str) -> str:
    """Why a host can't be public, as far as its name tells; else empty."""
    name = host.rstrip(".").lower()
    address = literal_address(name)
    if address is not None and not is_public(address):
        return f"{host} is an address of this machine or of a private network"
    if name == "localhost" or name.endswith((".localhost", ".local", ".internal", ".home.arpa")) or "." not in name:
        return f"{host} is a name of this machine or of a private network" if address is None else ""
    return ""


class PublicWeb:
    def __init__(self, allowed: Callable[[Address], bool] = is_public) -> None:
        self._allowed = allowed

    async def get(self, url: str, limit: int) -> WebPage:
        """Follows redirects on the same host only; another host is another decision."""
        try:
            async with asyncio.timeout(_SECONDS):
                return await self._get(url, limit)
        except TimeoutError:
            raise ToolError(f"{url[:200]} did not answer within {_SECONDS:g} s.", code="timed_out") from None

    async def _get(self, url: str, limit: int) -> WebPage:
        import httpcore

        host = parse_url(url).hostname
        for _ in range(_REDIRECTS):
            try:
                async with httpcore.AsyncConnectionPool(
                    ssl_context=ssl.create_default_context(), network_backend=self._backend()
                ) as pool:
                    page, target = await self._one(pool, url, limit)
            except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException, ssl.SSLError) as error:
                raise ToolError(
                    f"{url[:200]} can't be read: {error or type(error).__name__}.", code="fetch_failed"
                ) from error
            if not target:
                return page
            following = urljoin(url, target)
            if parse_url(following).hostname != host:
                raise ToolError(
                    f"{url[:200]} redirects to another host: {following[:500]}",
                    code="redirected",
                    advice="Fetch that URL if you need it.",
                )
            url = following
        raise ToolError(f"{url[:200]} redirects too often.", code="fetch_failed")

    async def _one(self, pool: Any, url: str, limit: int) -> tuple[WebPage, str]:
        headers = {
            "Host": parse_url(url).netloc,
            "Accept": "text/*, application/json",
            "Accept-Encoding": "identity",
            "User-Agent": "rainy-brain",
        }
        async with pool.stream("GET", url, headers=list(headers.items())) as response:
            given = {name.lower().decode("latin-1"): value.decode("latin-1") for name, value in response.headers}
            if response.status in (301, 302, 303, 307, 308) and given.get("location"):
                return WebPage(url, response.status, "", b"", cut=False), given["location"]
            kind = given.get("content-type", "text/plain").partition(";")[0].strip().lower()
            if not kind.startswith(_TEXTS) and not kind.endswith(_TEXT_SUFFIXES):
                raise ToolError(f"{url[:200]} is {kind[:100]}, not text.", code="not_text")
            body, cut = await _read(response, given.get("content-encoding", "identity").lower(), limit)
            return WebPage(url, response.status, given.get("content-type", ""), body, cut), ""

    def _backend(self) -> Any:
        import httpcore

        allowed = self._allowed

        class Checked(httpcore.AsyncNetworkBackend):
            """Dials only an address that it has resolved and checked itself, so a name can't change in between."""

            def __init__(self) -> None:
                self._dial = httpcore.AnyIOBackend()

            async def connect_tcp(
                self,
                host: str,
                port: int,
                timeout: float | None = None,
                local_address: str | None = None,
                socket_options: Iterable[Any] | None = None,
            ) -> httpcore.AsyncNetworkStream:
                address = await resolve(host, port, allowed)
                return await self._dial.connect_tcp(str(address), port, timeout=timeout, socket_options=socket_options)

        return Checked()


async def resolve(host: str, port: int, allowed: Callable[[Address], bool] = is_public) -> Address:
    """The first address of the host, if every one of them is allowed; a name that mixes them is refused."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        raise ToolError(f"There is no host {host[:200]}.", code="no_host") from None
    addresses = [ipaddress.ip_address(str(each[4][0]).partition("%")[0]) for each in found]
    if not addresses or not all(map(allowed, addresses)):
        raise ToolError(
            f"{host[:200]} is on this machine or in a private network, which is never fetched.", code="private_address"
        )
    return addresses[0]


async def _read(response: Any, encoding: str, limit: int) -> tuple[bytes, bool]:
    if encoding not in ("identity", "", "gzip"):
        raise ToolError(f"The server answers in an encoding that wasn't asked for ({encoding[:50]}).", code="not_text")
    unpack = zlib.decompressobj(31) if encoding == "gzip" else None
    body = bytearray()
    async for chunk in response.aiter_stream():
        # A compressed bomb is unpacked only as far as the limit.
        body += unpack.decompress(chunk, limit + 1 - len(body)) if unpack else chunk
        if len(body) > limit:
            return bytes(body[:limit]), True
    return bytes(body), False
