"""S30: fetch_url dials only what was checked. Names resolve to loopback here, so the guard is told to allow that."""

import asyncio
import gzip
import ipaddress
import socket
from typing import Any

import pytest

from tests.contract.servers.http import Answer, a_server
from tools.errors import ToolError
from tools.public_web import Address, PublicWeb


def loopback(address: Address) -> bool:
    return address.is_loopback


async def test_s30_a_private_address_is_never_dialled() -> None:
    with a_server() as server:
        for host in ("127.0.0.1", "localhost", "[::1]", "127.1"):
            url = f"http://{host}:{server.url.rpartition(':')[2]}/"
            with pytest.raises(ToolError) as refused:
                await PublicWeb().get(url, 1_000)
            assert refused.value.code in ("private_address", "no_host")
        assert not server.seen


async def test_s30_a_name_that_changes_its_address_after_the_check_gains_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The name is looked up once, and what was checked is dialled."""
    asked: list[str] = []

    async def getaddrinfo(host: str, port: int, **_: Any) -> list[Any]:
        asked.append(host)
        found = "127.0.0.1" if len(asked) == 1 else "10.0.0.1"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (found, port))]

    with a_server() as server:
        server.plays(Answer([b"hello"], content_type="text/plain"))
        monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo)
        port = server.url.rpartition(":")[2]
        page = await PublicWeb(lambda address: address == ipaddress.ip_address("127.0.0.1")).get(
            f"http://rebind.example:{port}/messages", 1_000
        )
    assert page.body == b"hello"
    assert asked[0] == "rebind.example"
    assert "rebind.example" not in asked[1:], "a second lookup could give another address"


async def test_s30_a_name_with_a_public_and_a_private_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    async def getaddrinfo(host: str, port: int, **_: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port)) for each in ("93.184.216.34", "127.0.0.1")]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo)
    with pytest.raises(ToolError) as refused:
        await PublicWeb().get("http://mixed.example/", 1_000)
    assert refused.value.code == "private_address"


async def test_s30_a_redirect_to_another_host_is_not_followed() -> None:
    with a_server() as server:
        server.plays(Answer([b""], status=302, headers={"Location": "http://169.254.169.254/latest/meta-data"}))
        with pytest.raises(ToolError) as refused:
            await PublicWeb(loopback).get(f"{server.url}/messages", 1_000)
    assert refused.value.code == "redirected"
    assert "169.254.169.254" in refused.value.message


async def test_what_is_not_text_or_too_long_is_refused_or_cut() -> None:
    with a_server() as server:
        server.plays(
            Answer([b"\x89PNG"], content_type="image/png"),
            Answer([b"x" * 5_000], content_type="text/plain"),
            Answer([gzip.compress(b"0" * 50_000_000)], content_type="text/plain", headers={"Content-Encoding": "gzip"}),
        )
        with pytest.raises(ToolError) as refused:
            await PublicWeb(loopback).get(f"{server.url}/messages", 1_000)
        assert refused.value.code == "not_text"
        for _ in range(2):
            page = await PublicWeb(loopback).get(f"{server.url}/messages", 1_000)
            assert (len(page.body), page.cut) == (1_000, True)
