"""Replaces an exact text. If it isn't there, the error shows the closest match and how it differs."""

import difflib
import re

from tools.errors import NoMatch
from tools.text_files import TextFile

_MAX_LINES = 20_000
_MIN_RATIO = 0.6
#: A line as `read_file` and `search_code` number it.
_NUMBERED = re.compile(r" *(\d+)[ :-](.*)", re.DOTALL)


def replace(file: TextFile, old: str, new: str, path: str, *, every: bool = False) -> TextFile:
    if old == new:
        raise NoMatch(f"oldText and newText are the same; {path} stays as it is.")
    if not old:
        raise NoMatch("oldText is empty.", advice="Give the text to replace, or write the whole file with write_file.")
    found = list(_pattern(old).finditer(file.text))
    if not found and (bare := _without_numbers(old)) is not None:
        # Copied from a read or a search, numbers and all.
        old, new = bare, _without_numbers(new) or new
        found = list(_pattern(old).finditer(file.text))
    if not found:
        raise NoMatch(_near_miss(file.text, old, path))
    if len(found) > 1 and not every:
        lines = ", ".join(str(file.text.count("\n", 0, match.start()) + 1) for match in found[:10])
        raise NoMatch(
            f"oldText occurs {len(found)} times in {path}, at lines {lines}. Add lines around it until it is unique, "
            "or set replaceAll."
        )
    newline = file.newline
    insert = new.replace("\r\n", "\n").replace("\n", newline)
    parts, place = [], 0
    for match in found:
        parts += [file.text[place : match.start()], insert]
        place = match.end()
    return file._replace(text="".join([*parts, file.text[place:]]))


def _without_numbers(text: str) -> str | None:
    """The text without line numbers, if each line begins with the number after the one before."""
    matches = [_NUMBERED.match(line) for line in text.split("\n")]
    numbers = [int(match[1]) for match in matches if match]
    if len(numbers) < len(matches) or numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return None
    return "\n".join(match[2] for match in matches if match)


def _pattern(old: str) -> re.Pattern[str]:
    """Matches exactly, except that any line ending matches any other."""
    return re.compile("\r?\n".join(re.escape(line) for line in old.replace("\r\n", "\n").split("\n")))


def _near_miss(text: str, old: str, path: str) -> str:
    lines = text.replace("\r\n", "\n").split("\n")
    wanted = old.replace("\r\n", "\n").strip("\n").split("\n")
    place = _closest(lines, wanted)
    if place is None:
        return f"{path} contains neither oldText nor anything similar. Read the file again and copy the text exactly."
    there = lines[place : place + len(wanted)]
    diff = [line for line in difflib.ndiff(wanted, there) if not line.startswith("?")]
    return (
        f"{path} does not contain oldText. The closest text is at line {place + 1}; {_why(wanted, there)}. "
        "(- oldText, + the file)\n" + "\n".join(diff[:60]) + "\nCopy the text from the file."
    )


def _closest(lines: list[str], wanted: list[str]) -> int | None:
    if len(lines) > _MAX_LINES:
        return None
    bare = [line.strip() for line in lines]
    first = next((line.strip() for line in wanted if line.strip()), "")
    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2(first)
    offset = next((index for index, line in enumerate(wanted) if line.strip()), 0)
    best, best_place = _MIN_RATIO, None
    block = "\n".join(line.strip() for line in wanted)
    whole = difflib.SequenceMatcher(autojunk=False)
    whole.set_seq2(block)
    for index, line in enumerate(bare):
        matcher.set_seq1(line)
        if matcher.real_quick_ratio() < _MIN_RATIO or matcher.quick_ratio() < _MIN_RATIO:
            continue
        place = max(index - offset, 0)
        whole.set_seq1("\n".join(bare[place : place + len(wanted)]))
        if whole.quick_ratio() > best and (ratio := whole.ratio()) > best:
            best, best_place = ratio, place
    return best_place


def _why(wanted: list[str], there: list[str]) -> str:
    if [line.rstrip() for line in wanted] == [line.rstrip() for line in there]:
        return "trailing spaces differ"
    if [line.strip() for line in wanted] == [line.strip() for line in there]:
        return "the indentation differs (tabs or spaces)"
    if ["".join(line.split()) for line in wanted] == ["".join(line.split()) for line in there]:
        return "spaces within a line differ"
    if [line.casefold() for line in wanted] == [line.casefold() for line in there]:
        return "case differs"
    return "some words differ"
