"""Copies a workspace into a sandbox, and what a command changed there back.

Installed packages, caches, ignored files, Git's own data and files that may hold secrets stay here. A change comes back
only if the file here is still what was sent, so no edit is overwritten. Everything that a sandbox sends is the
work of a command: its paths go through the workspace's root like any other.
"""

import asyncio
import io
import os
import stat
import tarfile
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

from sidecar.wire.text import plural
from tools.errors import SecretFile, ToolError
from tools.host import FileChange, FileContent
from tools.local import files
from tools.local.git import Repository
from tools.local.repository.view import HooksPath, is_hook
from tools.local.root import WorkspaceRoot, name_to_text
from tools.local.snapshots import FileListing
from tools.local.walk import Exclusions, TooLargeToScan, Walker
from tools.protected import protected_part, secret_part
from tools.sandboxes.port import SandboxError, SandboxSession
from tools.skipped import CACHE_FOLDERS, INSTALLED_FOLDERS, VERSION_CONTROL

MAX_BYTES = 256 * 1024 * 1024
_MAX_FILES = 50_000
_PERMISSIONS = 0o777
_LEFT_OUT = CACHE_FOLDERS | INSTALLED_FOLDERS | VERSION_CONTROL
_UNPACK = 'cd "$1" && { [ ! -s "$2/gone" ] || xargs -0 rm -rf -- < "$2/gone"; } && tar xf "$2/in.tar" && rm "$2/in.tar"'
#: The smallest tar knows no `-X`; then everything is packed, and left out here.
_PACK = 'cd "$1" && { tar cf "$2/out.tar" -X "$2/left-out" . 2>/dev/null || tar cf "$2/out.tar" .; }'


class _Sent(NamedTuple):
    """A file as the sandbox has it."""

    digest: bytes
    mode: int


class BroughtBack(NamedTuple):
    #: As the workspace names them.
    paths: tuple[str, ...] = ()
    #: What stayed in the sandbox, each with the reason.
    kept_there: tuple[str, ...] = ()


class WorkspaceCopy:
    def __init__(self, root: WorkspaceRoot, session: SandboxSession) -> None:
        self.session = session
        self._root = root
        self._repository = Repository(root)
        self._hooks: str | None = None
        self._walker = Walker(root, self._repository)
        self._listing = FileListing()
        self._sent: dict[str, _Sent] = {}

    async def prepare(self) -> None:
        await self.session.write("left-out", "".join(f"{name}\n" for name in sorted(_LEFT_OUT)).encode())

    async def adopt(self) -> None:
        """Take what is there as the state before the next command: a clone, and what was installed."""
        self._sent = {path: _sent(found) for path, found in (await self._collect()).items()}

    async def send(self) -> None:
        """Make the copy equal to the workspace."""
        gone, archive = await asyncio.to_thread(self._pack)
        if not gone and not archive:
            return
        await self.session.write("gone", b"".join(os.fsencode(path) + b"\0" for path in gone))
        await self.session.write("in.tar", archive or _archive({}))
        await self._script(_UNPACK)

    async def bring_back(self, *, approved: bool) -> BroughtBack:
        """Write what changed in the sandbox into the workspace. Only an approved command changes protected files."""
        found = await self._collect()
        return await asyncio.to_thread(self._apply, found, approved)

    # -- in ------------------------------------------------------------------------------------------------------------

    def _pack(self) -> tuple[list[str], bytes]:
        self._repository.refresh()
        try:
            walked = self._walker.walk(self._listing)
        except TooLargeToScan as reason:
            raise SandboxError(f"{reason}, too much to copy into a sandbox. Nothing ran.") from reason
        first = not self._listing.folders
        self._listing = FileListing(walked.folders)
        wanted: dict[str, FileContent] = {}
        room = MAX_BYTES
        for path in walked.changed:
            content = self._read(path, room)
            if content is not None and self._sent.get(path) != _sent(content):
                wanted[path] = content
                room -= len(content.content)
        here = {path for path, _ in self._listing}
        gone = [path for path in self._sent if path not in here] if first or walked.gone else []
        for path in gone:
            del self._sent[path]
        self._sent.update({path: _sent(content) for path, content in wanted.items()})
        return gone, _archive(wanted) if wanted else b""

    def _read(self, path: str, room: int) -> FileContent | None:
        """`None` for a file that isn't copied."""
        name = name_to_text(path)
        try:
            if secret_part(name):
                files.read_file(self._root, name, 1, secrets=False)  # a certificate is no secret
            found = files.look(self._root, name, room)
        except SecretFile:
            return None
        except ToolError:
            return None  # it is gone already, or no file
        if found is not None and len(found.content) > room:
            most = f"{MAX_BYTES >> 20} MiB"
            raise SandboxError(f"The workspace has more than {most}, too much to copy into a sandbox. Nothing ran.")
        return found

    # -- out -----------------------------------------------------------------------------------------------------------

    async def _collect(self) -> dict[str, FileContent]:
        await self._script(_PACK)
        archive = await self.session.read("out.tar", MAX_BYTES)
        return await asyncio.to_thread(_unpack, archive)

    def _apply(self, found: Mapping[str, FileContent], approved: bool) -> BroughtBack:
        exclusions, kept, ignored = Exclusions(self._root, self._repository), list[str](), 0
        self._hooks = HooksPath(self._root.path).find()
        changes: list[tuple[str, FileChange]] = []
        for path, now in sorted(found.items()):
            known = self._sent.get(path)
            if known == _sent(now):
                continue
            if known is None and exclusions.name(path) is not None:
                ignored += 1
                continue
            changes += self._change(path, known, now, approved, kept)
        for path in sorted(self._sent.keys() - found.keys()):
            changes += self._change(path, self._sent[path], None, approved, kept)
        done = self._write(changes, found, kept)
        if ignored:
            kept.append(plural(ignored, "ignored file"))
        return BroughtBack(tuple(name_to_text(path) for path in done), tuple(kept))

    def _change(
        self, path: str, known: _Sent | None, now: FileContent | None, approved: bool, kept: list[str]
    ) -> list[tuple[str, FileChange]]:
        name = name_to_text(path)
        if not approved and (part := "a Git hook" if is_hook(name, self._hooks) else protected_part(name)):
            kept.append(f"{name}: changing {part} needs your approval")
            return []
        try:
            here = files.look(self._root, name, MAX_BYTES)
        except ToolError as error:
            kept.append(f"{name}: {error.message}")
            return []
        if (None if here is None else _sent(here)) != known:
            kept.append(f"{name}: it changed here meanwhile")
            return []
        before, after = None if here is None else here.content, None if now is None else now.content
        was = None if here is None else here.mode
        # A link in the same archive must not lead it elsewhere.
        return [(path, FileChange(name, before, after, _mode(here, now), was, located=True))]

    def _write(
        self, changes: Sequence[tuple[str, FileChange]], found: Mapping[str, FileContent], kept: list[str]
    ) -> list[str]:
        """Removals first: a directory may take the place of a file. Returns what was written."""
        removed = [each for each in changes if each[1].after is None]
        written = [each for each in changes if each[1].after is not None]
        errors = [
            error
            for batch in (removed, written)
            for error in files.apply_changes(self._root, [change for _, change in batch])
        ]
        done: list[str] = []
        for (path, change), error in zip([*removed, *written], errors, strict=True):
            if error is not None:
                kept.append(f"{change.path}: {error.message}")
                continue
            done.append(path)
            if change.after is None:
                del self._sent[path]
            else:
                self._sent[path] = _sent(found[path])
        return done

    async def _script(self, script: str) -> None:
        said = bytearray()

        def listen(stream: int, data: bytes) -> None:
            said.extend(data[: 2_000 - len(said)])

        inside = self.session
        argv = ["/bin/sh", "-c", script, "sh", inside.workspace, inside.exchange]
        if await inside.run(argv, environment={}, output=listen):
            why = said.decode("utf-8", "replace").strip()
            raise SandboxError(f"Files can't be exchanged with {inside.name}: {why or 'it has no sh and tar'}.")


def _sent(content: FileContent) -> _Sent:
    """Of a mode, a sandbox keeps whose file it is to run; of a link nothing."""
    kind = stat.S_IFMT(content.mode) if stat.S_ISLNK(content.mode) else 0
    return _Sent(sha256(content.content).digest(), kind or content.mode & 0o100)


def _mode(here: FileContent | None, now: FileContent | None) -> int | None:
    """The mode of a file that is brought back: its own, if only its text changed; never writable for others."""
    if now is None or stat.S_ISLNK(now.mode):
        return None if now is None else now.mode
    if here is not None and not stat.S_ISLNK(here.mode) and not (here.mode ^ now.mode) & 0o100:
        return None
    return 0o755 if now.mode & 0o100 else 0o644


def _archive(contents: Mapping[str, FileContent]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path, found in contents.items():
            entry = tarfile.TarInfo(path)
            if stat.S_ISLNK(found.mode):
                entry.type, entry.linkname = tarfile.SYMTYPE, os.fsdecode(found.content)
                archive.addfile(entry)
            else:
                entry.size, entry.mode = len(found.content), found.mode & _PERMISSIONS
                archive.addfile(entry, io.BytesIO(found.content))
    return buffer.getvalue()


def _unpack(archive: bytes) -> dict[str, FileContent]:
    """The files and links in an archive that a command may have written. Nothing is extracted."""
    found: dict[str, FileContent] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as opened:
            for number, entry in enumerate(opened):
                if number > _MAX_FILES:
                    raise SandboxError(f"The sandbox has more than {_MAX_FILES:,} files now. None was brought back.")
                path = entry.name.removeprefix("./")
                if not _is_plain(path) or not _LEFT_OUT.isdisjoint(path.split("/")):
                    continue
                if entry.issym():
                    found[path] = FileContent(os.fsencode(entry.linkname), stat.S_IFLNK | _PERMISSIONS)
                elif entry.islnk():
                    if (first := found.get(entry.linkname.removeprefix("./"))) is not None:
                        found[path] = first
                elif entry.isreg() and (content := opened.extractfile(entry)) is not None:
                    found[path] = FileContent(content.read(), entry.mode & _PERMISSIONS)
    except (tarfile.TarError, ValueError, EOFError) as error:
        raise SandboxError(f"The sandbox's archive can't be read: {error}. Nothing was brought back.") from error
    return found


def _is_plain(path: str) -> bool:
    return bool(path) and not any(part in ("", ".", "..") for part in path.split("/"))
