"""Which names a `.gitignore` leaves out, by Git's rules: the last pattern that matches decides."""

import re
from typing import NamedTuple


class _Rule(NamedTuple):
    pattern: re.Pattern[str]
    ignores: bool
    directories: bool


class Ignored:
    """The rules of one directory and of all above it. Paths are relative to the top."""

    def __init__(self, rules: tuple[_Rule, ...] = ()) -> None:
        self._rules = rules

    def below(self, directory: str, text: str) -> "Ignored":
        """With the rules of a directory's own file added; they count more than those from above."""
        rules = [rule for line in text.splitlines() if (rule := _rule(line, directory)) is not None]
        return Ignored((*self._rules, *rules)) if rules else self

    def __call__(self, path: str, *, directory: bool) -> bool:
        for rule in reversed(self._rules):
            if (directory or not rule.directories) and rule.pattern.fullmatch(path):
                return rule.ignores
        return False


def _rule(line: str, directory: str) -> _Rule | None:
    line = line.rstrip("\n\r")
    line = re.sub(r"(?<!\\) +$", "", line)
    if not line or line.startswith("#"):
        return None
    ignores = not line.startswith("!")
    line = line if ignores else line[1:]
    directories = line.endswith("/")
    line = line.rstrip("/")
    anchored = "/" in line
    prefix = re.escape(f"{directory}/") if directory else ""
    start = prefix if anchored else f"{prefix}(?:.*/)?"
    try:
        return _Rule(re.compile(start + translated(line.lstrip("/"))), ignores, directories)
    except re.error:
        return None


def translated(pattern: str) -> str:
    """A glob as a regular expression: `*` stays within a name, `**` does not."""
    parts: list[str] = []
    place = 0
    while place < len(pattern):
        if pattern.startswith("**/", place):
            parts.append("(?:.*/)?")
            place += 3
        elif pattern.startswith("**", place):
            parts.append(".*")
            place += 2
        elif pattern[place] == "*":
            parts.append("[^/]*")
            place += 1
        elif pattern[place] == "?":
            parts.append("[^/]")
            place += 1
        elif pattern[place] == "[" and (end := pattern.find("]", place + 2)) > 0:
            inside = pattern[place + 1 : end].replace("\\", "\\\\")
            parts.append(f"[{'^' + inside[1:] if inside[0] in '!^' else inside}]")
            place = end + 1
        else:
            place += pattern[place] == "\\" and place + 1 < len(pattern)
            parts.append(re.escape(pattern[place]))
            place += 1
    return "".join(parts)
