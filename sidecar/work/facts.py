"""What a task's records say about the numbers that its agents report."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pydantic import JsonValue

from sidecar.engine.state import TaskState
from sidecar.verify.facts import TaskFacts
from sidecar.verify.measures import Shown
from sidecar.verify.result import CheckResult
from sidecar.verify.runs import check_run, parse_run
from sidecar.work.changes import command_text, test_calls
from tools.ledger import GitHead, IntentRecord, Outcome

_COMMANDS = frozenset({"run_command", "run_tests", "git_add", "git_commit"})
_TEST_COMMAND = re.compile(r"\b(?:test|tests|pytest|jest|vitest|mocha|unittest|spec|tox|nox|check)\b", re.IGNORECASE)
_PASSED = re.compile(
    r"\b(?P<before>\d+)\s+(?:tests?\s+)?pass(?:ed|ing)?\b|^(?:#|ℹ)\s*pass\s+(?P<after>\d+)|^Ran (?P<ran>\d+) tests?\b",
    re.IGNORECASE | re.MULTILINE,
)
_ECHOES = re.compile(r"(?:echo|printf)\b[^;&|\n]*\Z")
#: A package whose tests passed in `go test`, which counts them only with -v.
_GO_PASSED = re.compile(r"^ok\s+\S+\s+(?:[\d.]+s|\(cached\))(?!.*no tests to run)", re.MULTILINE)


def task_facts(state: TaskState, *, all_files_known: bool, asked_to_change: bool) -> TaskFacts:
    passed: list[int] = []
    uncounted = ran = False
    commands: dict[str, bool | None] = {}
    ends = _background_ends(state)
    for call_id, intent in state.intents.items():
        outcome = ends.get(call_id) or state.outcomes.get(call_id)
        if outcome is None or intent.tool not in ("run_tests", "run_command"):
            continue
        ran = ran or outcome.status == "success"
        if _detail(outcome, "commandId") is not None and _detail(outcome, "running") is not False:
            commands[" ".join(command_text(intent).split())] = None
            continue
        if intent.tool == "run_command":
            failed = call_id in ends and _detail(outcome, "exitCode") != 0
            commands[" ".join(command_text(intent).split())] = outcome.status == "success" and not failed
        counts = list(_count_passed(intent, outcome))
        passed += counts
        uncounted = uncounted or (not counts and _is_test_command(intent))
    known = all_files_known and not any(
        outcome.irreversible or _has_unknown_changes(outcome) for outcome in state.outcomes.values()
    )
    used = [_detail(outcome, "checkers") for outcome in state.outcomes.values()]
    checkers = {str(name) for names in used if isinstance(names, list) for name in names}
    return TaskFacts(_first_head(state), passed, uncounted, ran, known, commands, checkers, asked_to_change)


def shown_texts(state: TaskState) -> Shown:
    """What programs printed, and what else the agents read."""
    printed: list[str] = []
    read: list[str] = []
    for call_id, outcome in state.outcomes.items():
        intent, output = state.intents.get(call_id), _detail(outcome, "output")
        ran = output is not None or (intent is not None and "__" in intent.tool)
        if ran and intent is not None and _ECHOES.match(command_text(intent)):
            continue  # its own words
        (printed if ran else read).append(str(output or outcome.content))
    return Shown(printed, read)


def tests_that_ran(state: TaskState) -> list[CheckResult]:
    """The newest result of each test command that the task itself ran in this round, as checks."""
    found: dict[str, CheckResult] = {}
    ends = _background_ends(state)
    for call_id in test_calls(state):
        intent, outcome = state.intents[call_id], ends.get(call_id) or state.outcomes[call_id]
        run = parse_run(outcome)
        if intent.tool == "run_command":
            passed = max(_count_passed(intent, outcome), default=0) or len(_GO_PASSED.findall(run.output))
            if run.exit_code == 0 and not passed:
                continue  # nothing says that a test ran
            run = replace(run, command=str(intent.args["command"]), passed=passed)
        found[f"{run.command}\0{intent.args.get('target')}"] = check_run("tests", run)
    return list(found.values())


def _background_ends(state: TaskState) -> dict[str, Outcome]:
    """What `command_output` said last of each background command that ended, by the call that started it."""
    return {
        str(_detail(outcome, "startedBy")): outcome
        for outcome in state.outcomes.values()
        if _detail(outcome, "startedBy") is not None and _detail(outcome, "running") is False
    }


def _first_head(state: TaskState) -> GitHead | None:
    for intent in state.intents.values():
        if intent.head is not None:
            return intent.head
        if intent.tool in _COMMANDS:
            return GitHead(commit=None, at=0)  # an earlier version recorded it
    return None


def _count_passed(intent: IntentRecord, outcome: Outcome) -> Iterator[int]:
    details: dict[str, Any] = outcome.details if isinstance(outcome.details, dict) else {}
    if intent.tool == "run_tests":
        if details.get("counted", True) and isinstance(passed := details.get("passed"), int):
            yield passed
        return
    # A command may run several suites, so their sum counts too.
    output = str(details.get("output") or outcome.content)
    found = [int(next(group for group in match.groups() if group)) for match in _PASSED.finditer(output)]
    verbose = output.count("--- PASS: ") + len(re.findall(r"^test .* \.\.\. ok$", output, re.MULTILINE))
    yield from [*found, *([sum(found)] if len(found) > 1 else []), *([verbose] if verbose else [])]


def _is_test_command(intent: IntentRecord) -> bool:
    return intent.tool == "run_tests" or _TEST_COMMAND.search(str(intent.args.get("command", ""))) is not None


def _has_unknown_changes(outcome: Outcome) -> bool:
    return bool(_detail(outcome, "notKept"))


def _detail(outcome: Outcome, name: str) -> JsonValue:
    return outcome.details.get(name) if isinstance(outcome.details, dict) else None
