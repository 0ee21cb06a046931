"""Reverts changes that an unapproved command makes to protected files, while it runs and after it ended.

A sandbox can hold files that exist, but can't keep a new name free. So we look once a second while a command runs, and
after it before anybody hears of its end. New files go to the quarantine in the data directory; changed and removed
files are restored. A file that you save in the same moments looks the same, so it goes there too and is never lost.
"""

import asyncio
import os
import re
import stat
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sidecar.config.paths import closed_after
from sidecar.wire.base import ErrorBody
from tools.errors import ToolError
from tools.local.environment import call_mark
from tools.local.inventory import Inventory, ProtectedFile
from tools.local.quarantine import Quarantine
from tools.local.root import WorkspaceRoot
from tools.paths import parents
from tools.shield import run_to_completion
from tools.spec import ToolResult

_LOOK_SECONDS = 1.0
#: Spend at most this part of the time on looking, so a very large workspace is looked at less often.
_SHARE = 20
_MAX_NAMED = 20
_GIT_SECTION = re.compile(r"\[(?:core|user|init|extensions)\]\Z")
#: Settings of a new repository. None of them starts a program.
_GIT_SETTING = re.compile(
    r"(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|defaultbranch"
    r"|objectformat|refstorage|name|email)\s*=\s*[\w .@+-]*\Z",
    re.IGNORECASE,
)

#: The end of a command that still runs in the background.
BackgroundExit = Callable[[], asyncio.Future[None] | None]


@dataclass(eq=False, slots=True)
class CommandWatch:
    """One command: the protected files before it, the changes that aren't its own, and what was reverted."""

    call_id: str
    before: dict[str, ProtectedFile]
    folders: frozenset[str]
    #: Files that the sandbox holds, with the inodes of their directories.
    held: dict[str, tuple[int, ...]] = field(default_factory=dict)
    accepted: set[str] = field(default_factory=set)
    #: Whether an approved command ran beside it: then it is unknown whose changes they are.
    shared: bool = False
    reverted: dict[str, str] = field(default_factory=dict)
    background: bool = False


class ProtectedFiles:
    """Monitors the protected files of one workspace."""

    def __init__(self, root: WorkspaceRoot, quarantine: Path) -> None:
        self._root = root
        self._quarantine = Quarantine(quarantine)
        self._inventory = Inventory(root.path)
        self._looking = asyncio.Lock()
        self._watches: set[CommandWatch] = set()
        self._background: set[asyncio.Task[None]] = set()
        self._unreported: dict[str, str] = {}
        #: Approved commands that run at the moment.
        self._approved = 0

    @asynccontextmanager
    async def watch(self, call_id: str, background_exit: BackgroundExit) -> AsyncIterator[CommandWatch]:
        """Around an unapproved command; one in the background is watched until it ends."""
        watch = await self._begin(call_id)
        looking = asyncio.create_task(self._look_repeatedly(watch), name="protected-files")
        try:
            yield watch
        finally:
            if (exited := background_exit()) is not None:
                watch.background = True
                self._in_background(self._end_after(exited, looking, watch))
            else:
                looking.cancel()
                await run_to_completion(self._end(watch))

    @asynccontextmanager
    async def allow_changes(self, background_exit: BackgroundExit) -> AsyncIterator[None]:
        """Around an approved command."""
        self._approved += 1
        for watch in self._watches:
            watch.shared = True
        try:
            yield
        finally:
            if (exited := background_exit()) is not None:
                self._in_background(self._allow_until(exited))
            else:
                self._approved -= 1

    @property
    def idle(self) -> bool:
        return not (self._watches or self._background or self._unreported or self._approved)

    def take_report(self) -> dict[str, str]:
        """Files reverted after background commands since the last report."""
        report, self._unreported = self._unreported, {}
        return report

    async def close(self) -> None:
        """Call it after the last command has ended."""
        if self._background:
            await asyncio.wait(self._background)

    def accept(self, path: str) -> None:
        """A tool wrote this, with approval; no command did."""
        for watch in self._watches:
            watch.accepted.add(self._root.relative(path))

    def hold(self, watch: CommandWatch, most: int) -> list[str]:
        """Existing protected files for the sandbox to hold, upper directories first."""
        watch.held = {path: self._inventory.inodes(path) for path in self._inventory.paths()[:most]}
        return list(watch.held)

    async def _begin(self, call_id: str) -> CommandWatch:
        async with self._looking:
            quick = self._inventory.quick
            before = self._inventory.look() if quick else await asyncio.to_thread(self._inventory.look)
        watch = CommandWatch(call_id, before, self._inventory.folders(), shared=self._approved > 0)
        self._watches.add(watch)
        return watch

    async def _look_repeatedly(self, watch: CommandWatch) -> None:
        pause = _LOOK_SECONDS
        while True:
            await asyncio.sleep(pause)
            began = time.monotonic()
            await run_to_completion(self._check(watch))
            pause = max(_LOOK_SECONDS, (time.monotonic() - began) * _SHARE)

    async def _end(self, watch: CommandWatch) -> None:
        await self._check(watch)
        self._watches.discard(watch)

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work, name="protected-files")
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _end_after(self, exited: asyncio.Future[None], looking: asyncio.Task[None], watch: CommandWatch) -> None:
        await asyncio.wait((exited,))
        looking.cancel()
        await self._end(watch)

    async def _allow_until(self, exited: asyncio.Future[None]) -> None:
        await asyncio.wait((exited,))
        self._approved -= 1

    async def _check(self, watch: CommandWatch) -> None:
        async with self._looking:
            if self._inventory.quick:
                self._compare(watch)
            else:
                await asyncio.to_thread(self._compare, watch)

    def _compare(self, watch: CommandWatch) -> None:
        now = self._inventory.look()
        if watch.shared:
            watch.before = now
            return
        for path in now.keys() | watch.before.keys():
            old, new = watch.before.get(path), now.get(path)
            if path in watch.accepted or (old is not None and new is not None and old.same(new)):
                continue
            if self._is_held(watch, path):
                continue
            if old is None and new is not None and _made_by_git(path, new.content, self._root.path):
                watch.before[path] = new
                continue
            (self._unreported if watch.background else watch.reverted)[path] = self._revert(watch, path, old, new)

    def _is_held(self, watch: CommandWatch, path: str) -> bool:
        """The sandbox held it, and its directories are the same as before: then somebody outside wrote it."""
        for held, inodes in watch.held.items():
            if path == held or path.startswith(f"{held}/"):
                return inodes == self._inventory.inodes(held)
        return False

    def _revert(self, watch: CommandWatch, path: str, old: ProtectedFile | None, new: ProtectedFile | None) -> str:
        """Describes the outcome."""
        try:
            handle, name = self._root.parent(path, create=old is not None, follow=False)
        except ToolError:
            return "gone, with its directory" if new is None else "could not be reverted"
        try:
            there = new is not None or _exists(handle, name)
            kept = self._quarantine.take(handle, name, call_mark(watch.call_id), path) if there else None
            if old is None:
                self._remove_new_folders(watch, path)
                return f"moved to {kept}"
            if not _restore(handle, name, old):
                watch.before.pop(path, None)
                now = f"the new version was moved to {kept}" if kept else "it is gone"
                return f"too large to restore; {now}"
            return "restored"
        except OSError as error:
            return f"could not be reverted: {error.strerror}"
        finally:
            os.close(handle)

    def _remove_new_folders(self, watch: CommandWatch, path: str) -> None:
        for folder in parents(path):
            if not folder or folder in watch.folders:
                return
            with suppress(ToolError, OSError):
                handle, name = self._root.parent(folder, follow=False)
                with closed_after(handle):
                    os.rmdir(name, dir_fd=handle)


def add_reverted(result: ToolResult, reverted: Mapping[str, str]) -> ToolResult:
    """Report reverted files to the model and to the user."""
    if not reverted:
        return result
    named = "\n".join(f"- {path}: {outcome}" for path, outcome in sorted(reverted.items())[:_MAX_NAMED])
    more = f"\n… and {len(reverted) - _MAX_NAMED} more" if len(reverted) > _MAX_NAMED else ""
    message = (
        "A command wrote protected files, which decide what runs later or hold secrets. That needs the user's "
        f"approval, so it was reverted:\n{named}{more}"
    )
    advice = (
        "Don't try it another way. If it is needed, run a command that names the file, or use write_file: both ask "
        "for approval."
    )
    error = result.error or ErrorBody(code="protected_files", message=message, advice=advice)
    content = f"{result.content}\n{message}\n{advice}".lstrip("\n")
    return result._replace(content=content, summary="reverted", error=error)


def _made_by_git(path: str, content: bytes | None, workspace: str) -> bool:
    """Whether a new file is as Git makes it for a repository or worktree, and runs nothing later."""
    upper, _, name = path.rpartition("/")
    if content is None:
        return False
    if f"/{upper}/".endswith("/hooks/") and f"/{upper}".find("/.git/") >= 0:
        return name.endswith(".sample")
    text = content.decode("utf-8", "replace")
    if name == ".git":
        return re.fullmatch(rf"gitdir: {re.escape(workspace)}/\.git/worktrees/[\w.-]+\n?", text) is not None
    if name == "commondir":
        return "/.git/worktrees/" in f"/{path}" and text.strip() == "../.."
    if name == "config" and f"/{path}".endswith("/.git/config"):
        lines = (line.strip() for line in text.splitlines())
        return all(not line or _GIT_SECTION.match(line) or _GIT_SETTING.match(line) for line in lines)
    return False


def _exists(handle: int, name: str) -> bool:
    """Whether anything has the name, such as an empty directory."""
    try:
        os.stat(name, dir_fd=handle, follow_symlinks=False)
    except OSError:
        return False
    return True


def _restore(handle: int, name: str, old: ProtectedFile) -> bool:
    if old.content is None:
        return False
    if stat.S_ISLNK(old.mode):
        os.symlink(os.fsdecode(old.content), name, dir_fd=handle)
        return True
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(name, flags, 0o600, dir_fd=handle), "wb") as file:  # noqa: PTH123
        file.write(old.content)
        os.fchmod(file.fileno(), stat.S_IMODE(old.mode))
    return True
