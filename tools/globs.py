"""Path patterns: `.gitignore` rules, and globs as `.gitignore` has them.

A glob without a slash matches names, one with a slash matches whole paths; `**` matches any folders. ripgrep's own
globs override `.gitignore`, so results are matched here instead. A `*` that another `*` follows takes the first match
and never backtracks: `*a*a*a*b` stays fast.
"""

import re
from collections.abc import Callable
from typing import NamedTuple


class _Rule(NamedTuple):
    pattern: re.Pattern[str]
    ignores: bool
    directories: bool


class Ignored:
    """The rules of one directory and of all above it; the last match decides. Paths are relative to the top."""

    def __init__(self, rules: tuple[_Rule, ...] = ()) -> None:
        self._rules = rules

    def below(self, directory: str, text: str) -> "Ignored":
        """Add the rules of a directory's own file, which take precedence."""
        rules = [rule for line in text.splitlines() if (rule := _parse_rule(line, directory)) is not None]
        return Ignored((*self._rules, *rules)) if rules else self

    def __call__(self, path: str, *, directory: bool) -> bool:
        for rule in reversed(self._rules):
            if (directory or not rule.directories) and rule.pattern.fullmatch(path):
                return rule.ignores
        return False


def _parse_rule(line: str, directory: str) -> _Rule | None:
    line = re.sub(r"(?<!\\) +$", "", line.rstrip("\n\r"))
    if not line or line.startswith("#"):
        return None
    ignores = not line.startswith("!")
    line = line if ignores else line[1:]
    directories = line.endswith("/")
    line = line.rstrip("/")
    prefix = re.escape(f"{directory}/") if directory else ""
    start = prefix if "/" in line else f"{prefix}(?:.*/)?"
    try:
        return _Rule(re.compile(start + _rule_expression(line.lstrip("/"))), ignores, directories)
    except re.error:
        return None


def _rule_expression(pattern: str) -> str:
    parts: list[str] = []
    place = 0
    while place < len(pattern):
        if pattern.startswith("**/", place):
            parts.append("(?:.*/)?")
            place += 3
        elif pattern.startswith("**", place):
            parts.append(".*")
            place += 2
        elif pattern[place] in _WILDCARDS:
            parts.append(_WILDCARDS[pattern[place]])
            place += 1
        elif pattern[place] == "[" and (end := _set_end(pattern, place)) > 0:
            parts.append(_set_expression(pattern[place + 1 : end]))
            place = end + 1
        else:
            place += pattern[place] == "\\" and place + 1 < len(pattern)
            parts.append(re.escape(pattern[place]))
            place += 1
    return _without_backtracking(parts)


def matcher(pattern: str) -> Callable[[str], bool]:
    """Compile a glob. Raise ValueError if it is malformed."""
    anchored = "/" in pattern.rstrip("/")
    pattern = pattern.strip("/")
    expression = _glob_expression(pattern if anchored else f"**/{pattern}")
    try:
        matches = re.compile(expression, re.DOTALL).fullmatch
    except re.error as error:
        raise ValueError(str(error)) from error
    return lambda path: matches(path) is not None


def _glob_expression(pattern: str) -> str:
    parts: list[str] = []
    depth = place = 0
    while place < len(pattern):
        character = pattern[place]
        if pattern.startswith("**/", place) and (place == 0 or pattern[place - 1] in "/{,"):
            parts.append("(?:[^/]+/)*")
            place += 3
            continue
        if pattern.startswith("**", place):
            parts.append(".*")
            place += 2
            continue
        if character == "[":
            end = _set_end(pattern, place)
            if end < 0:
                raise ValueError("there is a [ without its ]")
            parts.append(f"(?!/){_set_expression(pattern[place + 1 : end])}")
            place = end + 1
            continue
        if character == "\\" and place + 1 < len(pattern):
            parts.append(re.escape(pattern[place + 1]))
            place += 2
            continue
        depth += {"{": 1, "}": -1}.get(character, 0)
        if depth < 0:
            raise ValueError("there is a } without its {")
        alternative = "|" if character == "," and depth else re.escape(character)
        parts.append(_WILDCARDS.get(character) or _BRACES.get(character) or alternative)
        place += 1
    if depth:
        raise ValueError("there is a { without its }")
    return "".join(parts) if "(?:" in parts else _without_backtracking(parts)


def _set_end(pattern: str, start: int) -> int:
    """Return where the set `[…]` that starts here ends, or -1; a `]` at its start is one of its characters."""
    return pattern.find("]", start + (3 if pattern[start + 1 : start + 2] in ("!", "^") else 2))


def _set_expression(characters: str) -> str:
    inside = characters.replace("\\", "\\\\").replace("[", "\\[")
    return f"[{'^' + inside[1:] if inside[0] in '!^' else inside}]"


def _without_backtracking(parts: list[str]) -> str:
    """Join the parts; a `*` with another `*` later in the same name takes the first match of what is between."""
    joined: list[str] = []
    place = 0
    while place < len(parts):
        end = place + 1
        if parts[place] == _STAR:
            while end < len(parts) and parts[end] not in (_STAR, "/", ".*", "(?:.*/)?", "(?:[^/]+/)*"):
                end += 1
        if end > place + 1 and end < len(parts) and parts[end] == _STAR:
            joined.append(f"(?>[^/]*?{''.join(parts[place + 1 : end])})")
        else:
            joined.extend(parts[place:end])
        place = end
    return "".join(joined)


_STAR = "[^/]*"
_WILDCARDS = {"*": _STAR, "?": "[^/]"}
_BRACES = {"{": "(?:", "}": ")"}
