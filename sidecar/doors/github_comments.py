"""Comments on the issues and pull requests that tasks are about, and a reviewer's verdict as a review there."""

import json
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from sidecar.doors.actions import Json, list_at, look_up, text_at
from sidecar.doors.channels import ReportedTask, TaskEvents
from sidecar.doors.github_api import GithubApi
from sidecar.doors.http import NotSent
from sidecar.doors.markdown import code, plain
from sidecar.doors.outbox import NewMessage, OutboxMessage
from sidecar.doors.works import Work, Works
from tools.errors import ToolError

_MAX_TEXT = 20_000
_SUBJECT = re.compile(r"github:([A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100})#(\d{1,10})(?:/review/[0-9a-f]{40})?")

_MAX_COMMENTS = 50
_MAX_BODY = 60_000
_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")


class GithubComments:
    """`elsewhere` says whether another channel tells the result of this task, with a pull request or a review."""

    prefix = "github:"

    def __init__(self, api: GithubApi, elsewhere: Callable[[Json, ReportedTask], bool] = lambda event, task: False):
        self._api = api
        self._elsewhere = elsewhere

    def write(self, event: Json, task: ReportedTask) -> list[NewMessage]:
        text = comment_of(event)
        if not text or not task.subject.startswith(self.prefix) or self._elsewhere(event, task):
            return []
        return [NewMessage(f"github.{task.id}.{event['seq']}", task.subject, text)]

    async def send(self, outgoing: OutboxMessage) -> None:
        """An attempt whose answer got lost may have succeeded, so a later one looks for its mark first."""
        repository, number = parse_subject(outgoing.target)
        path, mark = f"/issues/{number}/comments", f"<!-- {outgoing.key} -->"
        if outgoing.attempts and await self._api.find(repository, path, lambda each: mark in text_at(each, "body")):
            return
        await self._api.call("POST", repository, path, {"body": f"{outgoing.body}\n\n{mark}"})


def parse_subject(target: str) -> tuple[str, str]:
    """The repository and the number of an issue or pull request."""
    found = _SUBJECT.fullmatch(target)
    if found is None:
        raise NotSent("not an issue", None)
    return found[1], found[2]


def comment_of(event: Json) -> str:
    """The comment that an event gets on its issue; empty if it gets none."""
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


class Review(NamedTuple):
    body: str
    comments: list[Json]


class ReviewChannel:
    prefix = "review:"

    def __init__(self, api: GithubApi, works: Works, events: TaskEvents) -> None:
        self._api = api
        self._works = works
        self._events = events

    def write(self, event: Json, task: ReportedTask) -> list[NewMessage]:
        if event["type"] != "complete" or "/review/" not in task.subject:
            return []
        return [NewMessage(f"review.{task.id}.{event['seq']}", f"{self.prefix}{task.subject}", json.dumps(event))]

    async def send(self, outgoing: OutboxMessage) -> None:
        await self.post(outgoing.target.removeprefix(self.prefix), json.loads(outgoing.body), outgoing.key)

    async def post(self, subject: str, complete: Json, key: str) -> str:
        """The address of the review. One with the same key is found, not posted again."""
        repository, number = parse_subject(subject)
        path, mark = f"/pulls/{number}/reviews", f"<!-- {key} -->"
        found = await self._api.find(repository, path, lambda each: mark in text_at(each, "body"))
        if found is None:
            events = await self._events(text_at(complete, "taskId"))
            work = await self._works.find(subject)
            review = render_review(complete, events, await self.diff(work) if work else "")
            commit = work.head if work else subject.rpartition("/")[2]
            sent: Json = {"commit_id": commit, "event": "COMMENT", "body": f"{review.body}\n\n{mark}"}
            try:
                found = await self._api.call("POST", repository, path, {**sent, "comments": review.comments})
            except NotSent as problem:
                if problem.status != 422 or not review.comments:
                    raise
                # The pull request has moved on, so its lines are elsewhere.
                every = "\n".join(f"- {each['path']}: {each['body']}" for each in review.comments)
                body = f"{review.body}\n\n{every}"[:_MAX_BODY]
                found = await self._api.call("POST", repository, path, {**sent, "body": f"{body}\n\n{mark}"})
        await self._works.forget(subject)
        return text_at(found, "html_url")

    async def diff(self, work: Work) -> str:
        try:
            return await self._works.mirrors.diff(self._works.remote(work.repository), work.base, work.head)
        except ToolError:
            return ""


def render_review(complete: Json, events: Sequence[Json], diff: str) -> Review:
    """Of the last verdict; a reviewer that answered in prose has only its text."""
    verdicts = [event for event in events if event.get("type") == "verdict"]
    if not verdicts:
        return Review(plain(text_at(complete, "result.summary"))[:_MAX_BODY] or "The review found no problems.", [])
    places = positions(diff)
    comments: list[Json] = []
    rest: list[str] = []
    for issue in list_at(verdicts[-1], "issues"):
        path, line = text_at(issue, "path"), text_at(issue, "line")
        said = f"**{text_at(issue, 'severity')}**: {plain(text_at(issue, 'text'))}"
        position = places.get((path, int(line) if line.isdigit() else 0))
        if position is not None and len(comments) < _MAX_COMMENTS:
            comments.append({"path": path, "position": position, "body": said})
        else:
            where = f"{path}:{line}" if line else path
            rest.append(f"- {code(where)} {said}" if where else f"- {said}")
    approved = look_up(verdicts[-1], "approved") is True
    head = "No changes needed." if approved else "Fix these problems before you merge."
    return Review("\n".join([head, "", *rest])[:_MAX_BODY].strip(), comments)


def positions(diff: str) -> dict[tuple[str, int], int]:
    """Where each new or unchanged line is in the diff of its file, as GitHub counts: after the file's first `@@`."""
    found: dict[tuple[str, int], int] = {}
    path, line, place = "", 0, -1
    for text in diff.splitlines():
        if text.startswith("diff --git "):
            path, place = "", -1
        elif place < 0 and text.startswith("+++ b/"):
            path = text[6:].rstrip("\t")
        elif (hunk := _HUNK.match(text)) and path:
            line, place = int(hunk[1]), place + 1
        elif place >= 0:
            place += 1
            if text[:1] in ("+", " "):
                found[path, line] = place
                line += 1
    return found
