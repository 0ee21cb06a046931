"""What pull requests, checks and comments say of a task, in Markdown.

Text of models and tools inside Markdown that others read: it notifies no one, closes nothing and hides nothing.
"""

import re
from collections.abc import Sequence

from sidecar.doors.actions import Json, list_at, look_up, text_at

_MENTION = re.compile(r"(?<![\w`/])@(?=[A-Za-z0-9])")
_REFERENCE = re.compile(r"(?<!&)#(?=\d)")
#: `Closes https://…/issues/3` and `fixes GH-3` close that issue when they are merged.
_CLOSING = re.compile(r"(?i)\b(clos|fix|resolv)(?=(?:e|es|ed)?:?\s+(?:https?://|gh-\d))")
_TICKS = re.compile(r"`+")
#: Invisible; it keeps GitHub and Linear from reading what follows as a name or number.
_BREAK = "\u200b"

_MAX_BODY = 60_000
_MAX_LISTED = 40
_COMMANDS = ("run_command", "run_tests")


def plain(text: str) -> str:
    """Mentions, references to issues and HTML comments lose their effect; the rest keeps its form."""
    text = _CLOSING.sub(rf"\1{_BREAK}", text.replace("<!--", "&lt;!--"))
    return _REFERENCE.sub(f"#{_BREAK}", _MENTION.sub(f"@{_BREAK}", text))


def code(text: str) -> str:
    """One line as code, whatever backticks it holds."""
    line = " ".join(text.split())[:300]
    if not line:
        return ""
    fence = "`" * (1 + max((len(run) for run in _TICKS.findall(line)), default=0))
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def cell(text: str) -> str:
    """Inside a table."""
    return code(text).replace("|", "\\|")


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
