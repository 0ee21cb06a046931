"""Reads unified diffs, of Git and of models, and applies them. A hunk may have moved, but its lines must match exactly.

Not read with unidiff, which needs a `diff --git` line to see a rename, raises UnboundLocalError on a stray `+++` line,
and takes eight times as long.
"""

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tools.errors import NoMatch

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)")
#: In a quoted name: a byte, or a character that has a letter.
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_LETTERS = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}
#: Git writes it before each file; no line of a hunk begins with it.
_NEXT_FILE = "\ndiff --git "


@dataclass(slots=True)
class PatchHunk:
    start: int
    new_start: int
    #: What Git shows behind the line numbers: the function around the hunk.
    heading: str
    #: In order, each with its sign.
    lines: list[str] = field(default_factory=list)
    #: Whether lines are missing that the numbers announce.
    is_cut: bool = False
    #: Whether the last line of the old and of the new text ends without a newline.
    old_open: bool = False
    new_open: bool = False

    @property
    def old(self) -> list[str]:
        return [line[1:] for line in self.lines if line[:1] != "+"]

    @property
    def new(self) -> list[str]:
        return [line[1:] for line in self.lines if line[:1] != "-"]


@dataclass(slots=True)
class FilePatch:
    """`None` is a file that does not exist, before or after."""

    source: str | None
    target: str | None
    hunks: list[PatchHunk] = field(default_factory=list)

    @property
    def path(self) -> str:
        return self.target or self.source or ""


def parse_patch(text: str) -> list[FilePatch]:
    """The files of a patch that is to be applied; raises `NoMatch` if it is incomplete."""
    files = list(read_diff(text.replace("\r\n", "\n")))
    if not files:
        why = "This is not a unified diff: it has no `--- a/file` and `+++ b/file` lines."
        raise NoMatch(why, advice="Write one, or use edit_file.")
    for file in files:
        if file.source is None and file.target is None:
            raise NoMatch("The patch has a file without a name on either side.")
        if not file.hunks and file.source == file.target:
            raise NoMatch(f"The patch has no hunk for {file.path}. A hunk begins with @@ -line,count +line,count @@.")
        if any(hunk.is_cut for hunk in file.hunks):
            why = f"A hunk of {file.path} is shorter than its @@ line says."
            raise NoMatch(why, advice="Correct the counts in its @@ line, or use edit_file.")
    return files


def read_diff(text: str) -> Iterator[FilePatch]:
    """The files of a diff with text in it, as far as it can be read.

    One after the other: while the lines of a large diff are kept, each garbage collection stops all threads for long.
    """
    start = 0
    while start < len(text):
        end = text.find(_NEXT_FILE, start) + 1 or len(text)
        yield from _read_files(text[start:end].split("\n"))
        start = end


def _read_files(lines: list[str]) -> Iterator[FilePatch]:
    file: FilePatch | None = None
    place = 0
    while place < len(lines):
        line, following = lines[place], lines[place + 1] if place + 1 < len(lines) else ""
        if file is not None and (match := _HUNK.match(line)):
            place = _hunk(lines, place + 1, match, file)
            continue
        started = _started(line, following)
        if started is not None:
            # Git names the files of a rename twice.
            if file is not None and file != started:
                yield file
            file = started
        place += 1 if started is None else 2
    if file is not None:
        yield file


def _started(line: str, following: str) -> FilePatch | None:
    """The file that two lines begin."""
    if line.startswith("rename from ") and following.startswith("rename to "):
        return FilePatch(_unquote(line[12:]), _unquote(following[10:]))
    if line.startswith("--- ") and following.startswith("+++ "):
        return FilePatch(_name(line[4:]), _name(following[4:]))
    return None


def _hunk(lines: list[str], place: int, match: re.Match[str], file: FilePatch) -> int:
    hunk = PatchHunk(int(match[1]), int(match[3]), match[5])
    old_left, new_left = int(match[2] or 1), int(match[4] or 1)
    while place < len(lines) and (old_left > 0 or new_left > 0 or lines[place].startswith("\\")):
        line, sign = lines[place], lines[place][:1]
        if sign == "\\":
            # "No newline at end of file" applies to the line before it.
            hunk.old_open = hunk.old_open or lines[place - 1][:1] in ("-", " ")
            hunk.new_open = hunk.new_open or lines[place - 1][:1] in ("+", " ")
        elif sign in ("-", "+", " ", ""):
            hunk.lines.append(line)
            old_left -= sign != "+"
            new_left -= sign != "-"
        else:
            break
        place += 1
    hunk.is_cut = old_left > 0 or new_left > 0
    file.hunks.append(hunk)
    return place


def apply_hunks(text: str, file: FilePatch) -> str:
    """The text after all hunks. Unchanged lines keep their line endings; new lines get those of the file."""
    lines = re.findall(r".*?\n|.+\Z", text, re.DOTALL)
    newline = "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"
    shift = 0
    for number, hunk in enumerate(file.hunks, 1):
        bare = [line.rstrip("\r\n") for line in lines]
        expected = max(hunk.start - 1, 0) + shift if hunk.old else hunk.start + shift
        place = _find(bare, hunk.old, expected)
        if place is None:
            raise NoMatch(_mismatch(bare, hunk, number, expected, file.path))
        end = place + len(hunk.old)
        lines[place:end] = _merge(hunk, lines[place:end], newline)
        shift += len(hunk.new) - len(hunk.old)
    return "".join(lines)


def _merge(hunk: PatchHunk, old: list[str], newline: str) -> list[str]:
    """The new lines; unchanged ones keep their line ending."""
    bare = [line.rstrip("\r\n") for line in old]
    result: list[str] = []
    for tag, first, last, start, end in difflib.SequenceMatcher(None, bare, hunk.new, autojunk=False).get_opcodes():
        result += old[first:last] if tag == "equal" else [line + newline for line in hunk.new[start:end]]
    # Only the last line of a file may lack a newline, and the old one may no longer be last.
    result[:-1] = [line if line.endswith("\n") else line + newline for line in result[:-1]]
    if result and hunk.new_open:
        result[-1] = result[-1].rstrip("\r\n")
    elif result and hunk.old_open and not result[-1].endswith("\n"):
        result[-1] += newline
    return result


def _find(lines: list[str], wanted: list[str], expected: int) -> int | None:
    """The match nearest to the expected place."""
    last = len(lines) - len(wanted)
    if not wanted:
        return min(expected, len(lines))
    # A patch may name any line.
    expected = min(max(expected, 0), max(last, 0))
    for distance in range(last + 1):
        for place in {expected - distance, expected + distance}:
            if 0 <= place <= last and lines[place] == wanted[0] and lines[place : place + len(wanted)] == wanted:
                return place
    return None


def _mismatch(lines: list[str], hunk: PatchHunk, number: int, expected: int, path: str) -> str:
    there = lines[max(expected, 0) : expected + len(hunk.old)]
    for index, line in enumerate(hunk.old):
        found = there[index] if index < len(there) else None
        if found != line:
            was = "the file ends" if found is None else f"there is {found!r}"
            return (
                f"Hunk {number} does not apply to {path}: line {expected + index + 1} should be {line!r}, but {was}. "
                "Nothing was changed. Read the file again and write the patch against it."
            )
    return f"Hunk {number} does not apply to {path}. Read the file again."


def _name(text: str) -> str | None:
    name = _unquote(text.split("\t")[0].strip())
    if name == "/dev/null":
        return None
    return name[2:] if name.startswith(("a/", "b/")) else name


def _unquote(name: str) -> str:
    """A name as Git quotes it if it has characters that aren't ASCII: `"caf\\303\\251.txt"`."""
    if len(name) < 2 or name[0] != '"' or name[-1] != '"':
        return name.strip('"')
    try:
        return _ESCAPE.sub(lambda match: _escaped(match[1]), name[1:-1].encode()).decode()
    except UnicodeError:
        return name.strip('"')


def _escaped(code: bytes) -> bytes:
    return bytes([int(code, 8) & 0xFF]) if code.isdigit() else _LETTERS.get(code, code)
