"""GitHub with a token: clones to work in, and everything that makes and reviews pull requests."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import platformdirs

from sidecar.client.service import BrainService
from sidecar.config.paths import APP
from sidecar.doors.actions import Json, StartTask, text_at
from sidecar.doors.channels import Channel, ReportedTask
from sidecar.doors.github_api import GithubApi, GithubAuth
from sidecar.doors.github_comments import GithubComments, ReviewChannel
from sidecar.doors.http import DoorsHttp
from sidecar.doors.outbox import DoorsOutbox
from sidecar.doors.pulls import PullChannel, offers_pull
from sidecar.doors.settings import GITHUB_URL, GithubDoor
from sidecar.doors.store import DoorsStore
from sidecar.doors.works import Work, Works, branch_for


class GithubPulls:
    def __init__(self, api: GithubApi, works: Works) -> None:
        self.api = api
        self.works = works

    async def prepare(self, subject: str, action: StartTask) -> Work:
        """The clone for a new task."""
        repository = action.repository
        await self.api.authorize(repository)
        if action.pull is not None:
            return await self.works.prepare(subject, repository, action.base, action.workspace, "", action.pull)
        base = text_at(await self.api.call("GET", repository, ""), "default_branch") or "main"
        return await self.works.prepare(subject, repository, base, action.workspace, branch_for(action.name))

    async def prepare_again(self, subject: str) -> None:
        """A clone that somebody removed, before its task goes on."""
        work = await self.works.find(subject)
        if work is not None and work.branch:
            await self.api.authorize(work.repository)
            await self.works.prepare(subject, work.repository, work.base, work.origin, work.branch)


def open_github(
    http: DoorsHttp, store: DoorsStore, door: GithubDoor, data_dir: Path, environ: Mapping[str, str]
) -> tuple[GithubApi | None, GithubPulls | None]:
    """The API if there is a token or an App, and pull requests if they are wanted too."""
    url = (environ.get("BRAIN_GITHUB_URL") or GITHUB_URL).rstrip("/")
    token, app = environ.get("BRAIN_GITHUB_TOKEN", ""), environ.get("BRAIN_GITHUB_APP_ID", "")
    auth = GithubAuth(http, url, token, app, environ.get("BRAIN_GITHUB_APP_KEY_FILE", ""))
    if not auth.configured:
        return None, None
    api = GithubApi(http, auth, url)
    if not door.pull_requests:
        return api, None
    clones = Path(door.clones or Path(platformdirs.user_cache_dir(APP, appauthor=False)) / "clones")
    return api, GithubPulls(api, Works(store, data_dir, clones, door.git or git_server(url), auth.known))


def github_channels(
    api: GithubApi, pulls: GithubPulls | None, outbox: DoorsOutbox, connect: Callable[[], BrainService]
) -> list[Channel]:
    if pulls is None:
        return [GithubComments(api)]

    async def events(task_id: str) -> Sequence[Json]:
        return await asyncio.to_thread(lambda: connect().stored_events(task_id))

    return [
        PullChannel(api, pulls.works, outbox, events),
        ReviewChannel(api, pulls.works, events),
        GithubComments(api, _told_elsewhere),
    ]


def git_server(url: str) -> str:
    """Where the API at this address serves its repositories: `https://HOST/api/v3` is GitHub Enterprise."""
    parts = urlsplit(url)
    return "https://github.com" if url == GITHUB_URL else f"{parts.scheme}://{parts.netloc}"


def _told_elsewhere(event: Json, task: ReportedTask) -> bool:
    """The result of a review is the review; that of a change comes with the pull request."""
    return event["type"] == "complete" and ("/review/" in task.subject or offers_pull(event, task))
