"""Clones of remotes that you allowed, in which tasks work that name a remote instead of a directory.

Each run of a task has a new one, made from a mirror of this process alone. So a worker that lost its task writes into
a directory that nobody looks at any more.
"""

import asyncio
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from tools.errors import InvalidArguments, ToolError
from tools.host import FileContent
from tools.local.repository.mirror import GitRemote, Mirrors
from tools.local.repository.worktree import write_content
from tools.local.root import WorkspaceRoot


class GitClones:
    """`allowed` are addresses of remotes; one that ends with `/*` stands for all below it."""

    def __init__(self, directory: Path, mirrors: Mirrors, allowed: Sequence[str]) -> None:
        self._directory = directory
        self._mirrors = mirrors
        self._allowed = allowed
        #: What an earlier process left behind; its tasks begin again from the journal.
        shutil.rmtree(directory, ignore_errors=True)

    def check(self, remote: str) -> str:
        return self._remote(remote).url

    async def find(self, remote: str, branch: str) -> tuple[str, str]:
        found = self._remote(remote)
        branch = branch or await self._mirrors.default_branch(found)
        await self._mirrors.fetch(found)
        commit = await self._mirrors.head(found, branch)
        if not commit:
            raise ToolError(f"{found.url} has no branch {branch}.", code="no_branch")
        return branch, commit

    async def checkout(self, name: str, remote: str, commit: str) -> str:
        found = self._remote(remote)
        if not await self._mirrors.has(found, commit):
            await self._mirrors.fetch(found)
        await self.remove(name)
        directory = self._place(name)
        await self._mirrors.checkout(found, directory, commit)
        return directory

    async def write(self, name: str, files: Mapping[str, FileContent | None]) -> None:
        root = WorkspaceRoot(self._place(name))

        def write() -> None:
            for path, content in files.items():
                write_content(root, path, content)

        await asyncio.to_thread(write)

    async def commit(self, name: str, remote: str, parent: str, message: str, when: str) -> str:
        found = self._remote(remote)
        if not await self._mirrors.has(found, parent):
            await self._mirrors.fetch(found)  # another worker pushed it
        return await self._mirrors.commit(found, self._place(name), parent, message, when)

    async def is_pushed(self, remote: str, commit: str, branch: str) -> bool:
        found = self._remote(remote)
        await self._mirrors.fetch(found)
        return await self._mirrors.holds(found, branch, commit)

    async def push(self, name: str, remote: str, commit: str, branch: str) -> None:
        await self._mirrors.push(self._remote(remote), self._place(name), commit, branch)

    async def remove(self, name: str) -> None:
        await asyncio.to_thread(shutil.rmtree, self._directory / name, ignore_errors=True)

    def _place(self, name: str) -> str:
        return os.path.realpath(self._directory / name)

    def _remote(self, named: str) -> GitRemote:
        remote = GitRemote.parse(named)
        if not any(_covers(each, remote.url) for each in self._allowed):
            raise ToolError(
                f"{remote.url} is no remote that you allowed. Add it to the setting `remotes` of this sidecar and of "
                "the workers.",
                code="remote_not_allowed",
            )
        return remote


def _covers(allowed: str, url: str) -> bool:
    """`https://host/team/*` covers what is below it; anything else one repository, with or without `.git`."""
    if allowed.endswith("/*"):
        return url.startswith(allowed[:-1])
    try:
        return GitRemote.parse(allowed).url.removesuffix(".git") == url.removesuffix(".git")
    except InvalidArguments:
        return False
