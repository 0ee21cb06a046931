"""Finds what commands did to files, and records it with the contents before and after.

The host tells the changes of a command's own processes from those of others where the machine can; elsewhere it scans
the workspace before and after, and each change is recorded as one whose author isn't known.
"""

import asyncio
import stat
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple
from weakref import WeakSet, ref

from pydantic import JsonValue

from sidecar.wire.base import JsonObject
from sidecar.wire.text import listed
from tools.changes import unified_diff
from tools.errors import ToolError
from tools.executor.context import CallContext
from tools.executor.session import ChangeWindow
from tools.host import FileChange, FileContent, Host, ScannedFile, can_scan
from tools.ledger import FileState, IrreversibleChange, Ledger, NewBlob, Outcome, digest

#: Longer files are counted line by line instead of compared; no one reads such a diff.
_COMPARED = 100_000
#: The same limit for all files of one command together.
_COMPARED_IN_ALL = 2_000_000
#: More files than this are compared in a thread.
_FEW = 8
_REASONS_SHOWN = 100
_NAMES_SHOWN = 20
#: Stands in for unknown files.
_ANYWHERE = "."
_NOT_RECORDED = "The changes of this command were not recorded"
_FORGOTTEN = (
    f"{_NOT_RECORDED}: the workspace is too large to be remembered across a restart of the sidecar, or could not be "
    "scanned."
)


class CommandChanges(NamedTuple):
    """What a command changed: the recorded files with their contents, and those that can't be restored."""

    files: list[FileState]
    irreversible: list[IrreversibleChange]
    blobs: list[NewBlob]
    #: The files as the details of an outcome list them.
    listed: list[JsonValue]

    def __bool__(self) -> bool:
        return bool(self.files or self.irreversible)

    def add_to(self, outcome: Outcome) -> Outcome:
        if not self:
            return outcome
        details: JsonObject = dict(outcome.details) if isinstance(outcome.details, dict) else {}
        if self.listed:
            # A shell that edits files lists them itself, in more detail.
            details.setdefault("files", self.listed)
        if self.irreversible:
            details["notKept"] = "\n".join(map(_reason, self.irreversible[:_REASONS_SHOWN]))
        changes: dict[str, object] = {"details": details, "files": self.files, "irreversible": self.irreversible}
        if outcome.status in ("unknown", "cancelled"):
            # Nothing else says what came of it.
            changes["content"] = f"{outcome.content} {self.describe()}"
        return outcome.model_copy(update=changes)

    def describe(self) -> str:
        known = [each.path for each in self.irreversible if each.path != _ANYWHERE]
        names = [*(file.path for file in self.files), *known]
        changed = f"Files that changed meanwhile: {listed(names, _NAMES_SHOWN)}." if names else ""
        unknown = [each.why for each in self.irreversible if each.path == _ANYWHERE]
        return " ".join(part for part in (changed, *unknown) if part)


@dataclass(slots=True)
class ChangeTracker:
    _open: "WeakSet[ChangeWindow]" = field(default_factory=WeakSet)

    @property
    def open_windows(self) -> int:
        return len(self._open)

    async def begin(self, context: CallContext, host: Host | None) -> tuple[str | None, Sequence[NewBlob]]:
        """Open a call's window. Returns the digest of the scan and the blobs to store, if it is small enough."""
        # A remote shell runs its commands itself, unseen by us; a tool of your own writes from this very process.
        ours = context.backend == "local" and context.spec.external is None
        call_id = context.call.id if ours else None
        window = context.window = await self._scan(host, context.workspace, context.ledger, call_id)
        if window.host is None or window.snapshot is None:
            return None, ()
        dumped = await window.host.dump_snapshot(window.snapshot)
        if not dumped:
            return None, ()
        session = context.session
        scan, earlier = digest(dumped[0]), session.scan
        contents = {digest(content): content for content in dumped[1:]}
        fresh = [NewBlob(content) for name, content in contents.items() if name not in session.stored]
        session.scan, session.stored = scan, set(contents)
        return scan, (NewBlob(dumped[0], earlier), *fresh)

    async def open(
        self, host: Host | None, workspace: str, ledger: Ledger
    ) -> tuple[ChangeWindow, str | None, Sequence[NewBlob]]:
        """A window for what is no call of the executor, with the digest of the scan and the blobs to store."""
        window = await self._scan(host, workspace, ledger, None)
        if window.host is None or window.snapshot is None:
            return window, None, ()
        dumped = await window.host.dump_snapshot(window.snapshot)
        return window, digest(dumped[0]) if dumped else None, [NewBlob(each) for each in dumped or ()]

    async def _scan(self, host: Host | None, workspace: str, ledger: Ledger, call_id: str | None) -> ChangeWindow:
        """Never fails: a command runs even if its changes can't be found."""
        window = ChangeWindow(workspace, ref(ledger))
        if host is None or not can_scan(host):
            window.blind = f"{_NOT_RECORDED}: the workspace can't be scanned from here."
            return window
        window.host = host
        try:
            window.snapshot = await host.snapshot(call_id)
            window.blind = window.snapshot.partial
        except (ToolError, OSError) as error:
            window.blind = f"{_NOT_RECORDED}: {error}"
        self._open.add(window)
        return window

    async def reopen(self, host: Host | None, workspace: str, ledger: Ledger, scan: str | None) -> ChangeWindow:
        """The window of a call that an earlier process left open."""
        window = ChangeWindow(workspace, ref(ledger), blind=_FORGOTTEN)
        dumped = await ledger.blob(scan) if scan is not None else None
        if dumped is not None and host is not None and can_scan(host):
            window.snapshot = await host.load_snapshot(dumped, ledger.blob)
            if window.snapshot is not None:
                window.host, window.blind = host, ""
        self._open.add(window)
        return window

    def drop(self, window: ChangeWindow) -> None:
        self._open.discard(window)

    async def end(self, window: ChangeWindow) -> CommandChanges:
        self._open.discard(window)
        if window.host is None or window.snapshot is None or window.blind:
            return _unknown(window.blind)
        try:
            found = await window.host.changes(window.snapshot)
        except (ToolError, OSError) as error:
            return _unknown(f"{_NOT_RECORDED}: {error}")
        for other in self._open:
            # A change of this command must not count again for another one of the same task.
            if other.ledger() is window.ledger() and other.snapshot is not None:
                for each in found:
                    if not each.not_saved:
                        other.snapshot.record_write(each.path, each.after.content if each.after else None)
        return _collect(found) if len(found) <= _FEW else await asyncio.to_thread(_collect, found)

    async def settle(self, context: CallContext, outcome: Outcome) -> Outcome:
        """Record an outcome with what the call did to files; for a background command, when that has ended."""
        details = outcome.details if isinstance(outcome.details, dict) else {}
        window, background = context.window, context.session.windows
        if window is not None and details.get("running") and isinstance(started := details.get("commandId"), str):
            background[started], window = window, None
        elif window is None and not details.get("running") and outcome.status != "error":
            window = background.pop(getattr(context.args, "command_id", ""), None)
        blobs: Sequence[NewBlob] = ()
        if window is not None:
            changes = await self.end(window)
            outcome, blobs = changes.add_to(outcome), changes.blobs
        await context.ledger.settle(context.call.id, outcome, context.event(outcome.status, outcome), blobs)
        if window is not None:
            await self.forget(window)
        return outcome

    async def forget(self, window: ChangeWindow) -> None:
        """After its changes are durable."""
        if window.host is not None and window.snapshot is not None:
            await window.host.forget(window.snapshot)


def _unknown(why: str) -> CommandChanges:
    """Which files the command changed is unknown: a rewind has to say so."""
    return CommandChanges([], [IrreversibleChange(path=_ANYWHERE, change="modified", why=why)], [], [])


def _collect(found: Sequence[ScannedFile]) -> CommandChanges:
    changes = CommandChanges([], [], [], [])
    room = _COMPARED_IN_ALL
    for each in found:
        kind = _kind(each)
        if each.not_saved:
            changes.irreversible.append(IrreversibleChange(path=each.path, change=kind, why=each.not_saved))
            continue
        before, after = _digest(each.before), _digest(each.after)
        changes.files.append(
            FileState(
                path=each.path,
                before=before,
                after=after,
                mode=each.after.mode if each.after else None,
                was=each.before.mode if each.before else None,
                doubt=each.doubt or None,
                folders=each.folders or None,
            )
        )
        if each.before is not None:
            changes.blobs.append(NewBlob(each.before.content))
        if each.after is not None and after != before:
            changes.blobs.append(NewBlob(each.after.content, before))
        size = len(each.before.content if each.before else b"") + len(each.after.content if each.after else b"")
        room -= size
        added, removed = _count_lines(each, compared=size <= _COMPARED and room > 0)
        changes.listed.append({"path": each.path, "change": kind, "added": added, "removed": removed})
    return changes


def _reason(each: IrreversibleChange) -> str:
    return each.why if each.path == _ANYWHERE else f"{each.path}: {each.why}"


def _kind(file: ScannedFile) -> Literal["created", "modified", "deleted"]:
    return "created" if file.before is None else "deleted" if file.after is None else "modified"


def _digest(file: FileContent | None) -> str | None:
    return None if file is None else digest(file.content)


def _count_lines(file: ScannedFile, *, compared: bool) -> tuple[int, int]:
    """Lines added and removed; none for a link or a binary file."""
    if any(each is not None and stat.S_ISLNK(each.mode) for each in (file.before, file.after)):
        return 0, 0
    before, after = file.before.content if file.before else b"", file.after.content if file.after else b""
    if before == after or b"\0" in before[:8192] or b"\0" in after[:8192]:
        return 0, 0
    if not before or not after:
        return len(after.splitlines()), len(before.splitlines())
    if compared:
        lines = unified_diff(FileChange(file.path, before, after))[2:]
        return sum(line.startswith("+") for line in lines), sum(line.startswith("-") for line in lines)
    old, new = Counter(before.splitlines()), Counter(after.splitlines())
    return (new - old).total(), (old - new).total()
