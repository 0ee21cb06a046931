"""Globs and `.gitignore` rules."""

import time

import pytest

from tests.waiting import SECONDS
from tools.globs import Ignored, matcher


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*.py", "a/b.py", True),
        ("src/**/test_*_*.py", "src/a/b/test_x_y.py", True),
        ("*a*b*c", "xaxbxbc", True),
        ("*a*b*c", "xbxac", False),
        ("{a,b*}/c", "bb/c", True),
        ("[!a]*", "b", True),
    ],
)
def test_a_glob_matches(pattern: str, path: str, matches: bool) -> None:
    assert matcher(pattern)(path) is matches


@pytest.mark.parametrize("pattern", ["[", "a{b", "a}", "[!]"])
def test_a_malformed_glob_is_an_error(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        matcher(pattern)


def test_many_wildcards_do_not_backtrack() -> None:
    pattern, path = "*a" * 30 + "*b", "a" * 4_000
    began = time.perf_counter()

    assert not matcher(pattern)(path)
    assert not Ignored().below("", pattern)(path, directory=False)

    assert time.perf_counter() - began < SECONDS, "backtracking would take years"
