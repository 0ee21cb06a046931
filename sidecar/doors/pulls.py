"""Offers what a task changed as a pull request: a commit on a branch of ours, its evidence, and a check.

Every step looks first whether it is done, so an attempt that broke off anywhere is repeated without harm.
"""

import json
import logging
from urllib.parse import quote

from sidecar.doors.actions import Json, list_at, text_at
from sidecar.doors.channels import ReportedTask, TaskEvents
from sidecar.doors.github import CHECK
from sidecar.doors.github_api import GithubApi
from sidecar.doors.github_comments import describe_result, parse_subject
from sidecar.doors.http import NotSent
from sidecar.doors.markdown import describe_checks, describe_pull, plain, verified
from sidecar.doors.outbox import DoorsOutbox, NewMessage, OutboxMessage
from sidecar.doors.works import Work, Works
from tools.errors import InvalidArguments, ToolError

log = logging.getLogger("brain.doors")

_MAX_TITLE = 200
_CONCLUSIONS = {True: "success", False: "failure", None: "neutral"}
_TITLES = {True: "Checks passed", False: "Checks failed", None: "No check ran"}


class PullChannel:
    prefix = "pull:"

    def __init__(self, api: GithubApi, works: Works, outbox: DoorsOutbox, events: TaskEvents) -> None:
        self._api = api
        self._works = works
        self._outbox = outbox
        self._events = events

    def write(self, event: Json, task: ReportedTask) -> list[NewMessage]:
        if not offers_pull(event, task):
            return []
        return [NewMessage(f"pull.{task.id}.{event['seq']}", f"{self.prefix}{task.subject}", json.dumps(event))]

    async def send(self, outgoing: OutboxMessage) -> None:
        subject, complete = outgoing.target.removeprefix(self.prefix), json.loads(outgoing.body)
        work = await self._works.find(subject)
        url = ""
        if work is not None and work.branch:
            try:
                url = await self._offer(work, complete, outgoing.key)
            except ToolError as error:
                await self._tell_failure(subject, outgoing.key, f"The change could not be pushed. {error.message}")
                raise NotSent(error.message, None if isinstance(error, InvalidArguments) else 60) from error
        await self._tell(subject, outgoing.key, describe_result(complete), url)

    async def _offer(self, work: Work, complete: Json, key: str) -> str:
        """The address of the pull request; empty if nothing changed."""
        work = await self._push(work, complete, key)
        found = await self._find_pull(work)
        if found is None and work.head == await self._works.mirrors.head(
            self._works.remote(work.repository), work.base
        ):
            return ""
        is_issue = work.subject.startswith("github:")
        closes = parse_subject(work.subject)[1] if is_issue else ""
        body = describe_pull(complete, await self._events(text_at(complete, "taskId")), closes)
        if found is None:
            sent = {"title": await self._title(work, complete), "head": work.branch, "base": work.base, "body": body}
            found = await self._api.call("POST", work.repository, "/pulls", sent)
        elif text_at(found, "body") != body:
            await self._api.call("PATCH", work.repository, f"/pulls/{found['number']}", {"body": body})
        await self._works.opened(work, int(text_at(found, "number") or 0))
        await self._check(work, complete, key)
        return text_at(found, "html_url")

    async def _push(self, work: Work, complete: Json, key: str) -> Work:
        await self._api.authorize(work.repository)
        remote, mirrors = self._works.remote(work.repository), self._works.mirrors
        await mirrors.fetch(remote)
        served = await mirrors.head(remote, work.branch)
        if served and served != work.head:
            parent, said = await mirrors.parent(remote, served)
            if parent == work.head and f"Brain-Letter: {key}" in said:
                work = await self._works.moved(work, served)  # this process died after its push
        title = await self._title(work, complete)
        message = f"{title}\n\nBrain-Task: {text_at(complete, 'taskId')}\nBrain-Letter: {key}"
        commit = await mirrors.commit(remote, work.directory, work.head, message, text_at(complete, "at"))
        if commit:
            # Never by force: what others pushed to the branch meanwhile stays, and this is refused.
            await mirrors.push(remote, work.directory, commit, work.branch)
            work = await self._works.moved(work, commit)
        return work

    async def _find_pull(self, work: Work) -> Json | None:
        owner = work.repository.partition("/")[0]
        path, asked = "/pulls", {"state": "open", "head": f"{owner}:{work.branch}"}
        async for each in self._api.pages(work.repository, path, "", **asked):
            if text_at(each, "head.ref") == work.branch:
                return each
        return None

    async def _title(self, work: Work, complete: Json) -> str:
        """The issue's own title; the first line of the summary where there is no issue on GitHub."""
        if work.subject.startswith("github:"):
            issue = await self._api.call("GET", work.repository, f"/issues/{parse_subject(work.subject)[1]}")
            title = text_at(issue, "title")
        else:
            title = f"{work.branch.removeprefix('brain/').upper()}: {text_at(complete, 'result.summary')}"
        return (title.strip() or work.branch).splitlines()[0][:_MAX_TITLE]

    async def _check(self, work: Work, complete: Json, key: str) -> None:
        """Our verification, on the commit: a check run of an App, or a status, as only an App may add checks."""
        if not self._api.is_app:
            await self.add_status(work, complete)
            return
        path = f"/commits/{quote(work.head)}/check-runs"
        if await self._api.find(work.repository, path, lambda each: text_at(each, "external_id") == key, "check_runs"):
            return
        proven = verified(complete)
        check = {
            "name": CHECK,
            "head_sha": work.head,
            "external_id": key,
            "status": "completed",
            "conclusion": _CONCLUSIONS[proven],
            "output": {"title": _TITLES[proven], "summary": describe_checks(complete)},
        }
        await self._api.call("POST", work.repository, "/check-runs", check)

    async def add_status(self, work: Work, complete: Json) -> None:
        """Nothing if no check ran: a status can't be neutral. One that is there already is not repeated."""
        proven = verified(complete)
        if proven is None:
            return
        wanted = {"state": _CONCLUSIONS[proven], "context": CHECK, "description": _TITLES[proven]}

        def same(each: Json) -> bool:
            return all(text_at(each, name) == value for name, value in wanted.items())

        try:
            if not await self._api.find(work.repository, f"/commits/{quote(work.head)}/statuses", same):
                await self._api.call("POST", work.repository, f"/statuses/{quote(work.head)}", wanted)
        except NotSent as refusal:
            if refusal.status not in (403, 404, 422):
                raise
            # The pull request has the evidence anyway; a token without this right must not hold it up.
            log.warning("no commit status on %s: %s", work.repository, refusal)

    async def _tell(self, subject: str, key: str, text: str, url: str) -> None:
        if subject.startswith("github:"):
            said = f"{text}\n\nPull request: {url}" if url else text
            await self._outbox.offer(NewMessage(f"github.{key}", subject, said))
        elif url:
            await self._outbox.offer(NewMessage(f"linear.{key}", subject, json.dumps({"attach": url})))

    async def _tell_failure(self, subject: str, key: str, text: str) -> None:
        """Once, however many attempts fail; the result is sent when one succeeds."""
        if subject.startswith("github:"):
            await self._outbox.offer(NewMessage(f"github.{key}.failed", subject, plain(text)))
        else:
            activity = {"content": {"type": "error", "body": plain(text)}}
            await self._outbox.offer(NewMessage(f"linear.{key}.failed", subject, json.dumps({"activity": activity})))


def offers_pull(event: Json, task: ReportedTask) -> bool:
    """Whether this event ends a round that changed files, and no review."""
    is_done = event["type"] == "complete" and bool(list_at(event, "result.filesModified"))
    return is_done and task.subject.startswith(("github:", "linear:")) and "/review/" not in task.subject
