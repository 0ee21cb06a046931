"""Comments on the issues and pull requests that tasks are about: what people there should hear."""

import re
from collections.abc import Callable

from sidecar.doors.actions import Json, list_at, text_at
from sidecar.doors.channels import ReportedTask
from sidecar.doors.github_api import GithubApi
from sidecar.doors.http import NotSent
from sidecar.doors.markdown import code, plain
from sidecar.doors.outbox import Letter, NewLetter

_MAX_TEXT = 20_000
_SUBJECT = re.compile(r"github:([A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100})#(\d{1,10})(?:/review/[0-9a-f]{40})?")


class GithubComments:
    """`elsewhere` says whether another channel tells the result of this task, with a pull request or a review."""

    prefix = "github:"

    def __init__(self, api: GithubApi, elsewhere: Callable[[Json, ReportedTask], bool] = lambda event, task: False):
        self._api = api
        self._elsewhere = elsewhere

    def write(self, event: Json, task: ReportedTask) -> list[NewLetter]:
        text = comment_of(event)
        if not text or not task.subject.startswith(self.prefix) or self._elsewhere(event, task):
            return []
        return [NewLetter(f"github.{task.id}.{event['seq']}", task.subject, text)]

    async def send(self, letter: Letter) -> None:
        """An attempt whose answer got lost may have succeeded, so a later one looks for its mark first."""
        repository, number = parse_subject(letter.target)
        path, mark = f"/issues/{number}/comments", f"<!-- {letter.key} -->"
        if letter.attempts and await self._api.find(repository, path, lambda each: mark in text_at(each, "body")):
            return
        await self._api.call("POST", repository, path, {"body": f"{letter.body}\n\n{mark}"})


def parse_subject(target: str) -> tuple[str, str]:
    """The repository and the number of an issue or pull request."""
    found = _SUBJECT.fullmatch(target)
    if found is None:
        raise NotSent("not an issue", None)
    return found[1], found[2]


def comment_of(event: Json) -> str:
    """What people who read the issue should hear; empty for everything else."""
    task = f"`{event['taskId']}`"
    match event["type"]:
        case "status" if event.get("status") == "queued" and not event.get("reason"):
            return f"Working on it as task {task}. Mention me with `stop` to cancel."
        case "complete":
            return describe_result(event)
        case "error":
            return f"Task {task} failed: {plain(text_at(event, 'message'))}"[:_MAX_TEXT]
        case "escalation":
            listed = "".join(f"\n- {plain(str(each))}" for each in list_at(event, "suggestions"))
            return f"Task {task} needs a person: {plain(text_at(event, 'reason'))}{listed}"[:_MAX_TEXT]
        case "cancelled":
            return f"Task {task} was cancelled."
    return ""


def describe_result(event: Json) -> str:
    """The summary, the changed files and the checks of a `complete` event."""
    lines = [plain(text_at(event, "result.summary")) or f"Task `{event['taskId']}` is done."]
    if files := list_at(event, "result.filesModified"):
        lines.append("Changed: " + ", ".join(code(str(each)) for each in files[:50]))
    for check in list_at(event, "result.verification.checks"):
        lines.append(f"- {'passed' if check.get('passed') else 'failed'}: {code(text_at(check, 'command'))}")
    return "\n\n".join(lines)[:_MAX_TEXT]
