"""Shows the failures of a test run to a model: each distinct error once, with its tests and one traceback."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from tools.test_report import SuiteReport, TestFailure
from tools.text import plural

_CHARACTERS = 2_800
_NAMES = 10
_GROUPS = 8
_MIN_TRACEBACK = 250
#: The head of a failure in pytest's output, and the end of them all.
_SECTION = re.compile(r"^_{3,} (?P<name>.+?) _{3,}$|^={3,} .* ={3,}$", re.MULTILINE)
_ERROR = re.compile(r"^E {2,}(\S.*)$", re.MULTILINE)
#: What differs between failures of the same kind.
_VARIES = re.compile(r"0x[0-9a-fA-F]+|\d+(?:\.\d+)?")
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


@dataclass(slots=True)
class _Group:
    message: str
    traceback: str = ""
    names: list[str] = field(default_factory=list)

    def render(self, room: int) -> str:
        names = ", ".join(self.names[:_NAMES])
        more = f", {len(self.names) - _NAMES} more" if len(self.names) > _NAMES else ""
        head = f"{plural(len(self.names), 'test')}: {_first_line(self.message)}\n  {names}{more}"
        body = _tail(self.traceback, room - len(head)) if self.traceback else ""
        return f"{head}\n{body}" if body else head


def render_failures(report: SuiteReport, output: str) -> str:
    """At most about 3,000 characters; the name of a test as target gives its whole output."""
    text = _COLOUR.sub("", output)
    groups = _group(report.failures, _sections(text))
    if not groups:
        return _tail(text, _CHARACTERS)
    groups.sort(key=lambda group: -len(group.names))
    shown = groups[:_GROUPS]
    parts: list[str] = []
    left = _CHARACTERS
    for number, group in enumerate(shown):
        parts.append(group.render(max(left // (len(shown) - number), _MIN_TRACEBACK)))
        left -= len(parts[-1]) + 2
    if len(groups) > len(shown):
        parts.append(f"… {len(groups) - len(shown)} more kinds of failure")
    if len(report.failures) > 1:
        parts.append("Run one of them with target for all of its output.")
    return "\n\n".join(parts)


def _group(failures: Sequence[TestFailure], sections: dict[str, str]) -> list[_Group]:
    groups: dict[str, _Group] = {}
    for failure in failures:
        traceback = sections.get(_short_name(failure.name), "")
        error = _ERROR.search(traceback)
        message = error[1] if error else failure.message
        key = _VARIES.sub("#", _first_line(message))
        group = groups.setdefault(key, _Group(message, traceback))
        group.names.append(failure.name)
    return list(groups.values())


def _sections(text: str) -> dict[str, str]:
    """Pytest's failures by the short name of their test."""
    found: dict[str, str] = {}
    matches = list(_SECTION.finditer(text))
    for match, following in zip(matches, [*matches[1:], None], strict=False):
        if match["name"]:
            body = text[match.end() : following.start() if following else len(text)].strip("\n")
            found.setdefault(match["name"].removeprefix("ERROR at setup of ").removeprefix("ERROR collecting "), body)
    return found


def _short_name(name: str) -> str:
    """`TestA.test_b[c]` of `tests/a.py::TestA::test_b[c]`; a file that can't be collected keeps its path."""
    path, found, test = name.partition("::")
    return test.replace("::", ".") if found else path


def _first_line(text: str) -> str:
    line = text.strip().partition("\n")[0]
    return line if len(line) <= 200 else f"{line[:200].rpartition(' ')[0] or line[:200]} …"


def _tail(text: str, room: int) -> str:
    """The last lines within the room: errors stand at the end."""
    if room <= 0:
        return ""
    if len(text) <= room:
        return text
    kept: list[str] = []
    size = 0
    lines = text.splitlines()
    for line in reversed(lines):
        line = line if len(line) <= 300 else f"{line[:300].rpartition(' ')[0] or line[:300]} …"
        size += len(line) + 1
        if size > room:
            break
        kept.append(line)
    return "\n".join([f"… {len(lines) - len(kept)} lines before", *reversed(kept)])
