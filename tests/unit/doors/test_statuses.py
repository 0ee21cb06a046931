"""A commit status where a plain token can't add check runs."""

import json
from typing import Any

import pytest

from sidecar.doors.github_api import GithubApi, GithubAuth
from sidecar.doors.http import DoorsHttp, NotSent
from sidecar.doors.pulls import PullChannel
from sidecar.doors.works import Work
from tests.unit.doors.test_http import answer, server

WORK = Work("github:acme/shop#1", "acme/shop", "/clone", "/shop", "main", "brain/issue-1", "a" * 40, 2)
STATUS = {"state": "success", "context": "rainy-brain", "description": "Checks passed"}


def complete(passed: bool | None) -> dict[str, Any]:
    return {"result": {"verification": None if passed is None else {"passed": passed, "checks": [{}]}}}


async def add(passed: bool | None, *answers: bytes) -> list[bytes]:
    async with server(*answers) as (url, heads):
        http = DoorsHttp()
        try:
            api = GithubApi(http, GithubAuth(http, url, "token"), url)
            unused: Any = None
            await PullChannel(api, unused, unused, unused).add_status(WORK, complete(passed))
        finally:
            await http.close()
        return [head.split(b"\r\n")[0] for head in heads]


async def test_it_is_added_once_and_not_for_what_no_one_checked() -> None:
    listed, posted = answer("200 OK", body=b"[]"), answer("201 Created")
    path = f"/repos/acme/shop/statuses/{WORK.head}".encode()
    assert (await add(True, listed, posted))[1:] == [b"POST " + path + b" HTTP/1.1"]
    assert len(await add(True, answer("200 OK", body=json.dumps([STATUS]).encode()))) == 1
    assert len(await add(False, answer("200 OK", body=json.dumps([STATUS]).encode()), posted)) == 2
    assert await add(None, posted) == []


async def test_a_token_without_the_right_holds_nothing_up_and_an_outage_is_tried_again() -> None:
    listed = answer("200 OK", body=b"[]")
    assert len(await add(True, listed, answer("403 Forbidden"))) == 2
    with pytest.raises(NotSent) as outage:
        await add(True, listed, answer("502 Bad Gateway"))
    assert outage.value.again
