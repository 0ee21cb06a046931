"""What commands did to files: a look at the workspace before each, another after it, and the difference in the books.

Whoever else writes meanwhile through a tool is known, and is not mistaken for the command. What the person writes
meanwhile in an editor cannot be told from it; it is kept like everything else, so nothing of it is ever lost.
"""

import asyncio
import stat
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeGuard
from weakref import WeakSet, ref

from pydantic import JsonValue

from sidecar.wire.base import JsonObject
from tools.changes import unified_diff
from tools.errors import ToolError
from tools.host import FileChange, FileContent, Host, ScannedFile, ScanningHost, Snapshot
from tools.ledger import FileState, IrreversibleChange, Ledger, NewBlob, Outcome, digest

#: Longer texts are counted line by line rather than compared: it is quicker, and nobody reads the difference.
_COMPARED = 100_000
#: Of all files together; what is beyond is counted, too.
_COMPARED_IN_ALL = 2_000_000
_FEW = 8
_TOLD = 100
_NAMED = 20


@dataclass(eq=False, slots=True, weakref_slot=True)
class ChangeWindow:
    """From before a command to after it. Whoever lets go of it closes it."""

    workspace: str
    ledger: "ref[Ledger]"
    host: ScanningHost | None = None
    snapshot: Snapshot | None = None
    #: Why nothing can be said of what it changed.
    blind: str = ""


class CommandChanges(NamedTuple):
    """What a command changed, as the books have it, with the contents; and what of it cannot be brought back."""

    files: list[FileState]
    unkept: list[IrreversibleChange]
    contents: list[NewBlob]
    told: list[JsonValue]
    words: str = ""

    def on(self, outcome: Outcome) -> Outcome:
        if not (self.files or self.unkept or self.words):
            return outcome
        details: JsonObject = dict(outcome.details) if isinstance(outcome.details, dict) else {}
        if self.told:
            # A shell that edits files says itself what it did, and says more.
            details.setdefault("files", self.told)
        if self.unkept or self.words:
            named = [f"{each.path}: {each.why}" for each in self.unkept[:_TOLD]]
            details["notKept"] = "\n".join([*([self.words] if self.words else []), *named])
        changes: dict[str, object] = {"details": details, "files": self.files, "unkept": self.unkept}
        if outcome.status in ("unknown", "cancelled"):
            # Nobody else can say what came of it.
            changes["content"] = f"{outcome.content} {self._said()}"
        return outcome.model_copy(update=changes)

    def _said(self) -> str:
        names = [*(file.path for file in self.files), *(each.path for each in self.unkept)]
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        changed = f"Files that changed meanwhile: {', '.join(names[:_NAMED])}{more}." if names else ""
        return " ".join(part for part in (changed, self.words) if part)


@dataclass(slots=True)
class ChangeTracker:
    _open: "WeakSet[ChangeWindow]" = field(default_factory=WeakSet)

    async def begin(self, host: Host | None, workspace: str, ledger: Ledger) -> ChangeWindow:
        """Never fails: a command is not kept from running because nobody could look."""
        window = ChangeWindow(workspace, ref(ledger))
        if host is None or not can_scan(host):
            window.blind = "What it changed was not recorded: the workspace cannot be looked at from here."
            return window
        window.host = host
        try:
            window.snapshot = await host.snapshot()
            window.blind = window.snapshot.partial
        except (ToolError, OSError) as error:
            window.blind = f"What it changed was not recorded: {_said(error)}"
        self._open.add(window)
        return window

    async def kept(self, window: ChangeWindow) -> Sequence[bytes]:
        if window.host is None or window.snapshot is None:
            return ()
        return await window.host.dump_snapshot(window.snapshot)

    async def reopen(self, host: Host | None, workspace: str, ledger: Ledger, scan: str | None) -> ChangeWindow:
        """The window of a call that an earlier process left open."""
        window = ChangeWindow(workspace, ref(ledger), blind=_FORGOTTEN)
        kept = await ledger.blob(scan) if scan is not None else None
        if kept is not None and host is not None and can_scan(host):
            window.snapshot = await host.load_snapshot(kept, ledger.blob)
            if window.snapshot is not None:
                window.host, window.blind = host, ""
        self._open.add(window)
        return window

    def drop(self, window: ChangeWindow) -> None:
        self._open.discard(window)

    async def end(self, window: ChangeWindow) -> CommandChanges:
        self._open.discard(window)
        if window.host is None or window.snapshot is None or window.blind:
            return CommandChanges([], [], [], [], window.blind)
        try:
            found = await window.host.changes(window.snapshot)
        except (ToolError, OSError) as error:
            return CommandChanges([], [], [], [], f"What it changed was not recorded: {_said(error)}")
        for other in self._open:
            # Two commands of one task: what the one was seen to do, the other did not do once more.
            if other.ledger() is window.ledger() and other.snapshot is not None:
                for each in found:
                    if not each.unkept:
                        other.snapshot.record_write(each.path, each.after.content if each.after else None)
        # Many files take a while to be compared, and nothing else should wait for it.
        return _trace(found) if len(found) <= _FEW else await asyncio.to_thread(_trace, found)


_FORGOTTEN = (
    "What it changed before the process died is not known: the workspace has too much in it to be remembered for that "
    "case, or could not be looked at."
)


def can_scan(host: Host) -> TypeGuard[ScanningHost]:
    return hasattr(host, "snapshot")


def _trace(found: Sequence[ScannedFile]) -> CommandChanges:
    trace = CommandChanges([], [], [], [])
    room = _COMPARED_IN_ALL
    for each in found:
        change = _change(each)
        if each.unkept:
            trace.unkept.append(IrreversibleChange(path=each.path, change=change, why=each.unkept))
            continue
        before, after = _name(each.before), _name(each.after)
        trace.files.append(
            FileState(
                path=each.path,
                before=before,
                after=after,
                mode=each.after.mode if each.after else None,
                was=each.before.mode if each.before else None,
            )
        )
        if each.before is not None:
            trace.contents.append(NewBlob(each.before.content))
        if each.after is not None and after != before:
            trace.contents.append(NewBlob(each.after.content, before))
        size = len(each.before.content if each.before else b"") + len(each.after.content if each.after else b"")
        room -= size
        added, removed = _counted(each, compared=size <= _COMPARED and room > 0)
        trace.told.append({"path": each.path, "change": change, "added": added, "removed": removed})
    return trace


def _change(file: ScannedFile) -> Literal["created", "modified", "deleted"]:
    return "created" if file.before is None else "deleted" if file.after is None else "modified"


def _name(found: FileContent | None) -> str | None:
    return None if found is None else digest(found.content)


def _counted(file: ScannedFile, *, compared: bool) -> tuple[int, int]:
    """Lines that came and went; a link has none."""
    if any(found is not None and stat.S_ISLNK(found.mode) for found in (file.before, file.after)):
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


def _said(error: Exception) -> str:
    return error.message if isinstance(error, ToolError) else str(error)
