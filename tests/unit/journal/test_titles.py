"""The title of a task that you didn't name."""

import pytest

from sidecar.journal.projection import first_sentence


@pytest.mark.parametrize(
    ("task", "title"),
    [
        ("Fix the parser. It fails on tabs.", "Fix the parser"),
        ("# Fix v1.2 of app.py\n\nmore", "Fix v1.2 of app.py"),
        ("\n\n- [x] rename   greet\nto welcome", "[x] rename greet"),
        ("Does it work? I doubt it.", "Does it work?"),
        ("--help", "help"),
        ("???", "???"),
        ("word " * 40, "word " * 15 + "word…"),
        ("x" * 500, "x" * 80 + "…"),
    ],
)
def test_a_title_is_the_first_sentence_on_one_line(task: str, title: str) -> None:
    assert first_sentence(task) == title
