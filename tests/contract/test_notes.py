"""Decisions and patterns: agents propose them, people accept them. In a file, or in the database of a fleet."""

import secrets
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sidecar.memory import notes as notes_module
from sidecar.memory.notes import Notes, TooManyNotes


@pytest.fixture(params=["file", "postgres"])
async def notes(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Notes]:
    if request.param == "file":
        yield Notes(tmp_path)
        return
    from sidecar.journal.postgres.journal import PostgresJournal
    from sidecar.memory.shared_notes import SharedNotes

    schema, url = f"test_{secrets.token_hex(6)}", request.getfixturevalue("postgres").url
    journal = await PostgresJournal.open(url, schema=schema)
    yield SharedNotes(url, schema)
    await journal.close()


def test_a_users_note_counts_at_once(notes: Notes) -> None:
    note = notes.add("/w", "decisions", "Use SQLite", "One file, no server.")
    assert notes.list("/w", accepted=True) == [note]


def test_an_agents_note_counts_only_when_a_user_accepts_it(notes: Notes) -> None:
    note = notes.add("/w", "patterns", "Retry", "With a limit.", task="t_1")
    assert notes.list("/w", accepted=True) == []
    assert [each.state for each in notes.list("/w")] == ["proposed"]
    assert notes.accept(note.id)
    assert [each.state for each in notes.list("/w", accepted=True)] == ["accepted"]


def test_notes_of_another_workspace_are_not_shown(notes: Notes) -> None:
    notes.add("/w", "decisions", "a", "b")
    assert notes.list("/other") == []


def test_a_removed_note_is_gone(notes: Notes) -> None:
    note = notes.add("/w", "decisions", "a", "b")
    assert notes.remove(note.id)
    assert not notes.remove(note.id)
    assert notes.list("/w") == []


def test_a_workspace_has_a_limited_number_of_notes(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notes_module, "MAX_NOTES", 2)
    for title in "ab":
        notes.add("/w", "decisions", title, "text", task="t_1")
    with pytest.raises(TooManyNotes):
        notes.add("/w", "decisions", "c", "text", task="t_1")


def test_odd_characters_are_kept(notes: Notes) -> None:
    note = notes.add("/w", "decisions", "100 % sure? yes", "a\\b 'c' \"d\" ünïcode")
    assert notes.get(note.id) == note


def test_nothing_is_written_to_look_at_notes(notes: Notes, tmp_path: Path) -> None:
    assert notes.list("/w") == []
    assert list(tmp_path.iterdir()) == []
