"""Text for a terminal: nothing in it can drive the terminal, and it fits."""

import re
from collections.abc import Mapping
from typing import Any

#: Control characters, and those that change the direction of writing: both can make a line look like another one.
_DANGEROUS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
ELLIPSIS = "…"


def safe(text: str) -> str:
    """The text with everything that could drive the terminal made visible instead; line ends stay."""
    text = text.replace("\r\n", "\n").expandtabs(4)
    return _DANGEROUS.sub(_visible, text)


def safe_line(text: str) -> str:
    return safe(text).replace("\n", "⏎")


def output_lines(text: str) -> list[str]:
    """What a program printed, as its terminal would show it: without its colours, a line that it rewrote only once."""
    plain = _COLOUR.sub("", text).replace("\r\n", "\n")
    return [safe(line.rstrip("\r").rpartition("\r")[2]) for line in plain.split("\n")]


def width(text: str) -> int:
    """Columns on the screen; colours take none."""
    text = _COLOUR.sub("", text)
    return len(text) if text.isascii() else sum(_columns(char) for char in text)


def clip(text: str, columns: int) -> str:
    """The text, cut so that it takes at most so many columns. It must be free of colours."""
    if width(text) <= columns:
        return text
    room = max(columns - 1, 0)
    end = 0
    while end < len(text) and (taken := _columns(text[end])) <= room:
        room -= taken
        end += 1
    return text[:end] + ELLIPSIS if columns > 0 else ""


def wrapped(line: str, columns: int) -> list[str]:
    """One line as rows that fit, broken between words where there is a chance to."""
    rows, row, taken = [], "", 0
    for word in re.findall(r"\s+|\S+", line):
        if taken + width(word) > columns and row.strip():
            rows.append(row.rstrip())
            row, taken = "", 0
            if word.isspace():
                continue
        for char in word:
            if taken + _columns(char) > columns:
                rows.append(row)
                row, taken = "", 0
            row += char
            taken += _columns(char)
    return [*rows, row.rstrip()]


def paragraph(text: str, columns: int | None, indent: str = "  ", first: str | None = None) -> list[str]:
    """A text in rows that fit, indented; the first one may begin differently. Without columns, in its own lines."""
    room = None if columns is None else max(columns - len(indent) - 1, 20)
    rows = [row for line in safe(text).split("\n") for row in ([line] if room is None else wrapped(line, room))]
    return [f"{indent if number or first is None else first}{row}".rstrip() for number, row in enumerate(rows)]


def duration(milliseconds: float) -> str:
    if milliseconds < 1:
        return "<1 ms"
    if milliseconds < 1_000:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1_000
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {seconds:02} s"


#: What is written, which the change shows better than a few of its words.
_BODIES = frozenset({"content", "oldText", "newText"})


def arguments(args: Mapping[str, Any]) -> str:
    """The arguments of a call, short: what it is about first, long values cut."""
    parts = []
    for name, value in args.items():
        if value is None or (name in _BODIES and "path" in args):
            continue
        if name in ("path", "command", "query", "pattern"):
            parts.append(clip(safe_line(_plain(value)), 60))
        else:
            parts.append(f"{safe_line(name)}={clip(safe_line(_plain(value)), 24)}")
    return " ".join(parts)


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return " ".join(value)
    import json

    return json.dumps(value, ensure_ascii=False)


def _visible(match: re.Match[str]) -> str:
    number = ord(match[0])
    return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}"


def _columns(char: str) -> int:
    if char.isascii():
        return 1
    import unicodedata

    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
