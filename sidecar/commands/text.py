"""Text for a terminal: colours, control characters made visible, widths and wrapping."""

import os
import re
import sys
from collections.abc import Mapping
from typing import IO, Any

#: Control characters and bidirectional overrides: both can make a line look like a different one.
_DANGEROUS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
ELLIPSIS = "…"


def safe(text: str) -> str:
    """Make control characters visible, so that text can't drive the terminal; newlines stay."""
    text = text.replace("\r\n", "\n").expandtabs(4)
    return _DANGEROUS.sub(_visible, text)


def safe_line(text: str) -> str:
    return safe(text).replace("\n", "⏎")


def output_lines(text: str) -> list[str]:
    """A program's output as a terminal shows it: no colours, and only the last version of a rewritten line."""
    plain = _COLOUR.sub("", text).replace("\r\n", "\n")
    return [safe(line.rstrip("\r").rpartition("\r")[2]) for line in plain.split("\n")]


def width(text: str) -> int:
    """Width in columns, ignoring colours."""
    text = _COLOUR.sub("", text)
    return len(text) if text.isascii() else sum(_columns(char) for char in text)


def clip(text: str, columns: int) -> str:
    """Cut text to this many columns. It must not contain colours."""
    if width(text) <= columns:
        return text
    room = max(columns - 1, 0)
    end = 0
    while end < len(text) and (taken := _columns(text[end])) <= room:
        room -= taken
        end += 1
    return text[:end] + ELLIPSIS if columns > 0 else ""


def wrap(line: str, columns: int) -> list[str]:
    """Break one line into rows that fit, between words if possible."""
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
    """Wrap and indent text; `first` replaces the first indent. Without `columns` lines stay as they are."""
    room = None if columns is None else max(columns - len(indent) - 1, 20)
    rows = [row for line in safe(text).split("\n") for row in ([line] if room is None else wrap(line, room))]
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


def print_json(value: Any, *, indent: int | None = None) -> int:
    """Print what `--json` asks for; returns the exit code of success."""
    import json

    print(json.dumps(value, ensure_ascii=False, indent=indent))
    return 0


def short(task_id: str) -> str:
    """A prefix of the id, long enough to name the task."""
    return task_id[:10]


#: File content, which the diff shows better.
_BODIES = frozenset({"content", "oldText", "newText"})
#: Lists of objects, which the diff and the plan show better.
_LISTS = frozenset({"edits", "items"})
#: Arguments that need no name.
_PLAIN = frozenset({"path", "command", "query", "pattern", "target", "url", "task"})


def format_arguments(args: Mapping[str, Any]) -> str:
    """A call's arguments on one short line."""
    parts = []
    for name, value in args.items():
        if value is None or name in _LISTS or (name in _BODIES and "path" in args):
            continue
        if name in _PLAIN:
            parts.append(clip(safe_line(_plain(value)), 60))
        elif name == "where":
            parts.insert(0, f"({clip(safe_line(_plain(value)), 60)})")
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


class Style:
    def __init__(self, *, colour: bool) -> None:
        self._colour = colour

    @property
    def colours(self) -> bool:
        return self._colour

    def bold(self, text: str) -> str:
        return self._in("1", text)

    def dim(self, text: str) -> str:
        return self._in("2", text)

    def italic(self, text: str) -> str:
        return self._in("3", text)

    def red(self, text: str) -> str:
        return self._in("31", text)

    def green(self, text: str) -> str:
        return self._in("32", text)

    def yellow(self, text: str) -> str:
        return self._in("33", text)

    def cyan(self, text: str) -> str:
        return self._in("36", text)

    def status(self, status: str, text: str | None = None) -> str:
        colours = {"completed": self.green, "failed": self.red, "escalated": self.yellow, "waiting": self.yellow}
        colours |= {"running": self.cyan, "cancelling": self.yellow}
        return colours.get(status, self.dim)(status if text is None else text)

    def _in(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._colour and text else text


def paint_diff(style: Style, line: str) -> str:
    """A line of a diff in its colour."""
    paint = {"+": style.green, "-": style.red, "@": style.cyan}.get(line[:1])
    return paint(line) if paint else line


def is_terminal(stream: IO[str] | None = None, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether output can be redrawn."""
    return (stream or sys.stdout).isatty() and environ.get("TERM") != "dumb"


def terminal_columns() -> int:
    """The width to write for, as the terminal itself says: `COLUMNS` would be wrong after a resize."""
    if not sys.stdout.isatty():
        return 200
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80
    except OSError:
        return 80


def style_for(stream: IO[str] | None = None, environ: Mapping[str, str] = os.environ) -> Style:
    return Style(colour=is_terminal(stream, environ) and not environ.get("NO_COLOR"))
