"""Several shells at once: who is asked, and who may come back."""

import pytest

from bridge.session.protocol import TooManyShells
from bridge.session.sidecar import MAX_SHELLS, Sessions
from tests.unit.bridge.frames import call, hello


def test_each_shell_serves_its_own_workspace() -> None:
    sessions = Sessions()
    one, two = sessions.resume(hello("/one")), sessions.resume(hello("/two"))
    one.connect(hello("/one")), two.connect(hello("/two"))
    assert sessions.find_offering("read_file", "/one") is one
    assert sessions.find_offering("read_file", "/two") is two
    assert sessions.find_offering("read_file", "/three") is None
    assert sessions.find_offering("write_file", "/one") is None


def test_of_two_shells_on_a_workspace_the_newer_is_asked() -> None:
    sessions = Sessions()
    older, newer = sessions.resume(hello()), sessions.resume(hello())
    older.connect(hello()), newer.connect(hello())
    assert sessions.find_offering("read_file", "/w") is newer
    newer.disconnect(0.0)
    assert sessions.find_offering("read_file", "/w") is older


def test_a_shell_comes_back_to_its_session() -> None:
    sessions = Sessions()
    first = sessions.resume(hello())
    assert sessions.resume(hello(session=first.id)) is first
    assert len(sessions) == 1


def test_an_unknown_session_is_a_new_one() -> None:
    assert Sessions(new_id=lambda: "new").resume(hello(session="old")).id == "new"


def test_a_session_is_not_carried_into_another_workspace() -> None:
    sessions = Sessions()
    first = sessions.resume(hello("/one"))
    assert sessions.resume(hello("/two", session=first.id)) is not first
    assert len(sessions) == 2


def test_a_call_is_remembered_only_by_a_shell_that_is_there() -> None:
    sessions = Sessions()
    said = hello(remembers=["c1"])
    shell = sessions.resume(said)
    assert sessions.find_remembering("c1") is None
    shell.connect(said)
    assert sessions.find_remembering("c1") is shell and sessions.find_remembering("c2") is None


def test_a_shell_that_stayed_away_is_forgotten() -> None:
    sessions = Sessions(reconnect_seconds=30)
    shell = sessions.resume(hello())
    shell.connect(hello())
    shell.disconnect(now=0.0)
    sessions.forget_gone(29.0)
    assert len(sessions) == 1
    sessions.forget_gone(30.0)
    assert len(sessions) == 0


def test_the_number_of_shells_is_bounded_and_those_away_make_room() -> None:
    sessions = Sessions()
    shells = [sessions.resume(hello()) for _ in range(MAX_SHELLS)]
    for shell in shells:
        shell.connect(hello())
    with pytest.raises(TooManyShells):
        sessions.resume(hello())
    shells[3].call(call(), 0.0)
    shells[3].disconnect(0.0)
    with pytest.raises(TooManyShells):
        sessions.resume(hello())
    shells[5].disconnect(0.0)
    assert sessions.resume(hello()) not in shells
