"""The clones in which tasks of the doors work, and what they became: a branch and a pull request.

A clone holds what the repository has, never your uncommitted changes. It counts as a copy of the workspace that
`doors.toml` names, so it is trusted exactly as far as you trusted that; a clone of somebody's pull request is not.
"""

import hashlib
import os
import re
import shutil
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sidecar.config.repositories import CloneOrigins
from sidecar.doors.settings import DoorsError
from sidecar.doors.store import DoorsStore
from tools.errors import ToolError

if TYPE_CHECKING:
    from tools.local.repository.mirror import GitRemote, Mirrors

#: Clones of pull requests that were neither merged nor closed, at most.
MAX_CLONES = 200
_SCHEMA = """
CREATE TABLE IF NOT EXISTS works (
    subject TEXT PRIMARY KEY, repository TEXT NOT NULL, directory TEXT NOT NULL, origin TEXT NOT NULL,
    base TEXT NOT NULL, branch TEXT NOT NULL, head TEXT NOT NULL, pull INTEGER);
CREATE TABLE IF NOT EXISTS aliases (alias TEXT PRIMARY KEY, subject TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS marks (subject TEXT NOT NULL, name TEXT NOT NULL, key TEXT NOT NULL, UNIQUE (subject, name));
"""
_UNFIT = re.compile(r"[^a-z0-9]+")


class Work(NamedTuple):
    subject: str
    repository: str
    directory: str
    #: The workspace of `doors.toml`.
    origin: str
    #: The branch that a pull request goes to.
    base: str
    branch: str
    #: The commit that the next one follows.
    head: str
    pull: int | None


class Works:
    """`token` gives the token for a repository; `git` is where it is served, such as `https://github.com`."""

    def __init__(
        self, store: DoorsStore, data_dir: Path, clones: Path, git: str, token: Callable[[str], str | None]
    ) -> None:
        store.create(_SCHEMA)
        self._store = store
        self._clones = clones
        self._origins = CloneOrigins(data_dir)
        self._git = git.rstrip("/")
        self.mirrors, self._close = _open_mirrors(data_dir, token)

    async def close(self) -> None:
        await self._close()

    def remote(self, repository: str) -> "GitRemote":
        from tools.local.repository.mirror import GitRemote

        return GitRemote.parse(f"{self._git}/{repository}.git")

    async def find(self, subject: str) -> Work | None:
        sql = "SELECT * FROM works WHERE subject = ?"
        row = await self._store.row(sql, (subject,))
        return Work(*row) if row else None

    async def prepare(
        self, subject: str, repository: str, base: str, origin: str, name: str, pull: int | None = None
    ) -> Work:
        """The subject's clone, made if it isn't there: of `base`, of our own branch, or of a pull request."""
        known = await self.find(subject)
        if known is not None and os.path.isdir(known.directory):  # noqa: PTH112
            return known
        work = known or Work(subject, repository, str(self._place(subject, repository)), origin, base, name, "", pull)
        if len(await self._all()) >= MAX_CLONES:
            raise DoorsError(f"There are {MAX_CLONES} clones of open pull requests in {self._clones}; close some.")
        try:
            head = await self._clone(work)
        except ToolError as error:
            raise DoorsError(f"{repository} can't be cloned: {error.message}") from error
        return await self._save(work._replace(head=head))

    async def _clone(self, work: Work) -> str:
        """Complete under its name, or not there."""
        remote = self.remote(work.repository)
        target = Path(work.directory)
        unfinished = target.with_name(f".{target.name}-unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if work.branch:
            await self.mirrors.fetch(remote)
            branch = work.branch if await self.mirrors.head(remote, work.branch) else work.base
            head = await self.mirrors.clone(remote, str(unfinished), branch)
        else:
            head = await self.mirrors.clone(remote, str(unfinished), pull=work.pull)
        unfinished.rename(target)
        return head

    async def moved(self, work: Work, head: str) -> Work:
        return await self._save(work._replace(head=head))

    async def opened(self, work: Work, pull: int) -> Work:
        """Comments on the pull request are about the same subject from now on."""
        return await self._save(work._replace(pull=pull))

    async def forget(self, subject: str) -> None:
        work = await self.find(subject)
        if work is None:
            return

        def delete(store: sqlite3.Connection) -> None:
            for table in ("works", "aliases", "marks"):
                store.execute(f"DELETE FROM {table} WHERE subject = ?", (subject,))  # noqa: S608

        await self._store.do(delete)
        shutil.rmtree(Path(work.directory).parent, ignore_errors=True)
        await self._register()

    async def mark_once(self, subject: str, name: str, key: str) -> bool:
        """Whether this key is the first to do that for the subject; the same key may try again."""

        def insert(store: sqlite3.Connection) -> bool:
            store.execute("INSERT OR IGNORE INTO marks VALUES (?, ?, ?)", (subject, name, key))
            sql = "SELECT key FROM marks WHERE subject = ? AND name = ?"
            return bool(store.execute(sql, (subject, name)).fetchone()[0] == key)

        return bool(await self._store.do(insert))

    async def _save(self, work: Work) -> Work:
        def insert(store: sqlite3.Connection) -> None:
            store.execute("INSERT OR REPLACE INTO works VALUES (?, ?, ?, ?, ?, ?, ?, ?)", work)
            for alias in _aliases(work):
                store.execute("INSERT OR REPLACE INTO aliases VALUES (?, ?)", (alias, work.subject))

        await self._store.do(insert)
        await self._register()
        return work

    async def _register(self) -> None:
        """Not those of other people's pull requests: a stranger's code is not trusted because yours is."""
        self._origins.write({work.directory: work.origin for work in await self._all() if work.branch})

    async def _all(self) -> list[Work]:
        rows = await self._store.rows("SELECT * FROM works")
        return [Work(*row) for row in rows]

    def _place(self, subject: str, repository: str) -> Path:
        digest = hashlib.sha256(subject.encode()).hexdigest()[:16]
        return self._clones / digest / _UNFIT.sub("-", repository.partition("/")[2].lower())[:60]


def _open_mirrors(
    data_dir: Path, token: Callable[[str], str | None]
) -> "tuple[Mirrors, Callable[[], Awaitable[object]]]":
    """The mirrors, and what ends their processes. Loaded here: doors that clone nothing need no sandbox."""
    from tools.local.environment import sidecar_mark
    from tools.local.processes import Processes
    from tools.local.reaper import Reaper, process_table
    from tools.local.repository.mirror import GitRemote, Mirrors
    from tools.local.sandbox.probe import Sandboxes

    def token_for(remote: GitRemote) -> str | None:
        return token(remote.path.lstrip("/").removesuffix(".git"))

    mark = sidecar_mark(data_dir / "doors")
    processes = Processes(data_dir, mark, Reaper(process_table(), mark))
    return Mirrors(data_dir / "mirrors", processes, Sandboxes(), token_for), processes.close


def branch_for(words: str) -> str:
    """A branch of ours; the same words give the same."""
    return f"brain/{_UNFIT.sub('-', words.lower()).strip('-')[:60]}"


def _aliases(work: Work) -> list[str]:
    """Other names that deliveries have for the subject."""
    place = f"github:{work.repository.lower()}"
    names = [f"{place}@{work.branch}"] if work.branch else []
    if work.branch and work.pull is not None:
        names.append(f"{place}#{work.pull}")
    return names
