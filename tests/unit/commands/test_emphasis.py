"""What is emphasised in Markdown is emphasised in a terminal, and plain text stays as it is."""

import pytest

from sidecar.commands.emphasis import emphasised
from sidecar.commands.style import Style


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("  **`f`** is at `a.py:1`.", "  \x1b[1mf\x1b[0m is at \x1b[36ma.py:1\x1b[0m."),
        ("## What `it` is", "\x1b[1mWhat it is\x1b[0m"),
        ("2 ** 3 ** 4 and a * b", "2 ** 3 ** 4 and a * b"),
        ("an ` alone and **", "an ` alone and **"),
        ("| --- | ---: |", "\x1b[2m| --- | ---: |\x1b[0m"),
    ],
)
def test_emphasis_is_shown_where_there_are_colours(line: str, shown: str) -> None:
    assert emphasised(line, Style(colour=True)) == shown
    assert emphasised(line, Style(colour=False)) == line
