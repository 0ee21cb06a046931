import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.commands.text import clip, duration, format_arguments, output_lines, safe, safe_line, width, wrap


@given(st.text())
def test_nothing_that_drives_a_terminal_is_left(text: str) -> None:
    shown = safe(text)
    assert all(char == "\n" or (char.isprintable() or not char.isascii()) for char in shown)
    assert not any(ord(char) < 32 and char != "\n" for char in shown)
    assert not any(0x7F <= ord(char) <= 0x9F for char in shown)
    shown.encode()


def test_escapes_are_made_visible() -> None:
    assert safe("\x1b[2Jgone\x07\x9b31m") == "\\x1b[2Jgone\\x07\\x9b31m"


def test_text_that_turns_its_direction_is_made_visible() -> None:
    assert safe("rm \u202egpj.exe") == "rm \\u202egpj.exe"


def test_a_line_stays_one_line() -> None:
    assert safe_line("a\nb\r\nc") == "a⏎b⏎c"


def test_output_is_read_as_a_terminal_would_show_it() -> None:
    assert output_lines("10%\r50%\r100%\n\x1b[32mok\x1b[0m\r\nlast") == ["100%", "ok", "last"]


@given(st.text(alphabet="ab ü漢字é"), st.integers(1, 20))
def test_a_clipped_text_fits(text: str, columns: int) -> None:
    assert width(clip(text, columns)) <= columns


@given(st.text(alphabet="ab ü漢é", max_size=60), st.integers(2, 20))
def test_wrapped_rows_fit_and_lose_nothing_but_spaces(text: str, columns: int) -> None:
    rows = wrap(text, columns)
    assert all(width(row) <= columns for row in rows)
    assert "".join(rows).replace(" ", "") == text.replace(" ", "")


def test_rows_are_broken_between_words() -> None:
    assert wrap("the quick brown fox", 10) == ["the quick", "brown fox"]
    assert wrap("the quick brown fox", 9) == ["the quick", "brown fox"]
    assert wrap("  indented", 20) == ["  indented"]


@pytest.mark.parametrize(
    ("milliseconds", "told"),
    [
        (0, "<1 ms"),
        (12.4, "12 ms"),
        (1_234, "1.2 s"),
        (59_960, "1 min 00 s"),
        (61_000, "1 min 01 s"),
        (3_725_000, "1 h 02 min"),
    ],
)
def test_durations_are_reported_for_people(milliseconds: float, told: str) -> None:
    assert duration(milliseconds) == told


def test_arguments_are_short_and_begin_with_what_the_call_is_about() -> None:
    told = format_arguments({"path": "a.py", "oldText": "what", "replaceAll": True, "glob": None, "symbol": "x" * 100})
    assert told == f"a.py replaceAll=true symbol={'x' * 23}…"
    assert format_arguments({"command": ["git", "log"]}) == "git log"
    assert format_arguments({"path": "a.py", "edits": [{"oldText": "x"}]}) == "a.py"
    assert format_arguments({"items": [{"title": "x", "state": "done"}]}) == ""
    assert format_arguments({"url": "https://example.com/"}) == "https://example.com/"
    where = {"target": ["tests/a.py", "tests/b.py"], "where": "without the task's changes"}
    assert format_arguments(where) == "(without the task's changes) tests/a.py tests/b.py"
