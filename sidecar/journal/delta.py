"""A content as its difference to another one: an edit of a few lines costs a few lines, not the whole file again.

The difference is a list of pieces, each a span of the other content or bytes of its own. It is found in one pass:
what is the same at both ends first, then runs of equal lines in between. It need not be the smallest.
"""

import struct
from collections.abc import Iterator

_PIECE = struct.Struct("<II")
_OWN = 0xFFFFFFFF
#: A difference that is not at least so many times smaller than the content is not worth another one to depend on.
_WORTH = 4
_LARGEST = 64 * 1024 * 1024


def difference(base: bytes, data: bytes) -> bytes | None:
    """What makes `data` of `base`, or nothing if that would hardly be less."""
    if max(len(base), len(data)) > _LARGEST:
        return None
    room = len(data) // _WORTH
    head = _alike(base, data)
    tail = _alike_at_end(base, data, min(len(base), len(data)) - head)
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


def restored(base: bytes, pieces: bytes) -> bytes:
    """The content that `difference` was asked about. Raises `ValueError` if the pieces are not from there."""
    parts: list[bytes] = []
    place = 0
    while place < len(pieces):
        try:
            start, length = _PIECE.unpack_from(pieces, place)
        except struct.error as error:
            raise ValueError("a piece is cut off") from error
        place += _PIECE.size
        if start == _OWN:
            parts.append(pieces[place : place + length])
            place += length
        else:
            parts.append(base[start : start + length])
    return b"".join(parts)


def _between(base: bytes, data: bytes, offset: int) -> Iterator[bytes]:
    """Runs of lines that stand in the base too, and what is new between them."""
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
    return _PIECE.pack(_OWN, len(data)) + data


def _alike(one: bytes, other: bytes) -> int:
    """How many bytes are the same from the beginning on, found by halving: comparing slices is the fast part."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _alike_at_end(one: bytes, other: bytes, most: int) -> int:
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if one[len(one) - middle : len(one) - low] == other[len(other) - middle : len(other) - low]:
            low = middle
        else:
            high = middle - 1
    return low
