"""An issue of Linear is picked once, whatever happens between the pick and its session."""

import json
from pathlib import Path
from typing import Any

import pytest

from sidecar.doors.deliveries import Deliveries
from sidecar.doors.http import DoorsHttp, NotSent
from sidecar.doors.linear_api import LinearApi
from sidecar.doors.linear_picker import LinearPicker
from sidecar.doors.settings import LinearPick
from sidecar.doors.store import DoorsStore
from tests.unit.doors.test_http import answer, server

ISSUE = {"id": "i1", "identifier": "ENG-1", "priority": 1, "createdAt": "2026", "state": {"type": "unstarted"}}


class Idle:
    """A sidecar at rest."""

    def tasks(self, **query: Any) -> list[Any]:
        return []


async def pick(file: Path, *answers: bytes) -> tuple[str, int]:
    """What one life of the doors picks, and how many requests that takes."""
    store, http = DoorsStore(file), DoorsHttp()
    try:
        async with server(*answers) as (url, heads):
            idle: Any = Idle
            picker = LinearPicker(
                LinearApi(http, "t", url), LinearPick(team="ENG"), Deliveries(store), idle, lambda: None
            )
            try:
                return await picker.pick_one(), len(heads)
            except NotSent:
                return "failed", len(heads)
    finally:
        await http.close()
        await store.close()


@pytest.mark.parametrize("lost", [b"", answer("502 Bad Gateway")], ids=["no answer", "outage"])
async def test_a_break_between_the_pick_and_its_session_takes_no_issue_twice(tmp_path: Path, lost: bytes) -> None:
    listed = answer("200 OK", body=json.dumps({"data": {"issues": {"nodes": [ISSUE]}}}).encode())
    assert await pick(tmp_path / "doors.db", listed, lost) == ("failed", 2)
    # The next life sees the same issue, and asks for no second session.
    assert await pick(tmp_path / "doors.db", listed) == ("", 1)
