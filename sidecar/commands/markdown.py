"""Markdown in the terminal's own emphasis, line by line, so that it can be streamed.

Without colours every line stays as the model wrote it.
"""

import re
from collections.abc import Sequence

from sidecar.commands.text import Style, width

_HEADING = re.compile(r"^(\s*)#{1,6} (.+)$")
_BULLET = re.compile(r"^(\s*)[*+-] (?=\S)")
_QUOTE = re.compile(r"^(\s*)> ?")
_LEAD = re.compile(r"\s*(?:> ?|(?:[*+-]|\d{1,3}[.)]) (?=\S))")
_START = re.compile(r"\s*(?:> ?)?")
_RULE = frozenset(" \t:|-")
_CELL = re.compile(r"(?<!\\)\|")
_INLINE = re.compile(
    r"`(?P<code>[^`]+)`"
    r"|\*\*(?=\S)(?P<bold>.+?)(?<=\S)\*\*"
    r"|(?<![*\w])\*(?=[^\s*])(?P<italic>[^*]+?)(?<=\S)\*(?![*\w])"
    r"|\[(?P<label>[^\][]+)\]\((?P<url>[^\s()]+)\)"
)


def emphasize(line: str, style: Style) -> str:
    if not style.colours:
        return line
    if heading := _HEADING.match(line):
        return heading[1] + style.bold(_plain(heading[2]))
    if quote := _QUOTE.match(line):
        return f"{quote[1]}{style.dim('│')} {_inline(line[quote.end() :], style)}"
    return _inline(_BULLET.sub(r"\1• ", line), style)


def emphasize_rows(rows: Sequence[str], style: Style) -> list[str]:
    """The rows of one wrapped line."""
    if style.colours:
        for mark in ("`", "**"):
            rows = _close_at_ends(rows, mark)
    return [emphasize(row, style) for row in rows]


def _close_at_ends(rows: Sequence[str], mark: str) -> Sequence[str]:
    """Close emphasis at the end of a row, and open it again in the next: each row is painted by itself."""
    if sum(row.count(mark) for row in rows) % 2 or any(f" {mark} " in f" {row} " for row in rows):
        return rows
    closed, is_open = [], False
    for row in rows:
        start = _START.match(row)
        lead = start[0] if start and is_open else ""
        opened = f"{lead}{mark}{row[len(lead) :]}" if is_open else row
        is_open = opened.count(mark) % 2 == 1
        closed.append(opened + mark if is_open else opened)
    return closed


def hanging(line: str) -> str:
    """What the further rows of a wrapped line begin with: the bar of a quote, or blanks as wide as a list's mark."""
    lead = _LEAD.match(line)
    if lead is None:
        return ""
    return lead[0] if ">" in lead[0] else " " * len(lead[0])


def is_fence(line: str) -> bool:
    return line.lstrip().startswith("```")


def is_row(line: str) -> bool:
    """Whether the line belongs to a table."""
    return line.lstrip().startswith("|")


def render_table(rows: Sequence[str], style: Style, indent: str, columns: int | None) -> list[str]:
    """The rows with aligned columns; as they are without colours, or if they are too wide or no table."""
    cells = [[cell.strip() for cell in _CELL.split(row.strip().strip("|"))] for row in rows]
    is_table = len(rows) > 1 and "-" in rows[1] and _RULE.issuperset(rows[1])
    if not style.colours or not is_table:
        return [f"{indent}{row}" for row in rows]
    body = [cells[0], *cells[2:]]
    count = max(len(each) for each in body)
    padded = [[*each, *[""] * (count - len(each))] for each in body]
    widths = [max(width(_plain(row[place])) for row in padded) for place in range(count)]
    if columns is not None and len(indent) + sum(widths) + 3 * (count - 1) >= columns:
        return [f"{indent}{row}" for row in rows]
    lines = [
        indent
        + style.dim(" │ ")
        .join(_inline(cell, style) + " " * (room - width(_plain(cell))) for cell, room in zip(row, widths, strict=True))
        .rstrip()
        for row in padded
    ]
    rule = indent + style.dim("─┼─".join("─" * room for room in widths))
    return [style.bold(lines[0]), rule, *lines[1:]]


def _inline(text: str, style: Style) -> str:
    def paint(found: re.Match[str]) -> str:
        if found["code"]:
            return style.cyan(found["code"])
        if found["bold"]:
            return style.bold(_plain(found["bold"]))
        if found["italic"]:
            return style.italic(found["italic"])
        return found["label"] if found["label"] == found["url"] else f"{found['label']} {style.dim(found['url'])}"

    return _INLINE.sub(paint, text)


def _plain(text: str) -> str:
    """The text without its Markdown marks, as the terminal shows it."""
    return _INLINE.sub(
        lambda found: (
            found["code"]
            or found["bold"]
            or found["italic"]
            or (found["label"] if found["label"] == found["url"] else f"{found['label']} {found['url']}")
        ),
        text,
    )
