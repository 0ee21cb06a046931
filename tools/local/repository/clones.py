"""Clones of remotes that you allowed, in which tasks work that name a remote instead of a directory.

Each run of a task has a new one, made from a mirror of this process alone. So a worker that lost its task writes into
a directory that is no longer used.
"""

import asyncio
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from tools.errors import InvalidArguments, ToolError
from tools.host import FileContent
from tools.local.repository.mirror import GitRemote, Mirrors
from tools.local.repository.worktree import look, write_content
from tools.local.root import WorkspaceRoot, name_to_text, text_to_name
from tools.worktrees import ChangedPath

#: Contents before and after that are held while a part is merged.
_MAX_MERGED_BYTES = 256 * 1024 * 1024


class GitClones:
    """`allowed` are addresses of remotes; one that ends with `/*` covers all below it."""

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
        found = await self._with(remote, commit)
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

    async def commit(
        self,
        name: str,
        remote: str,
        parent: str,
        message: str,
        when: str,
        only: Sequence[str] | None = None,
        merged: str = "",
    ) -> str:
        found = await self._with(remote, parent, merged or parent)
        if merged and not await self._mirrors.has(found, merged):
            merged = ""  # somebody deleted its branch; the files are here
        names = None if only is None else [text_to_name(path) for path in only]
        return await self._mirrors.commit(found, self._place(name), parent, message, when, names, merged)

    async def changed(self, remote: str, base: str, commit: str) -> list[ChangedPath]:
        found = await self._with(remote, base, commit)
        async with self._mirrors.extracted(found, base, commit) as (names, before, after):
            paths = [name_to_text(name) for name in names]
            return await asyncio.to_thread(_compare, paths, WorkspaceRoot(before), WorkspaceRoot(after))

    async def delete(self, remote: str, branch: str, commit: str) -> None:
        await self._mirrors.delete(self._remote(remote), branch, commit)

    async def _with(self, remote: str, *commits: str) -> GitRemote:
        """The remote, with these commits in its mirror: another worker may have pushed them."""
        found = self._remote(remote)
        for commit in commits:
            if not await self._mirrors.has(found, commit):
                await self._mirrors.fetch(found)
        return found

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


def _compare(paths: Sequence[str], before: WorkspaceRoot, after: WorkspaceRoot) -> list[ChangedPath]:
    found: list[ChangedPath] = []
    room = _MAX_MERGED_BYTES
    for path in paths:
        each = ChangedPath(path, look(before, path), look(after, path))
        room -= sum(len(side.content) for side in each[1:] if side is not None)
        if room < 0:
            raise ToolError(f"It changes files of more than {_MAX_MERGED_BYTES >> 20} MiB.", code="too_large")
        found.append(each)
    return found


def _covers(allowed: str, url: str) -> bool:
    """`https://host/team/*` covers what is below it; anything else one repository, with or without `.git`."""
    if allowed.endswith("/*"):
        return url.startswith(allowed[:-1])
    try:
        return GitRemote.parse(allowed).url.removesuffix(".git") == url.removesuffix(".git")
    except InvalidArguments:
        return False
