"""The HTTP client of the doors, against servers that behave badly."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from sidecar.doors.github_api import PERMISSIONS, GithubApi, GithubAuth
from sidecar.doors.github_comments import GithubComments
from sidecar.doors.http import Answer, DoorsHttp, NotSent, rest_of
from sidecar.doors.outbox import OutboxMessage
from sidecar.doors.process import pause_before


@asynccontextmanager
async def server(*answers: bytes) -> AsyncIterator[tuple[str, list[bytes]]]:
    """Each connection gets the next answer, the last one again and again."""
    heads: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(answers[min(len(heads), len(answers)) - 1])
        writer.close()

    serving = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with serving:
        yield f"http://127.0.0.1:{serving.sockets[0].getsockname()[1]}", heads


def answer(status: str, *headers: str, body: bytes = b"{}") -> bytes:
    lines = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}", "Connection: close", "", ""]
    return "\r\n".join(lines).encode() + body


@pytest.fixture
async def http() -> AsyncIterator[DoorsHttp]:
    client = DoorsHttp()
    yield client
    await client.close()


async def test_a_redirect_is_not_followed_and_no_cookie_is_kept(http: DoorsHttp) -> None:
    async with (
        server(b"") as (other, reached),
        server(answer("302 Found", f"Location: {other}/", "Set-Cookie: a=b; Path=/"), answer("200 OK")) as (url, heads),
    ):
        with pytest.raises(NotSent) as refused:
            await http.request("GET", url, {"Authorization": "Bearer canary"})
        assert refused.value.again is None and refused.value.status == 302
        assert (await http.request("GET", url)).json() == {}
        assert reached == [] and b"ookie" not in heads[1]


async def test_a_server_that_asks_for_a_rest_is_left_alone_by_every_letter(http: DoorsHttp) -> None:
    async with server(answer("429 Too Many Requests", "Retry-After: 120")) as (url, heads):
        for path in ("/one", "/two"):
            with pytest.raises(NotSent) as refused:
                await http.request("POST", url + path, body=b"{}")
            assert 110 < (refused.value.again or 0) <= 120
        assert len(heads) == 1


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (answer("200 OK", body=b"x" * (8 * 1024 * 1024 + 1)), "too long"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", "Error"),
        (b"not http at all\r\n\r\n", "Error"),
        (b"", "Error"),
    ],
)
async def test_answers_that_are_too_long_cut_off_or_nonsense_are_refusals(
    http: DoorsHttp, sent: bytes, why: str
) -> None:
    async with server(sent) as (url, _):
        with pytest.raises(NotSent, match=why):
            await http.request("GET", url)


async def test_an_answer_that_is_not_json_is_a_refusal(http: DoorsHttp) -> None:
    async with server(answer("200 OK", body=b"<html>")) as (url, _):
        with pytest.raises(NotSent, match="not JSON"):
            (await http.request("GET", url)).json()


async def test_no_proxy_of_the_environment_sees_a_token(http: DoorsHttp, monkeypatch: pytest.MonkeyPatch) -> None:
    async with server(b"") as (proxy, reached), server(answer("200 OK")) as (url, _):
        monkeypatch.setenv("http_proxy", proxy)
        await http.request("GET", url)
        assert reached == []


def test_the_limits_of_github_say_how_long_to_wait() -> None:
    secondary = b'{"message": "You have exceeded a secondary rate limit."}'
    for status, headers, body, rest in (
        (403, {"retry-after": "30"}, b"", 30.0),
        (429, {"retry-after": "Thu, 01 Jan 1970 00:16:45 GMT"}, b"", 5.0),
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1100"}, b"", 100.0),
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "9" * 40}, b"", 3_600.0),
        (403, {}, secondary, 60.0),
        (429, {"retry-after": "soon"}, b"", 60.0),
        (403, {}, b"Resource not accessible", None),
        (200, {"retry-after": "9"}, b"", None),
    ):
        assert rest_of(Answer(status, headers, body), 1_000.0) == rest, (status, headers)


def test_attempts_are_spread_and_never_earlier_than_the_server_asks() -> None:
    pauses = {pause_before(3, 1.0) for _ in range(20)}
    assert len(pauses) > 1 and all(8 <= pause <= 10 for pause in pauses)
    assert pause_before(0, 500.0) >= 500
    assert pause_before(1_000, 1.0) <= 3_600 * 1.25


async def test_a_comment_whose_answer_got_lost_is_found_and_not_posted_again(http: DoorsHttp) -> None:
    letter = OutboxMessage(1, "github.t.4", "github:acme/shop#7", "Done.", attempts=1)
    there = json.dumps([{"body": "Done.\n\n<!-- github.t.4 -->"}]).encode()
    other = json.dumps([{"body": "<!-- github.t.40 -->"}]).encode()
    for found, methods in ((there, [b"GET"]), (other, [b"GET", b"POST"])):
        async with server(answer("200 OK", body=found), answer("201 Created")) as (url, heads):
            await GithubComments(GithubApi(http, GithubAuth(http, url, "token"), url)).send(letter)
            assert [head.split()[0] for head in heads] == methods


async def test_an_app_asks_for_a_token_of_one_repository_with_few_permissions(http: DoorsHttp, tmp_path: Path) -> None:
    key = tmp_path / "app.pem"
    auth = GithubAuth(http, "http://127.0.0.1:1", app="1", key_file=str(key))
    with pytest.raises(NotSent, match="can't be used") as refused:
        await auth.token("acme/shop")
    assert str(key) not in str(refused.value) and refused.value.again == 60
    assert set(PERMISSIONS) == {"checks", "contents", "issues", "metadata", "pull_requests"}
