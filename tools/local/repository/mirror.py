"""Our own bare copies of remotes that a person named: the one place from which we clone, fetch and push.

A mirror has no hooks and no configuration but ours, so a repository can't say where our token goes or what runs. The
token goes to the host of the remote and to no other: redirects are errors, other protocols are off, and in a sandbox
with a network of its own no other host can be reached.
"""

import asyncio
import base64
import hashlib
import os
import re
import secrets
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from sidecar.config.paths import closed_after
from tools.errors import InvalidArguments, TimedOut, ToolError
from tools.host import EnoughOutput, OutputCollector
from tools.local.confinement import CommandLimits, Confinement
from tools.local.processes import Processes
from tools.local.repository.git import ENVIRONMENT, find_git
from tools.local.repository.location import find_repository
from tools.local.sandbox.access import SandboxTier
from tools.local.sandbox.probe import Sandboxes
from tools.local.special_files import SpecialFiles
from tools.text import escape_hidden

_SECONDS = 600.0
_LOOPBACK = frozenset({"localhost", "127.0.0.1"})
_HOST = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?\Z")
_PATH = re.compile(r"/[\w.~+-]+(?:/[\w.~+-]+)*/?\Z", re.ASCII)
_BRANCH = re.compile(r"\w[\w.-]*(?:/\w[\w.-]*)*\Z", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
#: Faults of old commits that do no harm; everything else that Git's own check finds is refused.
_HARMLESS = "zeroPaddedFilemode missingSpaceBeforeDate badTimezone missingEmail missingNameBeforeEmail badDate"
_SETTINGS = """
safe.bareRepository=explicit core.hooksPath=/dev/null core.fsmonitor=false core.askPass=false credential.helper=
http.followRedirects=false http.lowSpeedLimit=1000 http.lowSpeedTime=60 http.emptyAuth=false fetch.fsckObjects=true
fetch.recurseSubmodules=false push.recurseSubmodules=no push.gpgSign=false submodule.recurse=false
transfer.bundleURI=false transfer.credentialsInUrl=die gc.auto=0 maintenance.auto=false init.defaultBranch=main
"""
_OPTIONS = tuple(
    option
    for setting in (*_SETTINGS.split(), *(f"fetch.fsck.{name}=ignore" for name in _HARMLESS.split()))
    for option in ("-c", setting)
)
_COMMANDS = (
    "init fetch clone checkout push remote ls-remote ls-tree merge-base read-tree add write-tree commit-tree rev-parse "
    "show diff diff-tree checkout-index update-index"
)
#: A commit with more than this is not checked out: a few kilobytes of a pack can name billions of files.
MAX_FILES = 500_000
MAX_BYTES = 4 * 1024 * 1024 * 1024
#: A commit that changes more files than this is not merged.
MAX_CHANGED = 5_000
#: Paths on one command line.
_PATHS_AT_ONCE = 500
_SUBMODULE, _ABSENT = "160000", "000000"
_BEFORE, _AFTER = "before", "after"
_PULLS = "brain-pulls"
_AUTHOR = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (("NAME", "Rainy Brain"), ("EMAIL", "rainy-brain@localhost"))
}
_REFSPECS = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")


@dataclass(frozen=True, slots=True)
class GitRemote:
    """An address that a person named. Build it with `parse`."""

    scheme: str
    host: str
    port: int | None
    path: str

    @classmethod
    def parse(cls, named: str) -> "GitRemote":
        """Only `https`, and `http` on this machine. Raises `InvalidArguments`."""
        if found := re.fullmatch(r"git@([\w.-]+):([^:]+)", named):
            named = f"https://{found[1]}/{found[2].lstrip('/')}"
        try:
            parts = urlsplit(named)
            host, port = parts.hostname or "", parts.port
        except ValueError as error:
            raise _bad_remote(named) from error
        plain = f"{parts.scheme}://{parts.netloc}{parts.path}" == named and "@" not in parts.netloc
        fits = _HOST.match(host) and _PATH.match(parts.path) and ".." not in parts.path
        if not (plain and fits and (parts.scheme == "https" or (parts.scheme == "http" and host in _LOOPBACK))):
            raise _bad_remote(named)
        return cls(parts.scheme, host, port, parts.path.rstrip("/"))

    @property
    def url(self) -> str:
        return f"{self.origin}{self.path}"

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.host}{'' if self.port is None else f':{self.port}'}"


class Mirrors:
    """`directory` is private to the sidecar. `token` is your token for a remote, if there is one."""

    def __init__(
        self,
        directory: Path,
        processes: Processes,
        sandboxes: Sandboxes,
        token: Callable[[GitRemote], str | None] = lambda remote: None,
        limits: CommandLimits | None = None,
    ) -> None:
        self._directory = directory
        self._processes = processes
        self._sandboxes = sandboxes
        self._token = token
        self._limits = limits
        self._locks: dict[str, asyncio.Lock] = {}

    async def fetch(self, remote: GitRemote) -> str:
        """Make the mirror, or bring it up to date. Returns its directory."""
        place = self._place(remote)
        async with self._locks.setdefault(place, asyncio.Lock()):
            await self._fetch(remote, place)
        return place

    async def clone(self, remote: GitRemote, target: str, branch: str = "", pull: int | None = None) -> str:
        """A new working copy of the remote, or of a pull request; returns its commit, if the branch was named.

        Its configuration is Git's own, and it has no hooks.
        """
        if branch:
            _check(_BRANCH, branch, "branch")
        mirror = self._place(remote)
        async with self._locks.setdefault(mirror, asyncio.Lock()):
            await self._fetch(remote, mirror, pull)
            branch = branch if pull is None else f"{_PULLS}/{pull:d}"
            await self._copy(remote, mirror, target, ["--branch", branch] if branch else [])
            return await self._resolve(mirror, f"refs/heads/{branch}") if branch else ""

    async def checkout(self, remote: GitRemote, target: str, commit: str) -> None:
        """A new working copy of a commit that was fetched, on no branch. Refuses one that is too large."""
        _check(_COMMIT, commit, "commit")
        mirror = self._place(remote)
        async with self._locks.setdefault(mirror, asyncio.Lock()):
            await self._measure(mirror, commit)
            await self._copy(remote, mirror, target, ["--no-checkout"])
            words = ["-C", target, "-c", "core.symlinks=true", "checkout", "--quiet", "--detach", commit]
            await self._local(target, words, mirror)

    async def _copy(self, remote: GitRemote, mirror: str, target: str, options: Sequence[str]) -> None:
        os.makedirs(target, mode=0o700, exist_ok=True)  # noqa: PTH103 - fails below if it isn't empty
        words = ["clone", "--quiet", "--template=", "--no-hardlinks", "--no-recurse-submodules", *options]
        await self._local(target, ["-c", "core.symlinks=true", *words, "--", mirror, target], mirror)
        await self._local(target, ["-C", target, "remote", "set-url", "origin", remote.url], mirror)

    async def _measure(self, place: str, commit: str) -> None:
        size = _TreeSize()
        await self._plumb(place, ["ls-tree", "-r", "-l", "-z", commit], {}, output=size)
        if size.cut:
            raise ToolError(
                f"The commit {commit[:12]} has more than {MAX_FILES:,} files or {MAX_BYTES >> 30} GiB, so it is not "
                "checked out.",
                code="too_large",
            )

    async def _fetch(self, remote: GitRemote, place: str, pull: int | None = None) -> None:
        await self._prepare(place)
        words = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-gc"]
        await self._reach(remote, place, [*words, "--prune", "--", remote.url, *_REFSPECS])
        if pull is not None:  # the next fetch prunes it
            head = f"+refs/pull/{pull:d}/head:refs/heads/{_PULLS}/{pull:d}"
            await self._reach(remote, place, [*words, "--", remote.url, head])

    async def head(self, remote: GitRemote, branch: str) -> str:
        """The commit that a branch had at the last fetch; empty if there is none."""
        _check(_BRANCH, branch, "branch")
        return await self._resolve(self._place(remote), f"refs/heads/{branch}")

    async def default_branch(self, remote: GitRemote) -> str:
        """The branch that the remote itself would check out."""
        place = self._place(remote)
        async with self._locks.setdefault(place, asyncio.Lock()):
            await self._prepare(place)
            said = await self._reach(remote, place, ["ls-remote", "--quiet", "--symref", "--", remote.url, "HEAD"])
        found = re.search(r"^ref: refs/heads/(\S+)\tHEAD$", said, re.MULTILINE)
        if found is None:
            raise ToolError(f"{remote.url} names no default branch; name one.", code="no_branch")
        _check(_BRANCH, found[1], "branch")
        return found[1]

    async def has(self, remote: GitRemote, commit: str) -> bool:
        """Whether the mirror has the commit."""
        _check(_COMMIT, commit, "commit")
        return bool(await self._resolve(self._place(remote), f"{commit}^{{commit}}"))

    async def holds(self, remote: GitRemote, branch: str, commit: str) -> bool:
        """Whether the branch had the commit at the last fetch."""
        head = await self.head(remote, branch)
        if not head or not await self.has(remote, commit):
            return False
        try:
            await self._plumb(self._place(remote), ["merge-base", "--is-ancestor", commit, head], {})
        except ToolError:
            return False
        return True

    async def commit(
        self,
        remote: GitRemote,
        workspace: str,
        parent: str,
        message: str,
        when: str,
        only: Sequence[str] | None = None,
        merged: str = "",
    ) -> str:
        """A commit of everything in the workspace, or `only` these paths, on top of `parent`; empty if nothing changed.

        The same files, parents, message and time give the same commit. `merged` is a second parent. The workspace's own
        repository is not read.
        """
        for name in (parent, merged or parent):
            _check(_COMMIT, name, "commit")
        place = self._place(remote)
        async with self._locks.setdefault(place, asyncio.Lock()):
            with tempfile.TemporaryDirectory(prefix="index-", dir=place) as folder:
                files = {"GIT_WORK_TREE": workspace, "GIT_INDEX_FILE": f"{folder}/index"}
                await self._plumb(place, ["read-tree", parent], files, workspace)
                if only is None:
                    await self._plumb(place, ["add", "--all", "--", "."], files, workspace)
                for paths in _batches(only or ()):
                    words = ["update-index", "--add", "--remove", "--replace", "--", *paths]
                    await self._plumb(place, words, files, workspace)
                tree = await self._plumb(place, ["write-tree"], files, workspace)
            if tree == await self._resolve(place, f"{parent}^{{tree}}"):
                return ""
            who = {f"GIT_{role}_DATE": when for role in ("AUTHOR", "COMMITTER")} | _AUTHOR
            parents = ["-p", parent, *(["-p", merged] if merged else [])]
            return await self._plumb(place, ["commit-tree", tree, *parents, f"-m{message}"], who)

    @asynccontextmanager
    async def extracted(self, remote: GitRemote, base: str, commit: str) -> AsyncIterator[tuple[list[str], str, str]]:
        """The files that differ between two commits, and two directories that have them as checkouts would.

        Refuses more than can be merged.
        """
        place = self._place(remote)
        found = await self._changed(place, base, commit)
        async with self._locks.setdefault(place, asyncio.Lock()):
            with tempfile.TemporaryDirectory(prefix="part-", dir=place) as folder:
                for side, name in ((_BEFORE, base), (_AFTER, commit)):
                    await self._measure(place, name)
                    os.mkdir(f"{folder}/{side}", 0o700)  # noqa: PTH102
                    files = {"GIT_WORK_TREE": f"{folder}/{side}", "GIT_INDEX_FILE": f"{folder}/{side}.index"}
                    await self._plumb(place, ["read-tree", name], files)
                    for paths in _batches([each.path for each in found if each.modes[side == _AFTER] != _ABSENT]):
                        words = ["-c", "core.symlinks=true", "checkout-index", "--quiet", "--", *paths]
                        await self._plumb(place, words, files)
                yield [each.path for each in found], f"{folder}/{_BEFORE}", f"{folder}/{_AFTER}"

    async def _changed(self, place: str, base: str, commit: str) -> list["_Changed"]:
        for name in (base, commit):
            _check(_COMMIT, name, "commit")
        # Quoted, because names need not be text.
        words = ["-c", "core.quotePath=true", "diff-tree", "-r", "--raw", "--no-renames", "--no-abbrev", base, commit]
        output = OutputCollector()
        lines = (await self._plumb(place, words, {}, output=output)).splitlines()
        if output.cut or len(lines) > MAX_CHANGED:
            raise ToolError(f"It changes more than {MAX_CHANGED:,} files.", code="too_large")
        found = [_Changed.parse(line) for line in lines]
        if apart := [each.path for each in found if _SUBMODULE in each.modes]:
            named = escape_hidden(os.fsencode(apart[0]).decode("utf-8", "replace"))
            raise ToolError(f"{named} is a repository of its own, which can't be merged.", code="submodule")
        return found

    async def diff(self, remote: GitRemote, base: str, head: str) -> str:
        """What `head` changed since it left `base`; commits that were fetched."""
        for commit in (base, head):
            _check(_COMMIT, commit, "commit")
        options = ["--no-ext-diff", "--no-textconv", "--no-color", "--find-renames"]
        words = ["-c", "core.quotePath=false", "diff", *options, f"{base}...{head}", "--"]
        return await self._plumb(self._place(remote), words, {})

    async def parent(self, remote: GitRemote, commit: str) -> tuple[str, str]:
        """The first parent of a commit that was fetched, and its message."""
        _check(_COMMIT, commit, "commit")
        found = await self._plumb(self._place(remote), ["show", "--no-patch", "--format=%P%n%B", commit], {})
        parents, _, message = found.partition("\n")
        return parents.partition(" ")[0], message

    async def _resolve(self, place: str, name: str) -> str:
        try:
            return await self._plumb(place, ["rev-parse", "--verify", "--quiet", "--end-of-options", name], {})
        except (OSError, ToolError):
            return ""

    async def _plumb(
        self,
        place: str,
        words: Sequence[str],
        more: Mapping[str, str],
        *readable: str,
        output: OutputCollector | None = None,
    ) -> str:
        environment = {**ENVIRONMENT, "GIT_DIR": place, **more}
        confinement = Confinement(await self._sandbox(), self._limits, place)
        return (await self._run(place, words, environment, confinement, readable, output)).strip()

    async def push(self, remote: GitRemote, workspace: str, commit: str, branch: str) -> None:
        """Push a commit of a workspace, never by force. Of its repository only the objects are read."""
        _check(_COMMIT, commit, "commit")
        _check(_BRANCH, branch, "branch")
        place = self._place(remote)
        source = await asyncio.to_thread(_objects_of, workspace)
        async with self._locks.setdefault(place, asyncio.Lock()):
            await self._prepare(place)
            words = ["push", "--quiet", "--porcelain", "--no-verify", "--no-follow-tags", "--", remote.url]
            await self._reach(remote, place, [*words, f"{commit}:refs/heads/{branch}"], objects=source)

    async def delete(self, remote: GitRemote, branch: str, commit: str) -> None:
        """Delete a branch of the remote, unless it has another commit by now."""
        _check(_COMMIT, commit, "commit")
        _check(_BRANCH, branch, "branch")
        name, place = f"refs/heads/{branch}", self._place(remote)
        async with self._locks.setdefault(place, asyncio.Lock()):
            await self._prepare(place)
            words = ["push", "--quiet", "--porcelain", "--no-verify", f"--force-with-lease={name}:{commit}"]
            await self._reach(remote, place, [*words, "--", remote.url, f":{name}"])

    def _place(self, remote: GitRemote) -> str:
        return str(self._directory / f"{hashlib.sha256(remote.url.encode()).hexdigest()[:32]}.git")

    async def _prepare(self, place: str) -> None:
        os.makedirs(place, mode=0o700, exist_ok=True)  # noqa: PTH103
        await self._local(place, ["init", "--quiet", "--bare", "--template=", place])

    async def _local(self, place: str, words: Sequence[str], *readable: str) -> None:
        environment = {**ENVIRONMENT, "GIT_ALLOW_PROTOCOL": "file"}
        await self._run(place, words, environment, Confinement(await self._sandbox(), self._limits, place), readable)

    async def _reach(self, remote: GitRemote, place: str, words: Sequence[str], objects: str = "") -> str:
        sandbox = await self._sandbox()
        environment = {**ENVIRONMENT, "GIT_ALLOW_PROTOCOL": remote.scheme, "GIT_DIR": place, **self._secret(remote)}
        if objects:
            environment["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = objects
        # Where the sandbox can't tell hosts apart, Git itself reaches only this one.
        own = sandbox.own_network
        confinement = Confinement(sandbox, self._limits, place, hosts=(remote.host,) if own else (), network=not own)
        return await self._run(place, words, environment, confinement, (objects,) if objects else ())

    def _secret(self, remote: GitRemote) -> dict[str, str]:
        """In the environment, which only this user's processes can read; never in a command line or a file."""
        token = self._token(remote)
        if token is None:
            return {}
        header = base64.b64encode(f"x-access-token:{token}".encode()).decode()
        return {
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"http.{remote.origin}/.extraHeader",
            "GIT_CONFIG_VALUE_0": f"Authorization: Basic {header}",
        }

    async def _run(
        self,
        place: str,
        words: Sequence[str],
        environment: Mapping[str, str],
        confinement: Confinement,
        readable: Sequence[str],
        output: OutputCollector | None = None,
    ) -> str:
        """What Git prints."""
        program = find_git(place, os.environ)
        collector = output or OutputCollector()
        with closed_after(os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)) as handle:
            result = await self._processes.run(
                [program, "--no-pager", *_OPTIONS, *words],
                # Of its own: ending one process must not end those of another task.
                call_id=f"mirror-{secrets.token_hex(8)}",
                cwd=handle,
                timeout=_SECONDS,
                output=collector,
                environment={**environment, "HOME": place, "XDG_CONFIG_HOME": place},
                log=False,
                confinement=confinement.reading(readable),
            )
        name = next(word for word in words if word in _COMMANDS.split())
        if result.timed_out:
            raise TimedOut(f"git {name} took longer than {_SECONDS:g} s.", advice="Try again later.")
        if result.exit_code != 0 and not collector.cut:
            said = escape_hidden(f"{collector.errors}\n{collector.text}".strip())[:2_000]
            raise ToolError(f"git {name} failed: {said}", code="git_failed")
        return collector.text

    async def _sandbox(self) -> SandboxTier:
        sandbox = await self._sandboxes.find() or await self._sandboxes.find_reader()
        if sandbox is None:
            raise ToolError(
                "Remotes are reached only from a sandbox, and none works on this machine.",
                advice="Tell the user: `brain doctor` says what to install.",
                code="no_sandbox",
            )
        return sandbox


class _Changed(NamedTuple):
    """One line of `diff-tree --raw`; the mode of a side that lacks the file is zero."""

    path: str
    modes: tuple[str, str]

    @classmethod
    def parse(cls, line: str) -> "_Changed":
        head, _, path = line.partition("\t")
        before, after = head.lstrip(":").split()[:2]
        return cls(_unquote(path), (before, after))


def _unquote(name: str) -> str:
    """A name as Git quotes it if it isn't plain text."""
    if not name.startswith('"'):
        return name
    raw = name[1:-1].encode("ascii").decode("unicode_escape").encode("latin-1")
    return os.fsdecode(raw)


def _batches(paths: Sequence[str]) -> list[Sequence[str]]:
    return [paths[start : start + _PATHS_AT_ONCE] for start in range(0, len(paths), _PATHS_AT_ONCE)]


class _TreeSize(OutputCollector):
    """Adds up the files and bytes that `ls-tree -l -z` lists, and stops it beyond the limits."""

    def __init__(self) -> None:
        super().__init__()
        self._rest = ""
        self._files = self._bytes = 0

    def __call__(self, stream: str, text: str) -> None:
        if stream != "stdout":
            super().__call__(stream, text)
            return
        *lines, self._rest = (self._rest + text).split("\0")
        self._files += len(lines)
        for line in lines:
            size = line.partition("\t")[0].rpartition(" ")[2]
            self._bytes += int(size) if size.isdigit() else 0
        if self._files > MAX_FILES or self._bytes > MAX_BYTES or len(self._rest) > 1_000_000:
            self.cut = True
            raise EnoughOutput


def _objects_of(workspace: str) -> str:
    place = find_repository(workspace, os.environ.get("HOME", ""))
    objects = f"{place.common}/objects"
    if special := SpecialFiles().find(objects, [objects]):
        raise ToolError(f"{special}, so the repository is not read.", code="git_failed")
    return objects


def _check(pattern: re.Pattern[str], text: str, what: str) -> None:
    if pattern.match(text) is None or ".." in text or text.endswith((".lock", ".")):
        raise InvalidArguments(f"{escape_hidden(text[:200])} is no name of a {what}.")


def _bad_remote(named: str) -> InvalidArguments:
    return InvalidArguments(
        f"{escape_hidden(named[:200])} is no remote that can be reached: it must be https://HOST/PATH, without a user, "
        "a password or options."
    )
