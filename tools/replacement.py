"""Replaces an exact text. If it isn't there, the error shows the closest match and how it differs."""

import difflib
import re
from asyncio import to_thread
from collections import Counter

from tools.errors import NoMatch
from tools.text_files import TextFile

_MAX_LINES = 20_000
_MIN_RATIO = 0.6
#: Places that are compared with a text that isn't there, and how much of each.
_CANDIDATES = 10
_COMPARED = 2_000
#: Letters that are compared one by one; of a longer text, so many words and signs.
_SHORT = 120
#: Lines of the difference that are shown, and their width.
_SHOWN = 60
_WIDTH = 300
#: What chooses them: the first lines of the text, and words of each.
_FIRST_LINES = 8
_WORDS = 20
_WORD = re.compile(r"\w+|[^\w\s]{2,}")
#: Shorter texts are edited at once; in a longer one the search for what is similar would block the loop.
_FEW_CHARACTERS = 4_000
#: A line as `read_file` and `search_code` number it.
_NUMBERED = re.compile(r" *(\d+)[ :-](.*)", re.DOTALL)


async def replace_in(file: TextFile, old: str, new: str, path: str, *, every: bool = False) -> TextFile:
    if old in file.text or len(file.text) + len(old) <= _FEW_CHARACTERS:
        return replace(file, old, new, path, every=every)
    return await to_thread(replace, file, old, new, path, every=every)


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
    diff = list(difflib.unified_diff(_shortened(wanted), _shortened(there), n=_SHOWN, lineterm=""))[3:]
    return (
        f"{path} does not contain oldText. The closest text is at line {place + 1}; {_why(wanted, there)}. "
        "(- oldText, + the file)\n"
        + "\n".join(f"{line[:1]} {line[1:]}" for line in diff[:_SHOWN])
        + "\nCopy the text from the file."
    )


def _shortened(lines: list[str]) -> list[str]:
    return [line[:_WIDTH] for line in lines[:_SHOWN]]


def _closest(lines: list[str], wanted: list[str]) -> int | None:
    """The place that is most alike. Bounded work: in lines that resemble each other all of them are alike."""
    if len(lines) > _MAX_LINES:
        return None
    bare, block = [line.strip() for line in lines], [line.strip() for line in wanted]
    best, best_place = _MIN_RATIO, None
    matcher: difflib.SequenceMatcher[str] = difflib.SequenceMatcher(autojunk=False)
    text = "\n".join(block)[:_COMPARED]
    matcher.set_seq2(_pieces(text) if len(text) > _SHORT else text)
    for place in _candidates(bare, block):
        there = "\n".join(bare[place : place + len(block)])[:_COMPARED]
        matcher.set_seq1(_pieces(there) if len(text) > _SHORT else there)
        if matcher.quick_ratio() > best and (ratio := matcher.ratio()) > best:
            best, best_place = ratio, place
    return best_place


def _pieces(text: str) -> list[str]:
    """Its first words and signs: comparing takes cubic time."""
    return re.findall(r"\w+|\S", text)[:_SHORT]


def _candidates(bare: list[str], block: list[str]) -> list[int]:
    """The places whose lines have most words in common with the first lines of the block."""
    votes: Counter[int] = Counter()
    first = [(offset, line) for offset, line in enumerate(block) if line][:_FIRST_LINES]
    for offset, line in first:
        words = set(_WORD.findall(line)[:_WORDS])
        for index, other in enumerate(bare):
            if shared := len(words) + 1 if line == other else sum(word in other for word in words):
                votes[max(index - offset, 0)] += shared
    return [place for place, _ in votes.most_common(_CANDIDATES)]


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
