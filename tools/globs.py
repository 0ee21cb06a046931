"""Path patterns: `.gitignore` rules, and globs as `.gitignore` has them.

A glob without a slash matches names, one with a slash matches whole paths; `**` matches any folders. ripgrep's own
globs override `.gitignore`, so results are matched here instead.

Patterns come from models and repositories, so the time of a match is linear in the path: a pattern that could
backtrack, such as `{*a,b}*a*a*b` or `**/a/**/a/**/b`, runs on a set of states instead of a regular expression.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

Matches = Callable[[str], bool]

MAX_NESTED = 32
#: Rules with wildcards that count, of a directory and all above it. Each path is compared with all of them; plain names
#: and endings such as `*.pyc` are looked up and have no limit.
MAX_WILDCARD_RULES = 1_000
_MAX_WILDCARD_TEXT = 20_000
_COSTLY_TEXT = 2_000
#: Braces in a pattern; each costs as much as many characters.
MAX_BRACES = 100
#: A longer pattern isn't left to a regular expression, which compares its text again at every place of a path.
_MAX_SIMPLE = 64
#: Characters whose moves a pattern remembers.
_MAX_CHARACTERS = 256


class Star(NamedTuple):
    """`*`, or `**` that isn't a whole folder name: any characters."""

    crosses: bool = False


class Deep(NamedTuple):
    """`**/`: any number of folders."""


class One(NamedTuple):
    """One character. Without a set, any character but a slash."""

    singles: frozenset[str] = frozenset()
    ranges: tuple[tuple[str, str], ...] = ()
    negated: bool = True
    slash: bool = False

    def fits(self, character: str) -> bool:
        if character == "/" and not self.slash:
            return False
        inside = character in self.singles or any(low <= character <= high for low, high in self.ranges)
        return inside != self.negated

    def expression(self) -> str:
        inside = "".join(map(re.escape, sorted(self.singles)))
        inside += "".join(f"{re.escape(low)}-{re.escape(high)}" for low, high in self.ranges)
        if not inside:
            return "[^/]"
        return f"{'' if self.slash else '(?!/)'}[{'^' if self.negated else ''}{inside}]"


class Mark(NamedTuple):
    """`{`, `,` or `}` of alternatives."""

    mark: str


Part = str | Star | Deep | One | Mark


class Ignored:
    """The rules of one directory and of all above it; the last match decides. Paths are relative to the top."""

    def __init__(self, files: "tuple[_RuleFile, ...]" = ()) -> None:
        self._files = files
        self._room = MAX_WILDCARD_RULES - sum(len(file.wild) for file in files)
        self._text = sum(file.text for file in files)

    def below(self, directory: str, text: str) -> "Ignored":
        """Add the rules of a directory's own file, which take precedence."""
        file = _RuleFile(directory, text, self._room, _MAX_WILDCARD_TEXT - self._text)
        return Ignored((*self._files, file)) if file.count else self

    @property
    def costly(self) -> bool:
        """Whether there is so much to compare that only a thread should."""
        return self._text > _COSTLY_TEXT

    def __call__(self, path: str, *, directory: bool) -> bool:
        for file in reversed(self._files):
            verdict = file.verdict(path, directory=directory)
            if verdict is not None:
                return verdict
        return False


class _Rule(NamedTuple):
    place: int
    ignores: bool
    directories: bool


class _Wild:
    """A rule with wildcards, compiled when a path first needs it."""

    def __init__(self, rule: _Rule, parts: list[Part]) -> None:
        self.rule = rule
        self._parts = parts
        self._matches: Matches | None = None

    def __call__(self, path: str) -> bool:
        if self._matches is None:
            self._matches = _compile(self._parts)
        return self._matches(path)


class _RuleFile:
    """The rules of one file, by how they are looked up. The last rule that matches decides."""

    def __init__(self, directory: str, text: str, room: int, most_text: int) -> None:
        self._prefix = f"{directory}/" if directory else ""
        self._names: dict[str, list[_Rule]] = {}
        self._paths: dict[str, list[_Rule]] = {}
        self._endings: dict[str, list[_Rule]] = {}
        self.wild: list[_Wild] = []
        self._room = room
        self._most_text = most_text
        #: Characters of the rules with wildcards.
        self.text = 0
        self.count = 0
        for line in text.splitlines():
            self._add(line)

    def _add(self, line: str) -> None:
        line = _without_spaces(line)
        if not line or line.startswith("#"):
            return
        ignores = not line.startswith("!")
        line = line if ignores else line[1:]
        rule = _Rule(self.count, ignores, line.endswith("/"))
        line = line.rstrip("/")
        anchored = "/" in line
        line = line.lstrip("/")
        if not line:
            return
        if not any(character in line for character in "*?[\\"):
            (self._paths if anchored else self._names).setdefault(line, []).append(rule)
        elif not anchored and line[0] == "*" and not any(character in line[1:] for character in "*?[\\"):
            self._endings.setdefault(line[1:], []).append(rule)
        elif len(self.wild) < self._room and self.text + len(line) <= self._most_text:
            self.text += len(line)
            try:
                parts = _parse(line, braces=False)
            except ValueError:
                return
            self.wild.append(_Wild(rule, parts if anchored else [Deep(), *parts]))
        else:
            return
        self.count += 1

    def verdict(self, path: str, *, directory: bool) -> bool | None:
        if not path.startswith(self._prefix):
            return None
        path = path[len(self._prefix) :]
        name = path.rpartition("/")[2]
        best: _Rule | None = None
        for rules in self._found(path, name):
            for rule in rules:
                if (directory or not rule.directories) and (best is None or rule.place > best.place):
                    best = rule
        for wild in reversed(self.wild):
            if best is not None and wild.rule.place < best.place:
                break
            if (directory or not wild.rule.directories) and wild(path):
                best = wild.rule
                break
        return None if best is None else best.ignores

    def _found(self, path: str, name: str) -> Iterable[list[_Rule]]:
        if found := self._names.get(name):
            yield found
        if found := self._paths.get(path):
            yield found
        if self._endings:
            for start in range(len(name) + 1):
                if found := self._endings.get(name[start:]):
                    yield found


def _without_spaces(line: str) -> str:
    """Without trailing spaces; an escaped one stays."""
    bare = line.rstrip(" ")
    return f"{bare} " if bare != line and bare.endswith("\\") else bare


def matcher(pattern: str) -> Matches:
    """Compile a glob. Raise ValueError if it is malformed."""
    anchored = "/" in pattern.rstrip("/")
    parts = _parse(pattern.strip("/"), braces=True)
    return _compile(parts if anchored else [Deep(), *parts])


# -- parsing ----------------------------------------------------------------------------------------------------------


def _parse(pattern: str, *, braces: bool) -> list[Part]:
    """Raise ValueError if the pattern is malformed; a `.gitignore` rule takes a lone `[` as it is."""
    parts: list[Part] = []
    depth = place = marks = 0
    while place < len(pattern):
        character = pattern[place]
        if character == "*":
            end = place
            while end < len(pattern) and pattern[end] == "*":
                end += 1
            if end - place >= 2 and pattern[end : end + 1] == "/" and (place == 0 or pattern[place - 1] in "/{,"):
                if not (parts and isinstance(parts[-1], Deep)):
                    parts.append(Deep())
                end += 1
            else:
                parts.append(Star(crosses=end - place >= 2))
            place = end
        elif character == "[" and (end := _set_end(pattern, place)) > 0:
            parts.append(_set(pattern[place + 1 : end], slash=not braces))
            place = end + 1
        elif character == "[" and braces:
            raise ValueError("there is a [ without its ]")
        elif character == "\\" and place + 1 < len(pattern):
            parts.append(pattern[place + 1])
            place += 2
        elif braces and (character in "{}" or (character == "," and depth)):
            depth += {"{": 1, "}": -1}.get(character, 0)
            if depth < 0:
                raise ValueError("there is a } without its {")
            marks += 1
            if marks > MAX_BRACES:
                raise ValueError(f"there are more than {MAX_BRACES} braces and commas")
            if depth > MAX_NESTED:
                raise ValueError(f"braces are nested more than {MAX_NESTED} deep")
            parts.append(Mark(character))
            place += 1
        else:
            parts.append(One() if character == "?" else character)
            place += 1
    if depth:
        raise ValueError("there is a { without its }")
    return parts


def _set_end(pattern: str, start: int) -> int:
    """Return where the set `[…]` that starts here ends, or -1; a `]` at its start is one of its characters."""
    return pattern.find("]", start + (3 if pattern[start + 1 : start + 2] in ("!", "^") else 2))


def _set(characters: str, *, slash: bool) -> One:
    negated = characters[0] in "!^"
    characters = characters[1:] if negated else characters
    if not characters:
        raise ValueError("there is an empty [ ]")
    singles: set[str] = set()
    ranges: list[tuple[str, str]] = []
    place = 0
    while place < len(characters):
        if characters[place + 1 : place + 2] == "-" and place + 2 < len(characters):
            low, high = characters[place], characters[place + 2]
            if low > high:
                raise ValueError(f"{low}-{high} is no range")
            ranges.append((low, high))
            place += 3
        else:
            singles.add(characters[place])
            place += 1
    return One(frozenset(singles), tuple(ranges), negated, slash)


# -- matching ---------------------------------------------------------------------------------------------------------


def _compile(parts: list[Part]) -> Matches:
    if not _may_backtrack(parts):
        found = re.compile("".join(_expressions(parts)), re.DOTALL).fullmatch
        return lambda path: found(path) is not None
    return _Automaton(parts)


def _may_backtrack(parts: list[Part]) -> bool:
    """Whether a regular expression could take more than linear time: one wildcard of each kind is harmless."""
    if len(parts) > _MAX_SIMPLE:
        return True
    deep = sum(isinstance(part, Deep) for part in parts)
    stars = [part.crosses for part in parts if isinstance(part, Star)]
    braces = sum(part.mark == "{" for part in parts if isinstance(part, Mark))
    if deep > 1 or len(stars) > 1 or (deep > 0 and any(stars)) or braces > 1:
        return True
    return braces == 1 and _is_wild_inside(parts)


def _is_wild_inside(parts: list[Part]) -> bool:
    start, end = parts.index(Mark("{")), parts.index(Mark("}"))
    return any(isinstance(part, Star | Deep) for part in parts[start:end])


def _expressions(parts: Sequence[Part]) -> Iterable[str]:
    for part in parts:
        match part:
            case Star(crosses=crosses):
                yield ".*" if crosses else "[^/]*"
            case Deep():
                yield "(?:.*/)?"
            case One():
                yield part.expression()
            case Mark(mark=mark):
                yield {"{": "(?:", ",": "|", "}": ")"}[mark]
            case _:
                yield re.escape(part)


class _Automaton:
    """All ways through a pattern at once: a set of states, moved by each character.

    A set is one number, with a bit for each state, so a move costs a few operations however many states there are. The
    character of state n leads to state n + 1.
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        self._edges: list[str | One | None] = [None]
        #: States that stay for any character but a slash, and those that stay for any.
        self._stays = self._crosses = 0
        #: The states that a state leads to without a character.
        self._free: dict[int, int] = {}
        self._end = 1 << self._build(parts)
        self._leaving = sum(1 << state for state in self._free)
        # States lead only to later ones, so the last come first.
        for state in sorted(self._free, reverse=True):
            self._free[state] = self._reach(self._free[state])
        self._first = self._reach(1)
        self._moving: dict[str, int] = {}

    def __call__(self, path: str) -> bool:
        states, leaving = self._first, self._leaving
        for character in path:
            moving = self._moving.get(character)
            if moving is None:
                moving = self._moves(character)
            staying = self._crosses if character == "/" else self._stays | self._crosses
            states = ((states & moving) << 1) | (states & staying)
            if states & leaving:
                states = self._reach(states)
            if not states:
                return False
        return states & self._end != 0

    def _moves(self, character: str) -> int:
        """The states that this character leads on."""
        found = 0
        for state, edge in enumerate(self._edges):
            if edge is not None and (edge == character if isinstance(edge, str) else edge.fits(character)):
                found |= 1 << state
        if len(self._moving) < _MAX_CHARACTERS:
            self._moving[character] = found
        return found

    def _reach(self, states: int) -> int:
        waiting = states & self._leaving
        while waiting:
            lowest = waiting & -waiting
            states |= self._free[lowest.bit_length() - 1]
            waiting ^= lowest
        return states

    def _state(self) -> int:
        self._edges.append(None)
        return len(self._edges) - 1

    def _lead(self, state: int, target: int) -> None:
        self._free[state] = self._free.get(state, 0) | 1 << target

    def _build(self, parts: Sequence[Part]) -> int:
        """Returns the last state; the first one is 0."""
        state = 0
        groups: list[tuple[int, list[int]]] = []
        for part in parts:
            match part:
                case Star(crosses=crosses):
                    self._stays |= 0 if crosses else 1 << state
                    self._crosses |= 1 << state if crosses else 0
                case Deep():
                    state = self._folders(state)
                case Mark(mark="{"):
                    groups.append((state, []))
                    state = self._opened(state)
                case Mark(mark=mark):
                    groups[-1][1].append(state)
                    state = self._opened(groups[-1][0]) if mark == "," else self._closed(groups.pop()[1])
                case _:
                    self._edges[state] = part
                    state = self._state()
        return state

    def _opened(self, start: int) -> int:
        inner = self._state()
        self._lead(start, inner)
        return inner

    def _closed(self, ends: Iterable[int]) -> int:
        after = self._state()
        for end in ends:
            self._lead(end, after)
        return after

    def _folders(self, state: int) -> int:
        """Nothing, or any characters up to a slash."""
        inside = self._opened(state)
        self._crosses |= 1 << inside
        self._edges[inside] = "/"
        after = self._state()
        self._lead(state, after)
        return after
