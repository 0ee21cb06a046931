import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.engine.merge import Conflict, merge

TEXT = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=8).map(lambda lines: "\n".join(lines).encode())


def test_changes_in_different_places_are_both_kept() -> None:
    base = b"one\ntwo\nthree\nfour\nfive\n"
    assert merge(base, b"ONE\ntwo\nthree\nfour\nfive\n", b"one\ntwo\nthree\nfour\nFIVE\n") == (
        b"ONE\ntwo\nthree\nfour\nFIVE\n"
    )


def test_the_same_change_twice_is_one_change() -> None:
    assert merge(b"a\nb\nc\n", b"a\nX\nc\nnew\n", b"a\nX\nc\n") == b"a\nX\nc\nnew\n"


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (b"a\nX\nc\n", b"a\nY\nc\n"),
        (b"a\nc\n", b"a\nY\nc\n"),
        (b"a\nb1\nb\nc\n", b"a\nb2\nb\nc\n"),
        (b"", b"a\nY\nc\n"),
    ],
)
def test_different_changes_of_one_place_are_a_conflict(ours: bytes, theirs: bytes) -> None:
    with pytest.raises(Conflict):
        merge(b"a\nb\nc\n", ours, theirs)


def test_a_missing_last_line_feed_and_carriage_returns_stay_as_they_are() -> None:
    assert merge(b"a\r\nb\r\nc\r\nd", b"A\r\nb\r\nc\r\nd", b"a\r\nb\r\nc\r\nD") == b"A\r\nb\r\nc\r\nD"


@given(TEXT, TEXT)
def test_who_changes_alone_gets_what_they_wrote(base: bytes, changed: bytes) -> None:
    assert merge(base, changed, base) == changed
    assert merge(base, base, changed) == changed
    assert merge(base, changed, changed) == changed


@given(TEXT, TEXT, TEXT)
def test_it_does_not_matter_who_is_who(base: bytes, one: bytes, other: bytes) -> None:
    def result(ours: bytes, theirs: bytes) -> bytes | None:
        try:
            return merge(base, ours, theirs)
        except Conflict:
            return None

    assert result(one, other) == result(other, one)
