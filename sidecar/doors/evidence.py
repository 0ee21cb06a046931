"""What a pull request and its check say of a task: the checks that ran, the commands, the files."""

from collections.abc import Sequence

from sidecar.doors.actions import Json, list_at, look_up, text_at
from sidecar.doors.markdown import cell, code, plain

_MAX_BODY = 60_000
_MAX_LISTED = 40
_COMMANDS = ("run_command", "run_tests")


def describe_pull(complete: Json, events: Sequence[Json], closes: str) -> str:
    """The body of a pull request; `closes` is the number of the issue that its merge closes, if there is one."""
    files, commands = list_at(complete, "result.filesModified"), commands_of(events)
    parts = [plain(text_at(complete, "result.summary"))]
    if closes:
        parts.append(f"Closes #{closes}")
    parts.append(f"## Evidence\n\n{describe_checks(complete)}")
    if commands:
        parts.append("Commands that the agent ran:\n\n" + "\n".join(f"- {code(each)}" for each in commands))
    if files:
        parts.append("Changed files:\n\n" + "\n".join(f"- {code(str(each))}" for each in files[:_MAX_LISTED]))
        if len(files) > _MAX_LISTED:
            parts.append(f"and {len(files) - _MAX_LISTED} more")
    parts.append(f"Task {code(text_at(complete, 'taskId'))}")
    return "\n\n".join(part for part in parts if part)[:_MAX_BODY]


def describe_checks(complete: Json) -> str:
    """The checks as a table, from recorded exit codes."""
    checks = list_at(complete, "result.verification.checks")
    if not checks:
        return "No check ran after the last edit, so nothing is proven."
    passed = look_up(complete, "result.verification.passed") is True
    rows = [
        f"| {cell(text_at(check, 'name'))} | {cell(text_at(check, 'command'))} | "
        f"{text_at(check, 'exitCode') or '–'} | {'passed' if check.get('passed') is True else '**failed**'} |"
        for check in checks[:_MAX_LISTED]
        if isinstance(check, dict)
    ]
    head = "All checks passed after the last edit." if passed else "**Checks failed after the last edit.**"
    return "\n".join([head, "", "| check | command | exit code | result |", "| --- | --- | --- | --- |", *rows])


def verified(complete: Json) -> bool | None:
    """Whether its checks passed; `None` if none ran."""
    found = look_up(complete, "result.verification.passed")
    return found if isinstance(found, bool) and list_at(complete, "result.verification.checks") else None


def commands_of(events: Sequence[Json]) -> list[str]:
    """Each command with how it ended, in order."""
    found: dict[str, str] = {}
    for event in events:
        if event.get("type") == "tool" and event.get("tool") in _COMMANDS and event.get("status") != "pending":
            line = " ".join(map(str, list_at(event, "args.command"))) or text_at(event, "args.command")
            line = line or f"{event['tool']} {text_at(event, 'args.target')}".strip()
            found[text_at(event, "callId")] = f"{line} ({text_at(event, 'status')})"
    return list(found.values())[:_MAX_LISTED]
