"""Issues and comments on GitHub: a label or a mention starts a task, further comments steer it, `stop` cancels it."""

from sidecar.doors.actions import Action, Ignore, Json, StartTask, StopTask, text_at
from sidecar.doors.settings import GithubDoor

_MAX_TEXT = 50_000


def subject(event: str, payload: Json) -> str:
    number = text_at(payload, "issue.number") or text_at(payload, "pull_request.number")
    return f"github:{text_at(payload, 'repository.full_name')}#{number}" if number else ""


def read_event(event: str, payload: Json, door: GithubDoor) -> Action:
    action = text_at(payload, "action")
    if (event, action) not in {
        ("issues", "labeled"),
        ("issues", "unlabeled"),
        ("issues", "closed"),
        ("issue_comment", "created"),
    }:
        return Ignore(f"{event} {action}".strip() + " asks for nothing")
    sender = text_at(payload, "sender.login")
    if text_at(payload, "sender.type") == "Bot" or sender.lower() not in {name.lower() for name in door.allow}:
        return Ignore(f"{sender or 'the sender'} is not in `allow` of doors.toml")
    if event == "issue_comment":
        return _read_comment(payload, door)
    if action == "closed":
        return StopTask()
    if text_at(payload, "label.name") != door.label:
        return Ignore("another label")
    return _start(payload, door, "") if action == "labeled" else StopTask()


def _read_comment(payload: Json, door: GithubDoor) -> Action:
    text = text_at(payload, "comment.body")
    words = [word.strip(",.:;!?").lower() for word in text.split()]
    if door.mention.lower() not in words:
        return Ignore("the comment doesn't mention us")
    if sorted(words) == sorted([door.mention.lower(), "stop"]):
        return StopTask()
    return _start(payload, door, text)


def _start(payload: Json, door: GithubDoor, comment: str) -> Action:
    repository = text_at(payload, "repository.full_name")
    workspace = {name.lower(): path for name, path in door.repositories.items()}.get(repository.lower())
    if workspace is None:
        return Ignore(f"{repository} is not in `repositories` of doors.toml")
    issue = f"#{text_at(payload, 'issue.number')} of {repository}: {text_at(payload, 'issue.title')}"
    parts = [
        f"Resolve issue {issue}",
        text_at(payload, "issue.body"),
        comment and f"The latest comment says:\n{comment}",
    ]
    text = "\n\n".join(part for part in parts if part)
    return StartTask(text[:_MAX_TEXT], workspace, {"approvals": door.approvals}, comment[:_MAX_TEXT])
