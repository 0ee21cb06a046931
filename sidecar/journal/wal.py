"""Repairs a damaged write-ahead log of SQLite, so that one flipped bit costs one page and not all later commits.

SQLite chains the checksums of all frames and stops reading at the first wrong one. The repair computes them anew over
the same bytes; the checksums of our own rows then tell which rows are damaged.
"""

import struct
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_HEADER = struct.Struct(">8I")
_FRAME = struct.Struct(">6I")
_LITTLE_ENDIAN_SUMS = 0x377F0682
_VERSION = 3007000
_MASK = 0xFFFFFFFF
_PAGE_SIZES = frozenset(1 << power for power in range(9, 17))
_DEFAULT_PAGE_SIZE = 4096


class _Layout(NamedTuple):
    page_size: int
    checkpoint: int
    salts: tuple[int, int]


def repair_wal(wal: Path) -> bool:
    """Rewrite the checksums in place; False if there is nothing to repair."""
    try:
        data = bytearray(wal.read_bytes())
    except OSError:
        return False
    layout = _layout(data)
    if layout is None:
        return False
    repaired = bytearray(_HEADER.size)
    head = struct.pack(">6I", _LITTLE_ENDIAN_SUMS, _VERSION, layout.page_size, layout.checkpoint, *layout.salts)
    sums = _add(head, (0, 0))
    _HEADER.pack_into(repaired, 0, *struct.unpack(">6I", head), *sums)
    for start in _frames(data, layout):
        page, size, *_ = _FRAME.unpack_from(data, start)
        content = data[start + _FRAME.size : start + _FRAME.size + layout.page_size]
        sums = _add(bytes(data[start : start + 8]), sums)
        sums = _add(bytes(content), sums)
        repaired += _FRAME.pack(page, size, *layout.salts, *sums) + content
    if repaired == data[: len(repaired)]:
        return False
    wal.write_bytes(repaired)
    return True


def _layout(data: bytearray) -> _Layout | None:
    """From the header, or from the frames if the header is damaged."""
    if len(data) < _HEADER.size + _FRAME.size:
        return None
    _, _, page_size, checkpoint, *header_salts, _, _ = _HEADER.unpack_from(data, 0)
    if page_size not in _PAGE_SIZES:
        page_size = _DEFAULT_PAGE_SIZE
    seen: dict[tuple[int, int], int] = {}
    for start in range(_HEADER.size, len(data) - _FRAME.size - page_size + 1, _FRAME.size + page_size):
        _, _, one, other, _, _ = _FRAME.unpack_from(data, start)
        seen[one, other] = seen.get((one, other), 0) + 1
    salts = (header_salts[0], header_salts[1])
    if salts not in seen:
        salts = max(seen, key=seen.__getitem__, default=salts)
    return _Layout(page_size, checkpoint, salts)


def _frames(data: bytearray, layout: _Layout) -> Iterator[int]:
    """The frames of this log; older ones behind them have other salts. A damaged frame between good ones counts."""
    step = _FRAME.size + layout.page_size
    starts = range(_HEADER.size, len(data) - step + 1, step)
    own = [_FRAME.unpack_from(data, start)[2:4] == layout.salts for start in starts]
    last = max((index for index, is_own in enumerate(own) if is_own), default=-1)
    return (start for index, start in enumerate(starts) if index <= last)


def _add(data: bytes, sums: tuple[int, int]) -> tuple[int, int]:
    one, other = sums
    words = array("I", data)
    if struct.pack("=I", 1) != struct.pack("<I", 1):
        words.byteswap()
    values = iter(words)
    for low, high in zip(values, values, strict=True):
        one = (one + low + other) & _MASK
        other = (other + high + one) & _MASK
    return one, other
