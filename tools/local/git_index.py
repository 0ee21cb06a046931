"""The index of a Git repository, read and never written: what Git knows of each file, and where it keeps its content.

Read as bytes, because asking Git would cost more than everything else that is done around a command, and because a
repository's configuration has no say in it.
"""

import struct
from typing import NamedTuple

_HEADER = struct.Struct(">4sII")
_ENTRY = struct.Struct(">10I20sH")
_EXTENDED = 0x4000
_STAGE = 0x3000


class Tracked(NamedTuple):
    """A file as it was when Git last looked at it; inode and size are cut to 32 bits."""

    mtime: int
    mtime_ns: int
    inode: int
    size: int
    mode: int
    content: bytes
    #: A file that waits for a merge has several contents here, and this is not its own.
    merging: bool


def read_index(data: bytes) -> dict[str, Tracked] | None:
    """The entries by their path; nothing if it is an index of a kind that is not read here."""
    try:
        return _entries(data)
    except (struct.error, ValueError, IndexError):
        return None


def _entries(data: bytes) -> dict[str, Tracked] | None:
    signature, version, count = _HEADER.unpack_from(data)
    if signature != b"DIRC" or version not in (2, 3, 4):
        return None
    found: dict[str, Tracked] = {}
    place, name = _HEADER.size, b""
    for _ in range(count):
        start = place
        _, _, mtime, mtime_ns, _, inode, mode, _, _, size, content, flags = _ENTRY.unpack_from(data, place)
        place += _ENTRY.size + (2 if flags & _EXTENDED else 0)
        if version == 4:
            strip, place = _number(data, place)
            name = name[: len(name) - strip]
        else:
            name = b""
        end = data.index(b"\0", place)
        name += data[place:end]
        place = end + 1 if version == 4 else start + ((end - start) // 8 + 1) * 8
        found[name.decode("utf-8", "surrogateescape")] = Tracked(
            mtime, mtime_ns, inode, size, mode, content, bool(flags & _STAGE)
        )
    return None if _shared(data, place) else found


def _number(data: bytes, place: int) -> tuple[int, int]:
    byte = data[place]
    place += 1
    number = byte & 0x7F
    while byte & 0x80:
        byte = data[place]
        place += 1
        number = ((number + 1) << 7) | (byte & 0x7F)
    return number, place


def _shared(data: bytes, place: int) -> bool:
    """Whether part of it stands in another file, or directories stand in for their files."""
    while place + 8 <= len(data) - 20:
        signature, length = data[place : place + 4], int.from_bytes(data[place + 4 : place + 8], "big")
        if signature in (b"link", b"sdir"):
            return True
        place += 8 + length
    return False
