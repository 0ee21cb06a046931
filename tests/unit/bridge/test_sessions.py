"""Several shells at once: who is asked, and who may come back."""

import pytest

from bridge.session import Sessions, TooManyShells
from bridge.session.sessions import MOST
from tests.unit.bridge.frames import call, hello


def test_each_shell_serves_its_own_workspace() -> None:
    sessions = Sessions()
    one, two = sessions.take_up(hello("/one")), sessions.take_up(hello("/two"))
    one.greet(hello("/one")), two.greet(hello("/two"))
    assert sessions.offering("read_file", "/one") is one
    assert sessions.offering("read_file", "/two") is two
    assert sessions.offering("read_file", "/three") is None
    assert sessions.offering("write_file", "/one") is None


def test_of_two_shells_on_a_workspace_the_newer_is_asked() -> None:
    sessions = Sessions()
    older, newer = sessions.take_up(hello()), sessions.take_up(hello())
    older.greet(hello()), newer.greet(hello())
    assert sessions.offering("read_file", "/w") is newer
    newer.lost(0.0)
    assert sessions.offering("read_file", "/w") is older


def test_a_shell_comes_back_to_its_session() -> None:
    sessions = Sessions()
    first = sessions.take_up(hello())
    assert sessions.take_up(hello(session=first.id)) is first
    assert len(sessions) == 1


def test_an_unknown_session_is_a_new_one() -> None:
    assert Sessions(new_id=lambda: "new").take_up(hello(session="old")).id == "new"


def test_a_session_is_not_carried_into_another_workspace() -> None:
    sessions = Sessions()
    first = sessions.take_up(hello("/one"))
    assert sessions.take_up(hello("/two", session=first.id)) is not first
    assert len(sessions) == 2


def test_a_call_is_remembered_only_by_a_shell_that_is_there() -> None:
    sessions = Sessions()
    said = hello(remembers=["c1"])
    shell = sessions.take_up(said)
    assert sessions.remembering("c1") is None
    shell.greet(said)
    assert sessions.remembering("c1") is shell and sessions.remembering("c2") is None


def test_a_shell_that_stayed_away_is_forgotten() -> None:
    sessions = Sessions(reconnect_seconds=30)
    shell = sessions.take_up(hello())
    shell.greet(hello())
    shell.lost(now=0.0)
    sessions.forget_gone(29.0)
    assert len(sessions) == 1
    sessions.forget_gone(30.0)
    assert len(sessions) == 0


def test_the_number_of_shells_is_bounded_and_those_away_make_room() -> None:
    sessions = Sessions()
    shells = [sessions.take_up(hello()) for _ in range(MOST)]
    for shell in shells:
        shell.greet(hello())
    with pytest.raises(TooManyShells):
        sessions.take_up(hello())
    shells[3].call(call(), 0.0)
    shells[3].lost(0.0)
    with pytest.raises(TooManyShells):
        sessions.take_up(hello())
    shells[5].lost(0.0)
    assert sessions.take_up(hello()) not in shells
