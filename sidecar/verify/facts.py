"""Compares the numbers in a report with what the task did: commits since its first command, files, tests."""

import posixpath
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from sidecar.verify.cases import find_cases
from sidecar.verify.change import FileVersions
from sidecar.verify.counts import Count
from sidecar.wire.text import plural
from tools.errors import ToolError
from tools.git import run_git
from tools.host import Host
from tools.ledger import GitHead
from tools.spec import Call
from tools.text_files import exists

_SECONDS = 10.0
_MAX_FOLDERS = 200
#: Words of commands that run tests, perhaps among others.
_TESTS = re.compile(r"test|spec|jest|mocha|tox|nox|check", re.IGNORECASE)
#: One such test runs as several.
_MULTIPLIED = re.compile(
    rb"parametrize|subTest|\.each\b|\bt\.Run\(|#\[(?:rstest|test_case|case)|hypothesis|load_tests|pytest_generate_tests|"
    rb"\bfor\b[^\n]*\n?[^\n]*\b(?:it|test)\("
)


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """What the task's records say of its own work."""

    #: Git's state before the task's first command; `None` if it ran none, so that it can't have made a commit.
    head: GitHead | None = None
    #: How many tests passed in each of the task's own runs.
    passed: Sequence[int] = ()
    #: It ran tests whose output doesn't say how many.
    uncounted_tests: bool = False
    #: It ran commands of any kind successfully.
    ran_commands: bool = False
    #: Every file that it changed is known.
    all_files_known: bool = True
    #: The commands that it ran, and whether each succeeded the last time; `None` if it was never checked how it ended.
    commands: Mapping[str, bool | None] = field(default_factory=dict)
    #: Checkers that `get_diagnostics` ran.
    checkers: Collection[str] = ()
    #: You asked for a change.
    asked_to_change: bool = False


@dataclass(frozen=True, slots=True)
class SuiteFacts:
    """What verification found by running the project's tests."""

    #: All of them ran, and so many passed; `None` if that isn't known.
    passed: int | None = None
    #: There are none, or none ran.
    none_ran: bool = False


async def check_counts(
    counts: Sequence[Count], changes: Sequence[FileVersions], facts: TaskFacts, host: Host, id: str
) -> list[str]:
    """The claims about commits, files and new tests that are higher than what is there."""
    changed = [change for change in changes if change.before != change.after]
    problems = []
    for count in dict.fromkeys(counts):
        match count.kind:
            case "commits":
                there = await count_commits(facts, changed, host, id)
                noun, done = ("commit", "commits"), "made by this task"
            case "created":
                there = sum(not change.before for change in changed)
                noun, done = ("file", "files"), "created"
            case "deleted":
                there = sum(change.after is None for change in changed)
                noun, done = ("file", "files"), "deleted"
            case "changed":
                there = len(changed)
                noun, done = ("file", "files"), "changed"
            case "tests":
                there = count_new_tests(changed)
                noun, done = ("new test", "new tests"), "in the changed files"
            case _:
                continue
        if count.kind != "commits" and not facts.all_files_known:
            continue
        if count.impersonal and not (there or changed or facts.asked_to_change):
            continue  # a task that only looked says what the repository holds
        if there is not None and there < count.number:
            verb = "is" if there == 1 else "are"
            problems.append(f"“{count.text}” was reported, but {plural(there, *noun)} {verb} {done}")
    return problems


def check_passed(counts: Sequence[Count], facts: TaskFacts, suite: SuiteFacts, *, claims_pass: bool) -> list[str]:
    """The claims about passing tests that no recorded run supports."""
    claimed = [count for count in counts if count.kind == "passed"]
    if suite.none_ran and not (facts.passed or facts.ran_commands) and (claims_pass or claimed):
        return ["the tests were reported to pass, but no test ran: none were found"]
    runs = [*facts.passed, *([] if suite.passed is None else [suite.passed])]
    if not runs or facts.uncounted_tests:
        return []
    most = max(runs)
    return [
        f"“{count.text}” was reported, but at most {plural(most, 'test', 'tests')} passed in any run of this task"
        for count in dict.fromkeys(claimed)
        if count.number > most
    ]


def check_commands(claimed: Sequence[str], checkers: Sequence[str], facts: TaskFacts) -> list[str]:
    """The commands that are said to pass, but failed the last time, or can't have run: no other command did either.

    Tests may have run by `run_tests`.
    """
    problems = []
    for command in dict.fromkeys(" ".join(each.split()) for each in claimed):
        said = f"`{command}` was reported to pass, but"
        ran_tests = (facts.passed or facts.ran_commands) and _TESTS.search(command) is not None
        if command not in facts.commands:
            if " " in command and not facts.commands and not ran_tests:
                problems.append(f"{said} it did not run")
        elif facts.commands[command] is None:
            problems.append(f"{said} it was started in the background, and its end was never checked")
        elif not facts.commands[command]:
            problems.append(f"{said} it failed the last time")
    if not facts.commands:
        unused = [each for each in dict.fromkeys(checkers) if each not in facts.checkers]
        problems += [f"{each} was reported to pass, but it did not run" for each in unused]
    return problems


async def count_commits(facts: TaskFacts, changes: Sequence[FileVersions], host: Host, id: str) -> int | None:
    """The commits since the task's first command; `None` if they can't be counted."""
    if facts.head is None:
        return 0
    if await _has_inner_repository(changes, host):
        return None
    call = Call(f"{id}.git", host.workspace, _SECONDS)
    try:
        await run_git(host, call, ["rev-parse", "--verify", "-q", "HEAD"])
    except ToolError as error:
        return 0 if error.code in ("no_git", "git_failed") else None
    # Other branches are older than the first command, even if they go on from where it began.
    start = [f"^{facts.head.commit}"] if facts.head.commit else []
    since = [f"--since={facts.head.at}"] if facts.head.at else []
    try:
        return int(await run_git(host, call, ["rev-list", "--count", *since, "HEAD", "--branches", *start, "--"]))
    except (ToolError, ValueError):
        return None


async def _has_inner_repository(changes: Sequence[FileVersions], host: Host) -> bool:
    """Whether a folder around a changed file is a repository of its own, such as a new project's."""
    folders: set[str] = set()
    for change in changes:
        folder = posixpath.dirname(change.path)
        while folder and folder not in folders:
            folders.add(folder)
            folder = posixpath.dirname(folder)
    for folder in sorted(folders, key=lambda each: each.count("/"))[:_MAX_FOLDERS]:
        if await exists(host, f"{folder}/.git"):
            return True
    return False


def count_new_tests(changes: Sequence[FileVersions]) -> int | None:
    """Tests that weren't there before; `None` if one of them may run as several, or isn't in a known language."""
    total = 0
    for change in changes:
        if change.after is None:
            continue
        if _MULTIPLIED.search(change.after):
            return None
        total += len(find_cases(change.path, change.after).keys() - find_cases(change.path, change.before).keys())
    return total
