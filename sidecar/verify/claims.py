"""Compares an agent's last report with what is there: the files, commits and plans that it names.

Only plain statements count as claims, not doubts or wishes.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sidecar.verify.change import FileVersions
from sidecar.verify.counts import Count, parse_counts
from sidecar.verify.facts import TaskFacts, check_commands, check_counts, count_commits
from sidecar.verify.prose import PATH, find_doubt, sentences
from sidecar.verify.result import CLAIMS, CheckResult, static_result
from sidecar.wire.text import plural
from tools.errors import ToolError
from tools.git import run_git
from tools.host import Host
from tools.spec import Call
from tools.test_files import holds_tests

_QUOTED_PATH = rf"[`'\"*]*(?P<path>{PATH})[`'\"*]*"
_BETWEEN = r"(?:(?!\b(?:which|that|from|for|using|by|with|reads|writes|not|if)\b)[\w`'-]+\s+){0,5}?"
_CREATED = r"created|wrote|written|added|generated|saved|introduced"
_CHANGED = r"changed|updated|edited|modified|rewrote|refactored|fixed|corrected|patched|extended|adjusted|implemented"
_CLAIM = re.compile(
    rf"\b(?P<verb>{_CREATED}|{_CHANGED})\b:?\s+(?P<between>{_BETWEEN}){_QUOTED_PATH}(?P<more>(?:\s*(?:,|and|&)\s*(?:and\s+)?[`'\"*]*{PATH}[`'\"*]*)*)",
    re.IGNORECASE,
)
_HEADING = re.compile(
    rf"^[#*\s]*(?:new files?|files? (?:{_CREATED})|(?:{_CREATED})(?: files?)?)\b[^.\n]{{0,40}}:[*\s]*$", re.IGNORECASE
)
_BULLET = re.compile(rf"^\s*(?:[-*+•]|\d+[.)])\s+{_QUOTED_PATH}")
_COMMITTED = re.compile(
    r"\b(?:I|I've|I have|We|changes? (?:is|are|was|were|has been|have been)|and|then|all|everything)\s+"
    r"(?:been\s+)?committed\b"
    r"|^\s*committed\b",
    re.IGNORECASE,
)
_HASH = re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b")
_TESTS_PASS = re.compile(
    r"\b(?:tests?|suite|specs?|checks?)\b[^.\n]{0,40}?"
    r"\b(?:pass|passes|passed|passing|green|succeed|succeeded|succeeds)\b|\b\d+ passed\b",
    re.IGNORECASE,
)
#: Tests of certain files, and all tests.
_TESTS_OF = re.compile(
    rf"\btests?\b[^.\n]{{0,20}}?\b(?:in|of|from|for)\s+(?:(?:that|this|these|those|the same)\s+(?:files?|modules?)\b|"
    rf"[`'\"*]*{PATH})",
    re.IGNORECASE,
)
_SOME_TESTS = re.compile(
    r"\b(?:new|added|both|these|those|related|relevant|regression|affected)\s+(?:\w+\s+){0,2}?tests?\b|\btest\s+pass",
    re.IGNORECASE,
)
_ALL_TESTS = re.compile(r"\b(?:all|every|everything|whole|entire|full|complete|suites?)\b", re.IGNORECASE)
#: A command in backticks that is said to pass.
_COMMAND_PASSES = re.compile(
    r"`(?P<command>[^`\n]{2,200})`(?:,\s+(?:which|and it))?(?:\s+\w+){0,2}?"
    r"\s+(?:pass(?:es|ed)?|succeed(?:s|ed)|(?:is|are) (?:green|clean))\b",
    re.IGNORECASE,
)
_CHECKER_PASSES = re.compile(
    r"\b(?P<checker>mypy|pyright|ruff|eslint|tsc|flake8|pylint)\b`?(?:\s+\w+){0,2}?"
    r"\s+(?:pass(?:es|ed)?|succeed(?:s|ed)|is (?:green|clean)"
    r"|(?:reports?|finds?|found|shows?) (?:no|nothing|zero|0)\b)",
    re.IGNORECASE,
)
_LINE = re.compile(rf"(?P<path>{PATH}):(?P<line>\d{{1,7}})\b")
_SECONDS = 10.0
_MAX_LOOKUPS = 100
_REMOVES = re.compile(r"\b(?:delet|remov|drop|renam|mov|clean)\w*", re.IGNORECASE)

#: The title of a planned step, and the files that it names.
PlannedFiles = tuple[str, Sequence[str]]


class FileClaim(NamedTuple):
    """A file that the report says was created (it must exist) or changed (it must differ)."""

    path: str
    created: bool


@dataclass(slots=True)
class Claims:
    """`doubted` are files that the report mentions without claiming anything: it may say why one is missing."""

    by_path: dict[str, FileClaim] = field(default_factory=dict)
    doubted: set[str] = field(default_factory=set)
    committed: bool = False
    commits: list[str] = field(default_factory=list)
    #: The sentences that say that tests or checks pass.
    passing: list[str] = field(default_factory=list)
    #: It is tests that are said to pass, not just checks.
    names_tests: bool = False
    #: Commands that are said to pass, and checkers.
    commands: list[str] = field(default_factory=list)
    checkers: list[str] = field(default_factory=list)
    #: Paths with a line.
    places: list[tuple[str, int]] = field(default_factory=list)

    @property
    def files(self) -> list[FileClaim]:
        return list(self.by_path.values())

    @property
    def tests_pass(self) -> bool:
        return bool(self.passing)

    def add_file(self, path: str, *, created: bool) -> None:
        """The first claim about a file counts."""
        self.by_path.setdefault(_clean(path), FileClaim(_clean(path), created))


def parse_claims(report: str) -> Claims:
    found, listing = Claims(), False
    for sentence in sentences(report):
        bullet = _BULLET.match(sentence)
        if listing and bullet:
            found.add_file(bullet["path"], created=True)
            continue
        listing = _HEADING.match(sentence) is not None
        doubt = find_doubt(sentence)
        _read_files(sentence, doubt, found)
        _read_passing(sentence, found)
        if (commit := _COMMITTED.search(sentence)) and commit.end() <= doubt:
            found.committed = True
            found.commits += _HASH.findall(sentence)
        found.commands += [each["command"] for each in _COMMAND_PASSES.finditer(sentence) if each.end() <= doubt]
        # "No errors" sounds like doubt, so only what comes before counts.
        found.checkers += [
            each["checker"].lower() for each in _CHECKER_PASSES.finditer(sentence) if each.start() < doubt
        ]
        found.places += [(_clean(each["path"]), int(each["line"])) for each in _LINE.finditer(sentence)]
    return found


def _read_files(sentence: str, doubt: int, found: Claims) -> None:
    for path in re.finditer(PATH, sentence):
        if path.end() > doubt:
            # A later doubt about a file takes an earlier claim back.
            found.by_path.pop(_clean(path[0]), None)
            found.doubted.add(_clean(path[0]))
    for match in _CLAIM.finditer(sentence):
        if match.end() > doubt:
            continue
        # Adding something *to* a file changes it.
        into = re.search(r"\b(?:to|in|into|of|at|inside)\s+$", match["between"]) is not None
        created = re.fullmatch(_CREATED, match["verb"], re.IGNORECASE) is not None and not into
        for path in (match["path"], *re.findall(PATH, match["more"])):
            found.add_file(path, created=created)


def _read_passing(sentence: str, found: Claims) -> None:
    plain = re.sub(PATH, "file", sentence)
    passing = _TESTS_PASS.search(plain)
    if passing is not None and passing.end() <= find_doubt(plain):
        found.passing.append(sentence)
        found.names_tests = found.names_tests or re.search(r"\bchecks?\b", passing[0], re.IGNORECASE) is None


def passing_tests(claims: Claims, passed: Collection[int]) -> tuple[bool, set[str]]:
    """Whether all tests are said to pass, and the files whose tests are.

    `passed`: how many passed in each of the task's own runs; a sentence with such a number may be about that run.
    """
    everything, files = False, set[str]()
    for sentence in claims.passing:
        numbers = {count.number for count in parse_counts(sentence) if count.kind == "passed"}
        named = {_clean(path) for path in re.findall(PATH, sentence) if holds_tests(_clean(path))}
        whole = _ALL_TESTS.search(sentence) is not None
        if _TESTS_OF.search(sentence) or (_SOME_TESTS.search(sentence) and not whole):
            files |= named
        elif whole or not numbers or not numbers <= set(passed):
            everything = everything or whole or not named
            files |= named
    return everything, files


def false_claims(claims: Sequence[FileClaim], changed: Sequence[str], existing: Sequence[str]) -> list[str]:
    """The claims about files that don't hold, given the files that did change and those that exist."""
    problems = []
    for claim in claims:
        if any(_same(claim.path, path) for path in changed):
            continue
        if claim.created and claim.path not in existing:
            problems.append(f"{claim.path} was reported as written, but there is no such file")
        elif not claim.created and claim.path in existing:
            problems.append(f"{claim.path} was reported as changed, but it is the same as before the task")
        elif not claim.created:
            problems.append(f"{claim.path} was reported as changed, but there is no such file")
    return problems


def _same(named: str, path: str) -> bool:
    """Reports may leave out folders or give absolute paths; of names with spaces, only the last word is parsed."""
    return path == named or path.endswith((f"/{named}", f" {named}")) or named.endswith(f"/{path}")


def _clean(path: str) -> str:
    return path.removeprefix("./").rstrip(".")


async def check_claims(
    claims: Claims,
    counts: Sequence[Count],
    planned: Sequence[PlannedFiles],
    changes: Sequence[FileVersions],
    facts: TaskFacts,
    host: Host,
    id: str,
) -> CheckResult | None:
    changed = [change.path for change in changes if change.before != change.after]
    problems = false_claims(claims.files, changed, await _find_existing([*claims.by_path], host))
    problems += await _missing_planned(planned, claims.doubted, changes, host)
    if claims.committed:
        problems += await _check_commits(claims, changes, facts, host, id)
    problems += await check_counts(counts, changes, facts, host, id)
    problems += check_commands(claims.commands, claims.checkers, facts)
    problems += _check_places(claims.places, changes)
    if not (claims.files or claims.committed or counts or problems):
        return None
    return claims_result(problems)


def claims_result(problems: list[str]) -> CheckResult:
    hint = "Check what is really there before you report it as done: do what is missing, or correct your report."
    return static_result(CLAIMS, problems, hints=[hint] if problems else [])


def _check_places(places: Sequence[tuple[str, int]], changes: Sequence[FileVersions]) -> list[str]:
    """The lines that are named beyond the end of a changed file; one that was removed may have been there."""
    problems = []
    for path, line in dict.fromkeys(places):
        lengths = [
            max(len((content or b"").splitlines()) for content in (change.before, change.after))
            for change in changes
            if _same(path, change.path)
        ]
        if lengths and line > max(lengths):
            problems.append(f"{path}:{line} was named, but the file has {plural(max(lengths), 'line')}")
    return problems


async def _find_existing(paths: Sequence[str], host: Host) -> list[str]:
    found = []
    for path in paths[:_MAX_LOOKUPS]:
        try:
            await host.stat(path)
        except ToolError as error:
            if error.code == "not_found":
                continue
        found.append(path)
    return [*found, *paths[_MAX_LOOKUPS:]]


async def _missing_planned(
    planned: Sequence[PlannedFiles], doubted: set[str], changes: Sequence[FileVersions], host: Host
) -> list[str]:
    touched = doubted | {change.path for change in changes}
    wanted = [
        (title, path.removeprefix("./"))
        for title, files in planned
        if not _REMOVES.search(title)
        for path in files
        if re.fullmatch(r"[\w./@+-]+\.\w+", path) and path.removeprefix("./") not in touched
    ]
    existing = await _find_existing([path for _, path in wanted], host)
    return [
        f"{path} was planned ({title}), but there is no such file" for title, path in wanted if path not in existing
    ]


async def _check_commits(
    claims: Claims, changes: Sequence[FileVersions], facts: TaskFacts, host: Host, id: str
) -> list[str]:
    """Whether the reported commits exist, are the task's own, and hold the change."""
    call = Call(f"{id}.git", host.workspace, _SECONDS)
    changed = [change.path for change in changes if change.before != change.after]
    made = await count_commits(facts, changes, host, id)
    try:
        await run_git(host, call, ["rev-parse", "--git-dir"])
    except ToolError:
        return [] if made != 0 else ["a commit was reported, but this is no Git repository"]
    problems = []
    for name in dict.fromkeys(claims.commits):
        try:
            await run_git(host, call, ["rev-list", "-n", "1", name, "--"])
        except ToolError:
            problems.append(f"commit {name} was reported, but there is no such commit")
    if problems:
        return problems
    try:
        left = await run_git(host, call, ["diff", "--name-only", "-z", "HEAD", "--", *changed]) if changed else ""
        new = await run_git(host, call, ["ls-files", "--others", "-z", "--", *changed]) if changed else ""
    except ToolError:
        return ["a commit was reported, but there are no commits"]
    open_files = sorted({path for path in f"{left}{new}".split("\0") if path})
    if open_files:
        return [f"the change was reported as committed, but {', '.join(open_files[:10])} is not in any commit"]
    return ["a commit was reported, but this task made none"] if made == 0 else []
