"""Reads counts and failures from the output of a test run, and shows the failures to a model."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sidecar.wire.text import plural
from tools.parsed import parse_json

#: Exit codes of a run without a single test: Python's runners have some of their own.
_NO_TESTS = {"pytest": (0, 4, 5), "unittest": (0, 5)}
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_MESSAGE = 500
_MOCHA_WORDS = {
    "passing": "pass",
    "passed": "pass",
    "failing": "fail",
    "failed": "fail",
    "pending": "skipped",
    "skipped": "skipped",
}
_MOCHA = re.compile(r"^[ \t]*(\d+) (?:tests? )?(passing|passed|failing|failed|pending|skipped)\b", re.MULTILINE)
#: How runners say that they found no test, whatever their exit code.
_NONE = re.compile(r"^(?:=* ?no tests ran\b|NO TESTS RAN|No tests? (?:files? )?found\b|Ran 0 tests\b)", re.MULTILINE)


class TestFailure(NamedTuple):
    name: str
    message: str


@dataclass(slots=True)
class SuiteReport:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failures: list[TestFailure] = field(default_factory=list)
    known: bool = True

    @property
    def empty(self) -> bool:
        """It is known that not a single test ran."""
        return self.known and self.passed + self.failed + self.skipped == 0

    @property
    def summary(self) -> str:
        if not self.known:
            return "the output contains no counts"
        if self.empty:
            return "no tests were found"
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"

    def fail(self, name: str, message: str) -> None:
        self.failures.append(TestFailure(name.strip(), message.strip()[:_MESSAGE]))


def parse_report(framework: str, output: str, exit_code: int | None) -> SuiteReport:
    text = _COLOUR.sub("", output)
    readers = {"pytest": _pytest, "unittest": _unittest, "npm": _npm, "go": _go, "cargo": _cargo}
    reader = readers.get(framework)
    found = reader(text) if reader is not None else SuiteReport(known=False)
    found.failed = max(found.failed, len(found.failures))
    if found.empty and exit_code not in _NO_TESTS.get(framework, (0,)) and not _NONE.search(text):
        found.known = False
    return found


def _count(text: str, word: str) -> int:
    return sum(int(number) for number in re.findall(rf"(\d+) {word}", text))


def _pytest(text: str) -> SuiteReport:
    last = next((line for line in reversed(text.splitlines()) if re.search(r"\d+ \w+.* in [\d.]+s", line)), "")
    found = SuiteReport(
        passed=_count(last, "passed") + _count(last, "xpassed"),
        failed=_count(last, "failed") + _count(last, "errors?"),
        skipped=_count(last, "skipped") + _count(last, "xfailed"),
    )
    for kind, name, message in re.findall(r"^(FAILED|ERROR) (\S+(?: \S+)*?)(?: - (.*))?$", text, re.MULTILINE):
        found.fail(name, message or _error_of(text, name) or kind.lower())
    return found


def _error_of(text: str, name: str) -> str:
    """The error in the section about a file or a fixture; pytest's summary doesn't repeat it."""
    test = name.rpartition("::")[2]
    for title in (f" ERROR collecting {name} ", f" ERROR at setup of {test} "):
        _, found, section = text.partition(title)
        error = re.search(r"^E {3,}(\S.*)$", section.partition("\n___")[0], re.MULTILINE) if found else None
        if error:
            return error[1]
    return ""


def _unittest(text: str) -> SuiteReport:
    ran = re.search(r"^Ran (\d+) tests?", text, re.MULTILINE)
    tail = text[ran.end() :] if ran else ""
    failed = sum(int(number) for number in re.findall(r"(?:failures|errors)=(\d+)", tail))
    skipped = sum(int(number) for number in re.findall(r"skipped=(\d+)", tail))
    found = SuiteReport(max(int(ran[1]) - failed - skipped, 0) if ran else 0, failed, skipped)
    for name, block in re.findall(
        r"^(?:FAIL|ERROR): (.*?)\n(.*?)(?=^={20,}|^-{20,}\nRan |\Z)", text, re.MULTILINE | re.DOTALL
    ):
        lines = [line for line in block.splitlines() if line and not line.startswith(" ")]
        found.fail(name, next((line for line in reversed(lines) if not line.startswith("-")), ""))
    return found


#: A file whose tests never began, as vitest and jest say it.
_NOT_LOADED = re.compile(
    r"^[ \t]*FAIL[ \t]+(?:\|\S+\|[ \t]+)?(\S+)(?:[ \t]+\[ \S+ \]\n|.*\n\s*● Test suite failed to run\s*\n)\s*(.*)$",
    re.MULTILINE,
)


def _npm(text: str) -> SuiteReport:
    """vitest, jest, and Node's own runner."""
    line = re.search(r"^[ \t]*Tests:?[ \t]+(.*\d.*)$", text, re.MULTILINE)
    if line:
        found = SuiteReport(_count(line[1], "passed"), _count(line[1], "failed"), _count(line[1], "skipped|todo"))
        for name, message in re.findall(r"^[ \t]*(?:FAIL|×)[ \t]+(\S.*? > .*?)\n(.*)$", text, re.MULTILINE):
            found.fail(name, message)
        for name, message in _NOT_LOADED.findall(text):
            found.fail(name, message)
        if not found.failures:
            for name, block in re.findall(r"^[ \t]*● (.*? › .*?)\n\s*\n?(.*?)$", text, re.MULTILINE):
                found.fail(name, block)
        return found
    numbers = dict(re.findall(r"^(?:#|ℹ) (pass|fail|skipped) +(\d+)$", text, re.MULTILINE))
    if not numbers:
        # mocha, and ava
        numbers = {_MOCHA_WORDS[word]: number for number, word in _MOCHA.findall(text)}
    found = SuiteReport(int(numbers.get("pass", 0)), int(numbers.get("fail", 0)), int(numbers.get("skipped", 0)))
    # A script may be anything; only a runner that says so has found no test.
    found.known = bool(numbers) or _NONE.search(text) is not None
    failed: dict[str, str] = {}
    for match in _NODE_FAILED.finditer(text):
        # The list of failures at the end repeats them.
        if not match["name"].startswith("failing tests") and match["name"] not in failed:
            failed[match["name"]] = _node_error(text[match.end() : match.end() + _NODE_BLOCK])
    for name, message in failed.items():
        found.fail(name, message)
    return found


_NODE_FAILED = re.compile(r"^[ \t]*(?:not ok \d+ - |✖ )(?P<name>.*?)(?: \([\d.]+ms\))?$", re.MULTILINE)
_NODE_BLOCK = 4_000
#: What follows a failure: in TAP an indented block with its parts, else the error as Node prints it.
_TAP_BLOCK = re.compile(r"\n(?P<indent>[ \t]+)---\n(?P<body>.*?)(?:\n(?P=indent)\.\.\.|\Z)", re.DOTALL)
_TAP_ERROR = re.compile(r"^ +error: (?:\|-\n(?P<lines>(?:.*\n)+?) +\w+: |(?P<line>[^|\n].*)$)", re.MULTILINE)
_TAP_KIND = re.compile(r"^ +name: '(\w+)'$", re.MULTILINE)
_AT = re.compile(r"^[ \t]+(?:at )?[^\n]*?\(?(?:file://)?(?P<place>/[^\s()]+:\d+:\d+)\)?", re.MULTILINE)


def _node_error(block: str) -> str:
    """The error and its place of a failure in the output of Node's runner; "" if it isn't there."""
    tap = _TAP_BLOCK.match(block)
    if tap is not None:
        error, kind = _TAP_ERROR.search(tap["body"]), _TAP_KIND.search(tap["body"])
        said = (error["lines"] or error["line"]).strip("'\"") if error is not None else ""
        said = f"{kind[1]}: {said}" if kind is not None else said
        body = tap["body"].rpartition(" stack: ")[2]
    else:
        body = re.split(r"\n[ \t]*(?:✖|✔|▶|ℹ|test at) ", block, maxsplit=1)[0]
        said = re.split(r"\n[ \t]+at ", body, maxsplit=1)[0]
    places = [match["place"] for match in _AT.finditer(body) if "node_modules/" not in match["place"]]
    return " ".join([*said.split(), *([f"({places[0]})"] if said.strip() and places else [])])


def _go(text: str) -> SuiteReport:
    found = SuiteReport()
    said: dict[str, list[str]] = {}
    for line in text.splitlines():
        try:
            event = parse_json(line)
        except ValueError:
            continue
        if not isinstance(event, dict) or not event.get("Test"):
            continue
        name = f"{event.get('Package')}.{event['Test']}"
        match event.get("Action"):
            case "pass":
                found.passed += 1
            case "skip":
                found.skipped += 1
            case "output":
                said.setdefault(name, []).append(str(event.get("Output", "")))
            case "fail":
                lines = [each for each in said.get(name, []) if not each.lstrip().startswith(("---", "==="))]
                found.fail(name, "".join(lines))
    return found


def _cargo(text: str) -> SuiteReport:
    found = SuiteReport()
    for line in re.findall(r"^test result: .*$", text, re.MULTILINE):
        found.passed += _count(line, "passed")
        found.failed += _count(line, "failed")
        found.skipped += _count(line, "ignored")
    for name in dict.fromkeys(re.findall(r"^test (\S+) \.\.\. FAILED$", text, re.MULTILINE)):
        said = re.search(rf"^---- {re.escape(name)} stdout ----\n(.*?)(?=\n\n|\Z)", text, re.MULTILINE | re.DOTALL)
        found.fail(name, said[1] if said else "")
    return found


_CHARACTERS = 2_800
_NAMES = 10
_GROUPS = 8
_MIN_TRACEBACK = 250
#: The head of a failure in pytest's output, with a single line on each side of a long name, and the end of them all.
_SECTION = re.compile(r"^_+ (?P<name>\S.*?) _+$|^={3,} .* ={3,}$", re.MULTILINE)
_ERROR = re.compile(r"^E {2,}(\S.*)$", re.MULTILINE)
_CHAINED = re.compile(
    r"^(?:During handling of the above exception, another|The above exception was the direct cause)", re.MULTILINE
)
#: What differs between failures of the same kind; and what may differ too if they come from the same line.
_VARIES = re.compile(r"0x[0-9a-fA-F]+|\d+(?:\.\d+)?")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|<[^>]*>")
_RAISED = re.compile(r"^(\S+:\d+): (?:in \S|\w*(?:Error|Exception|Warning)\b)", re.MULTILINE)


@dataclass(slots=True)
class _Group:
    message: str
    traceback: str = ""
    names: list[str] = field(default_factory=list)

    def render(self, room: int) -> str:
        # The place of the error is worth more than many names.
        names, left = self.names[:1], room // 3 - len(self.names[0])
        for name in self.names[1:_NAMES]:
            left -= len(name) + 2
            if left < 0:
                break
            names.append(name)
        more = f", {len(self.names) - len(names)} more" if len(self.names) > len(names) else ""
        message = _first_line(self.message) or "no message"
        head = f"{plural(len(self.names), 'test')}: {message}\n  {', '.join(names)}{more}"
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
        parts.append(f"… {plural(len(groups) - len(shown), 'more kind')} of failure")
    if len(report.failures) > 1:
        parts.append("Run one of them with target for all of its output.")
    return "\n\n".join(parts)


def _group(failures: Sequence[TestFailure], sections: dict[str, str]) -> list[_Group]:
    """By their message, wherever they come from; or by their line, if only what the message quotes differs."""
    groups: list[_Group] = []
    known: dict[tuple[str, str], _Group] = {}
    for failure in failures:
        traceback = sections.get(_short_name(failure.name), "")
        # Of exceptions in a chain, the last one ended the test.
        error = _ERROR.search(_CHAINED.split(traceback)[-1])
        message = error[1] if error else failure.message
        kind = _VARIES.sub("#", _first_line(message))
        raised = _RAISED.findall(traceback)
        keys = [("", kind), *([(raised[-1], _QUOTED.sub("…", kind))] if raised else [])]
        group = next((known[key] for key in keys if key in known), None)
        if group is None:
            groups.append(group := _Group(message, traceback))
        for key in keys:
            known.setdefault(key, group)
        group.names.append(failure.name)
    return groups


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
    """The last lines within the room: errors are at the end."""
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
    return "\n".join([f"… {plural(len(lines) - len(kept), 'line')} before", *reversed(kept)])
