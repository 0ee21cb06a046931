"""What a chat shows of a task's events, as data: a new message, or a change of an earlier one."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field

from sidecar.doors.actions import Json, look_up, text_at
from sidecar.doors.chat.port import Button
from sidecar.wire.text import listed, plural

_MAX_BUTTONS = 8
_LABEL = 60
STOP = Button("Stop", "stop")
#: The name of the message that shows progress, whichever round it is of.
STATUS = "status"
_ENDED = {
    "completed": "Done",
    "failed": "Failed",
    "cancelled": "Cancelled",
    "escalated": "Needs you",
}


@dataclass(frozen=True, slots=True)
class Remark:
    """`name` is the message's within its task; with `edits` it replaces what the message said."""

    name: str
    text: str
    buttons: Sequence[Button] = ()
    edits: bool = False
    #: A question that any text answers.
    question: str = ""


def remarks_of(event: Json) -> list[Remark]:
    """Most events say nothing."""
    match event["type"]:
        case "status" if event["status"] == "queued":
            return [Remark(f"status.{event['seq']}", f"Task {event['taskId']} is queued.", (STOP,))]
        case "status" if event["status"] in _ENDED:
            return [Remark(STATUS, f"{_ENDED[event['status']]}: task {event['taskId']}", edits=True)]
        case "approval":
            return [_approval(event)]
        case "question":
            return [_question(event)]
        case "complete":
            return [Remark(f"end.{event['seq']}", _result(event))]
        case "error" if event["code"] != "not_verified":  # an escalation says it
            return [Remark(f"end.{event['seq']}", f"The task failed: {event['message']}")]
        case "escalation":
            return [_escalation(event)]
    return []


def _approval(event: Json) -> Remark:
    name, item = f"approval.{event['approvalId']}", event["approvalId"]
    if event["state"] != "requested":
        return Remark(name, f"{event['state'].capitalize()}: {event['action']}", edits=True)
    argv = look_up(event, "argv")
    lines = [
        f"May it do this? {event['action']}",
        f"Command: {shlex.join(map(str, argv))}" if isinstance(argv, list) and argv else "",
        f"In: {event['cwd']}" if event.get("cwd") else "",
        f"Why it asks: {event['why']}",
        f"Change:\n{event['diff']}" if event.get("diff") else "",
    ]
    buttons = (
        Button("Allow once", "allow", item, "once"),
        Button("Allow for this task", "allow", item, "task"),
        Button("Deny", "deny", item, "once"),
    )
    return Remark(name, "\n".join(filter(None, lines)), buttons)


def _question(event: Json) -> Remark:
    name, item = f"question.{event['questionId']}", event["questionId"]
    if event["state"] == "answered":
        return Remark(name, f"{event['text']}\nAnswered: {event.get('answer') or ''}", edits=True)
    choices = event.get("choices") or []
    buttons = [Button(_label(choice), "answer", item, choice) for choice in choices[:_MAX_BUTTONS]]
    hint = "" if choices else "\nAnswer with a reply."
    return Remark(name, f"{event['text']}{hint}", buttons, question="" if choices else item)


def _escalation(event: Json) -> Remark:
    found = look_up(event, "suggestions")
    suggestions = [str(each) for each in found] if isinstance(found, list) else []
    text = f"The task needs you after {plural(event['attempts'], 'attempt')}: {event['reason']}"
    return escalation_remark(f"escalation.{event['seq']}", text, suggestions)


def escalation_remark(name: str, text: str, suggestions: Sequence[str], more: Sequence[Button] = ()) -> Remark:
    """Pressing a suggestion's button says it to the task."""
    shown = suggestions[: _MAX_BUTTONS - len(more)]
    listed = "".join(f"\n{number}. {each}" for number, each in enumerate(shown, 1))
    buttons = [Button(f"Do {number}", "say", "", each) for number, each in enumerate(shown, 1)]
    return Remark(name, f"{text}{listed}\nOr reply what to do.", [*more, *buttons])


def _result(event: Json) -> str:
    lines = [text_at(event, "result.summary") or "Done."]
    files = look_up(event, "result.filesModified")
    if isinstance(files, list) and files:
        lines.append(f"Changed: {listed([str(file) for file in files], 20)}")
    checks = look_up(event, "result.verification.checks")
    for check in checks[:10] if isinstance(checks, list) else ():
        lines.append(f"{'✓' if check.get('passed') else '✗'} {text_at(check, 'command')}")
    return "\n".join(lines)


def _label(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LABEL else line[: _LABEL - 1] + "…"


def cut(text: str, longest: int, link: str) -> str:
    """The text if it fits, else its beginning and where the rest is."""
    if len(text) <= longest:
        return text
    rest = f"…\n(cut; all of it: {link})"
    return text[: longest - len(rest)] + rest


@dataclass(slots=True)
class Progress:
    """What a task is doing, folded from its events; shown in its status message."""

    subject: str
    line: str = ""
    calls: int = 0
    last: str = ""
    shown: str = field(default="", compare=False)

    def fold(self, event: Json) -> None:
        match event["type"]:
            case "status":
                self.line = f"{event['status'].capitalize()}."
            case "step" if event["state"] == "started":
                self.line = f"Step {event['step']} of {event['total']}, {event['agent']}: {event['message']}"
            case "tool" if event["status"] not in ("pending", "running"):
                self.calls += 1
                self.last = f"{event['tool']}: {_label(event['summary'])}"
            case "verification":
                self.last = "checks passed" if event["passed"] else "a check failed"

    def render(self, task_id: str) -> str:
        calls = f"{plural(self.calls, 'tool call')}, last {self.last}" if self.last else ""
        return "\n".join(filter(None, (f"Task {task_id}", self.line, calls)))
