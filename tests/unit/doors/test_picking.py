"""An issue of Linear is picked once, and gets its session, whatever happens between the two."""

import json
from pathlib import Path
from typing import Any

import pytest

from sidecar.doors.deliveries import Deliveries
from sidecar.doors.http import DoorsHttp, NotSent
from sidecar.doors.linear import LinearApi
from sidecar.doors.linear_picker import LinearPicker, PickedIssues
from sidecar.doors.settings import LinearPick
from sidecar.doors.store import DoorsStore
from tests.unit.doors.test_http import answer, server

ISSUE = {"id": "i1", "identifier": "ENG-1", "priority": 1, "createdAt": "2026", "state": {"type": "unstarted"}}


class Idle:
    """A sidecar at rest."""

    def tasks(self, **query: Any) -> list[Any]:
        return []


def data(**found: Any) -> bytes:
    return answer("200 OK", body=json.dumps({"data": found}).encode())


LISTED = data(issues={"nodes": [ISSUE]})
CREATED = data(agentSessionCreateOnIssue={"success": True, "agentSession": {"id": "s1"}})


def sessions(*found: tuple[str, str, str]) -> bytes:
    nodes = [{"id": name, "issue": {"id": issue}, "appUser": {"id": user}} for name, issue, user in found]
    return data(viewer={"id": "us"}, agentSessions={"nodes": nodes})


async def pick(file: Path, *answers: bytes) -> tuple[str, int, list[str]]:
    """What one life of the doors picks, how many requests that takes, and the subjects of its deliveries."""
    store, http = DoorsStore(file), DoorsHttp()
    deliveries = Deliveries(store)
    try:
        async with server(*answers) as (url, heads):
            idle: Any = Idle
            picker = LinearPicker(
                LinearApi(http, "t", url), LinearPick(team="ENG"), deliveries, PickedIssues(store), idle, lambda: None
            )
            try:
                picked = await picker.pick_one()
            except NotSent:
                picked = "failed"
            return picked, len(heads), [each.subject for each in await deliveries.due(10)]
    finally:
        await http.close()
        await store.close()


LOST = pytest.mark.parametrize("lost", [b"", answer("502 Bad Gateway")], ids=["no answer", "outage"])


@LOST
async def test_a_session_whose_answer_got_lost_is_found_and_not_created_again(tmp_path: Path, lost: bytes) -> None:
    file = tmp_path / "doors.db"
    assert await pick(file, LISTED, lost) == ("failed", 2, [])
    others = [("s7", "i7", "us"), ("s8", "i1", "someone else")]
    # The next life finds it, and takes no other issue while that one waits.
    assert await pick(file, sessions(*others, ("s1", "i1", "us"))) == ("", 1, ["linear:s1"])


@LOST
async def test_a_session_that_was_never_created_is_created_by_the_next_life(tmp_path: Path, lost: bytes) -> None:
    file = tmp_path / "doors.db"
    assert await pick(file, LISTED, lost) == ("failed", 2, [])
    assert await pick(file, sessions(("s8", "i1", "someone else")), lost) == ("failed", 2, [])
    assert await pick(file, sessions(), CREATED) == ("", 2, ["linear:s1"])


async def test_an_issue_that_linear_refuses_for_good_is_not_asked_for_again(tmp_path: Path) -> None:
    file = tmp_path / "doors.db"
    refused = answer("400 Bad Request", body=json.dumps({"errors": [{"message": "Entity not found"}]}).encode())
    assert await pick(file, LISTED, refused) == ("failed", 2, [])
    assert await pick(file, LISTED) == ("", 1, [])


async def test_a_picked_issue_is_not_picked_again(tmp_path: Path) -> None:
    file = tmp_path / "doors.db"
    assert await pick(file, LISTED, CREATED) == ("ENG-1", 2, ["linear:s1"])
    assert await pick(file) == ("", 0, ["linear:s1"])
