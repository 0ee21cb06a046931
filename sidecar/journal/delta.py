"""Stores a content as its difference to a similar one: an edit of a few lines costs a few lines.

A difference is a list of pieces, each a span of the base or new bytes. One pass finds it: first the common head and
tail, then runs of equal lines in between. It need not be minimal.

Not made with zstandard and the base as its dictionary: for the usual edit of a few lines that takes four times as long
and saves nothing; it is smaller only for changes all over a file. Older journals would need this reader anyway.
"""

import struct
from collections.abc import Iterator

_PIECE = struct.Struct("<II")
_NEW_BYTES = 0xFFFFFFFF
#: Store a difference only if it is this many times smaller than the content.
_MIN_SAVING = 4
_MAX_SIZE = 64 * 1024 * 1024


def difference(base: bytes, data: bytes) -> bytes | None:
    """The pieces that turn `base` into `data`; None if they save too little."""
    if max(len(base), len(data)) > _MAX_SIZE:
        return None
    room = len(data) // _MIN_SAVING
    head = _common_head(base, data)
    tail = _common_tail(base, data, min(len(base), len(data)) - head)
    pieces = [_copy(0, head)] if head else []
    size = 0
    for piece in _between(base[head : len(base) - tail], data[head : len(data) - tail], head):
        pieces.append(piece)
        size += len(piece)
        if size > room:
            return None
    if tail:
        pieces.append(_copy(len(base) - tail, tail))
    return b"".join(pieces)


def apply_difference(base: bytes, pieces: bytes) -> bytes:
    """The content behind a difference. Raises `ValueError` if the pieces are damaged."""
    parts: list[bytes] = []
    position = 0
    while position < len(pieces):
        try:
            start, length = _PIECE.unpack_from(pieces, position)
        except struct.error as error:
            raise ValueError("a piece is cut off") from error
        position += _PIECE.size
        if start == _NEW_BYTES:
            parts.append(pieces[position : position + length])
            position += length
        else:
            parts.append(base[start : start + length])
    return b"".join(parts)


def _between(base: bytes, data: bytes, offset: int) -> Iterator[bytes]:
    """Runs of lines that are in the base, and new bytes between them."""
    if not data:
        return
    places: dict[bytes, int] = {}
    starts: list[int] = []
    lines = base.splitlines(keepends=True)
    place = 0
    for number, line in enumerate(lines):
        places.setdefault(line, number)
        starts.append(place)
        place += len(line)
    own: list[bytes] = []
    run = -1
    length = 0
    for line in data.splitlines(keepends=True):
        following = run + 1 if run >= 0 else -1
        if 0 <= following < len(lines) and lines[following] == line:
            run, length = following, length + len(line)
            continue
        if length:
            yield _copy(offset + starts[run] + len(lines[run]) - length, length)
            length = 0
        run = places.get(line, -1)
        if run < 0:
            own.append(line)
            continue
        if own:
            yield _new(b"".join(own))
            own.clear()
        length = len(line)
    if length:
        yield _copy(offset + starts[run] + len(lines[run]) - length, length)
    if own:
        yield _new(b"".join(own))


def _copy(start: int, length: int) -> bytes:
    return _PIECE.pack(start, length)


def _new(data: bytes) -> bytes:
    return _PIECE.pack(_NEW_BYTES, len(data)) + data


def _common_head(one: bytes, other: bytes) -> int:
    """The length of the common head, by bisection: comparing slices is fast."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_tail(one: bytes, other: bytes, most: int) -> int:
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if one[len(one) - middle : len(one) - low] == other[len(other) - middle : len(other) - low]:
            low = middle
        else:
            high = middle - 1
    return low
