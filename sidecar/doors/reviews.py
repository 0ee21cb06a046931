"""Posts a reviewer's verdict on a pull request: line comments with their severity, the rest in the text above them."""

import json
import re
from collections.abc import Sequence
from typing import NamedTuple

from sidecar.doors.actions import Json, list_at, look_up, text_at
from sidecar.doors.channels import ReportedTask
from sidecar.doors.github_api import GithubApi
from sidecar.doors.github_comments import parse_subject
from sidecar.doors.http import NotSent
from sidecar.doors.markdown import code, plain
from sidecar.doors.outbox import Letter, NewLetter
from sidecar.doors.pulls import TaskEvents
from sidecar.doors.works import Work, Works
from tools.errors import ToolError

_MAX_COMMENTS = 50
_MAX_BODY = 60_000
_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")


class Review(NamedTuple):
    body: str
    comments: list[Json]


class ReviewChannel:
    prefix = "review:"

    def __init__(self, api: GithubApi, works: Works, events: TaskEvents) -> None:
        self._api = api
        self._works = works
        self._events = events

    def write(self, event: Json, task: ReportedTask) -> list[NewLetter]:
        if event["type"] != "complete" or "/review/" not in task.subject:
            return []
        return [NewLetter(f"review.{task.id}.{event['seq']}", f"{self.prefix}{task.subject}", json.dumps(event))]

    async def send(self, letter: Letter) -> None:
        await self.post(letter.target.removeprefix(self.prefix), json.loads(letter.body), letter.key)

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
