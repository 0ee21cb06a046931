"""Byte replacements, each at its place in the old text."""

from collections.abc import Iterable
from typing import NamedTuple


class ByteEdit(NamedTuple):
    start: int
    end: int
    new: bytes


class Overlap(ValueError):
    """Two edits overlap; none is applied."""


def apply_edits(text: bytes, edits: Iterable[ByteEdit]) -> bytes:
    parts: list[bytes] = []
    place = 0
    for edit in sorted(set(edits)):
        if edit.start < place:
            raise Overlap(f"two changes at byte {edit.start}")
        parts += [text[place : edit.start], edit.new]
        place = edit.end
    return b"".join([*parts, text[place:]])


def newline_of(text: bytes) -> bytes:
    return b"\r\n" if text.count(b"\r\n") * 2 > text.count(b"\n") else b"\n"


def line_at(text: bytes, place: int) -> int:
    return text.count(b"\n", 0, place) + 1
