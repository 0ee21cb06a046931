"""Reviews one pull request for `brain pr review`: in a clone, by a task that only reads, posted as a review."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from sidecar.client.service import BrainService
from sidecar.doors.actions import Json, StartTask, text_at
from sidecar.doors.github import review, review_subject
from sidecar.doors.github_comments import ReviewChannel, render_review
from sidecar.doors.github_pulls import GithubPulls, open_github
from sidecar.doors.http import DoorsHttp, NotSent
from sidecar.doors.settings import Doors, DoorsError, load_doors
from sidecar.doors.store import FILE, DoorsStore


class PostedReview(NamedTuple):
    task_id: str
    body: str
    comments: list[Json]
    #: Empty if it was not posted.
    url: str


async def review_pull(
    data_dir: Path, config_dir: Path, environ: Mapping[str, str], repository: str, number: int, *, post: bool
) -> PostedReview:
    """Raises `DoorsError` if it can't be done. Nothing is left of the clone."""
    doors = load_doors(config_dir)
    http, store = DoorsHttp(), DoorsStore(data_dir / FILE)
    pulls: GithubPulls | None = None
    try:
        pulls = open_github(http, store, doors.github, data_dir, environ)[1]
        if pulls is None:
            raise DoorsError("Set BRAIN_GITHUB_TOKEN, or the id and key file of a GitHub App, and allow pull_requests.")
        return await _review(pulls, doors, data_dir, repository, number, post=post)
    except NotSent as problem:
        raise DoorsError(f"GitHub: {problem}") from problem
    finally:
        await http.close()
        if pulls is not None:
            await pulls.works.close()
        await store.close()


def find_repository(doors: Doors, workspace: str) -> str:
    """The repository of doors.toml that this workspace, or a folder around it, belongs to."""
    fitting = [
        (len(path), name)
        for name, path in doors.github.repositories.items()
        if f"{workspace}/".startswith(f"{path.rstrip('/')}/")
    ]
    if not fitting:
        raise DoorsError(f"No entry of [github.repositories] in doors.toml has {workspace}; name one: --repository")
    return max(fitting)[1]


async def _review(
    pulls: GithubPulls, doors: Doors, data_dir: Path, repository: str, number: int, *, post: bool
) -> PostedReview:
    pull = await pulls.api.call("GET", repository, f"/pulls/{number}")
    action = review(pull, repository, doors.github)
    if not isinstance(action, StartTask):
        raise DoorsError(f"{repository} is not in [github.repositories] of doors.toml.")
    subject = review_subject(repository, number, text_at(pull, "head.sha"))
    work = await pulls.prepare(subject, action)
    try:
        service = await asyncio.to_thread(BrainService.local, data_dir)
        # A conversation of its own: of one that belongs to a door, a running `brain doors` would post the review too.
        options = {**action.options, "author": "other", "unattended": True}
        task = await asyncio.to_thread(lambda: service.execute(action.text, workspace=work.directory, **options))
        state = await asyncio.to_thread(task.wait)
        found = await asyncio.to_thread(service.stored_events, task.id)
        ended = [event for event in found if event["type"] == "complete"]
        if state["status"] != "completed" or not ended:
            raise DoorsError(f"The review ended as {state['status']}; `brain show {task.id}` says why.")

        async def events(task_id: str) -> Sequence[Json]:
            return found

        channel = ReviewChannel(pulls.api, pulls.works, events)
        rendered = render_review(ended[-1], found, await channel.diff(work))
        url = ""
        if post:
            url = await channel.post(subject, ended[-1], f"review.{task.id}.{ended[-1]['seq']}")
        return PostedReview(task.id, rendered.body, rendered.comments, url)
    finally:
        await pulls.works.forget(subject)
