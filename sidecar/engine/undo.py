"""Undoing changes of files: plan and record it with the contents, do it, record that it is done.

If the process dies in between, the next start finishes it. Your own edits since are merged, or the file is left alone
and reported; so is a file whose earlier content was not kept, or that can't be written. What was left alone stays part
of the task's changes, so a later rewind tries it again.
"""

import secrets
import stat
from asyncio import gather, to_thread
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Literal

from pydantic import field_validator

from sidecar.engine.errors import OperationRefused
from sidecar.engine.files import FileHistory, Hop, Side
from sidecar.engine.merge import Conflict, File, merge_file
from sidecar.engine.places import is_remote, place_of
from sidecar.engine.state import RecordKind, RewoundTo, UserMessage
from sidecar.engine.steps import undo_key
from sidecar.journal.errors import DuplicateRecord, WrongStatus
from sidecar.journal.port import Entry, Journal, Record
from sidecar.wire.base import Wire, optional
from sidecar.wire.events import ChangedFile, DiffEvent, Event, MessageEvent, StatusEvent, WorktreeEvent
from sidecar.wire.tasks import LeftFile, Status, Task
from sidecar.wire.text import listed
from tools.errors import ChangedElsewhere, ToolError
from tools.executor.file_changes import locate
from tools.host import FileChange, Host, can_scan
from tools.ledger import FileState, IntentRecord, Outcome, digest
from tools.paths import parents
from tools.text_files import read_content

#: Statuses in which no run works on a task.
STILL = frozenset({Status.COMPLETED, Status.FAILED, Status.CANCELLED, Status.ESCALATED, Status.INTERRUPTED})
DROPPED = "Left as it is: its earlier content was dropped to keep the journal within its size limit."
_EDITED = "Left as it is: you or another task changed the same place since."
_LARGEST = 64 * 1024 * 1024
_TOO_LARGE = f"Left as it is: it is larger than {_LARGEST >> 20} MiB now."
#: Groups of files that are written at the same time, and the files and bytes of one group.
_AT_ONCE = 4
_MAX_GROUP = 32
_MAX_GROUP_BYTES = 16 * 1024 * 1024
#: Contents that are kept in memory between planning a change and making it.
_RECENT_BYTES = 32 * 1024 * 1024
#: Names in the reason of a rewind.
_NAMED = 20
_REPEAT = "Remove the cause, then rewind again."


class Dropped(Exception):
    """A content that is needed was not kept."""


class Undo(Wire):
    """The planned changes of files, durable before the first of them is made."""

    rewind_to: int | None
    files: list[FileState]
    #: If the conversation goes on: the same changes for the task's own history, and the tool that made them.
    history: list[FileState] = []
    tool: str = "reject_hunks"
    conflicts: list[LeftFile] = []
    not_restored: list[LeftFile] = []
    #: Folders that the task made for files: those that are empty in the end go as well.
    folders: list[str] = []
    message: str = ""
    #: Begins the message that names the restored files.
    announcement: str = ""
    #: Where the files are, if not where the task works now.
    workspace: str | None = optional()
    #: It merges a worktree: all of the files change, or none.
    merged: WorktreeEvent | None = optional()
    #: The node of a fleet that makes the changes; its next start finishes them.
    node: str | None = optional()
    #: Whose token asked for it.
    by: str | None = optional()

    @field_validator("conflicts", mode="before")
    @classmethod
    def _without_change(cls, found: Any) -> Any:
        """Earlier versions stored a change beside each path."""
        if isinstance(found, list):
            for each in found:
                if isinstance(each, dict):
                    each.pop("change", None)
                    each.setdefault("why", _EDITED)
        return found

    def leave(self, path: str, error: Exception) -> None:
        if isinstance(error, Conflict):
            self.conflicts.append(LeftFile(path=path, why=_EDITED))
        elif isinstance(error, ChangedElsewhere):
            self.conflicts.append(LeftFile(path=path, why=f"Left as it is: {error}"))
        elif isinstance(error, Dropped):
            self.not_restored.append(LeftFile(path=path, why=DROPPED))
        else:
            self.not_restored.append(LeftFile(path=path, why=f"{error} {_REPEAT}"))

    def left(self) -> set[str]:
        return {each.path for each in (*self.conflicts, *self.not_restored)}


class Undoing:
    """`node` is this process in a fleet, and the next one on its data directory; `None` outside of a fleet."""

    def __init__(
        self,
        journal: Journal,
        host: Callable[[str], Host],
        heard: Callable[[str, Record], None],
        node: str | None = None,
    ) -> None:
        self._journal = journal
        self._node = node
        self._host = host
        self._heard = heard
        self._recent: dict[str, bytes] = {}
        self._recent_bytes = 0

    # -- contents ----------------------------------------------------------------------------------------------------

    async def file(self, side: Side | None) -> File | None:
        if side is None:
            return None
        return File(await self._content(side.content), side.mode)

    async def _content(self, name: str) -> bytes:
        found = self._recent.get(name)
        if found is None:
            found = await self._journal.blob(name)
        if found is None:
            raise Dropped
        return found

    def _remember(self, name: str, content: bytes) -> None:
        if name not in self._recent and self._recent_bytes + len(content) <= _RECENT_BYTES:
            self._recent[name] = content
            self._recent_bytes += len(content)

    def _forget(self) -> None:
        self._recent.clear()
        self._recent_bytes = 0

    async def put_blob(self, task: Task, data: bytes, like: str | None = None) -> str:
        """Not capped by the task's limit: what is undone must be there to be restored."""
        return await self._journal.put_blob(task.id, data, like, capped=False)

    async def follow(self, found: File | None, hops: Sequence[Hop]) -> File | None:
        """The file after these hops; contents are loaded only where they are needed."""
        for hop in hops:
            source = File(found.content, hop.source.mode) if found and hop.source and _is(found, hop.source) else None
            if source is None:
                source = await self.file(hop.source)
            found = merge_file(found, source, await self.file(hop.to))
        return found

    # -- planning ----------------------------------------------------------------------------------------------------

    async def plan_file(
        self,
        task: Task,
        undo: Undo,
        path: str,
        hops: Sequence[Hop],
        *,
        preview: bool = False,
        hidden: bool = False,
    ) -> bool:
        """Plan these hops for a file, with your own edits since merged in; false if it is left alone.

        A `hidden` file isn't there: a link or file that the undo removes is in the place of one of its directories.
        """
        if not hops:
            return True
        try:
            found = None if hidden else await self._found(self._host(place_of(task)), path, hops)
            result = await self.follow(found, hops)
        except (Conflict, Dropped, ToolError) as error:
            undo.leave(path, error)
            return False
        if result != found:
            before = None if found is None else digest(found.content)
            after = None if result is None else digest(result.content)
            if not preview:
                # Not awaited: they are written before the plan, so they are durable when it is.
                for file, name, like in ((found, before, None), (result, after, before)):
                    if file is not None and name is not None:
                        self._journal.put_blob(task.id, file.content, like, capped=False)
                        self._remember(name, file.content)
            undo.files.append(
                FileState(
                    path=path,
                    before=before,
                    after=after,
                    mode=None if result is None else result.mode,
                    was=None if found is None else found.mode,
                )
            )
        return True

    async def plan(self, task: Task, undo: Undo, *, still: bool) -> str:
        key = secrets.token_hex(8)
        # An undo whose end could not be recorded is over: this one begins with the files as they are now.
        over = [Record(RecordKind.UNDONE, old, "{}") for old, _ in _unfinished(await self._journal.records(task.id))]
        planned = undo.model_copy(update={"node": self._node})
        records = [*over, Record(RecordKind.UNDO, key, planned.to_json())]
        try:
            await self._journal.append(task.id, records=records, sync=True, when=STILL if still else None)
        except WrongStatus as error:
            raise OperationRefused(409, "task_active", f"The task is {error.status} again. Cancel it first.") from error
        return key

    async def found(self, workspace: str, path: str) -> File | None:
        """The file as it is now; a link as a link."""
        host = self._host(workspace)
        found = await host.look(path, _LARGEST) if can_scan(host) else None
        if found is not None and len(found.content) > _LARGEST:
            raise ToolError(_TOO_LARGE)
        return None if found is None else File(found.content, found.mode)

    async def _found(self, host: Host, path: str, hops: Sequence[Hop]) -> File | None:
        linked = any(side is not None and stat.S_ISLNK(side.mode or 0) for hop in hops for side in hop)
        if can_scan(host):
            found = await host.look(path, _LARGEST)
            if found is None or linked or not stat.S_ISLNK(found.mode):
                if found is not None and len(found.content) > _LARGEST:
                    raise ToolError(_TOO_LARGE)
                return None if found is None else File(found.content, found.mode)
        # An edit through a link changed the file, not the link.
        data = await read_content(host, path)
        return None if data is None else File(data, None)

    # -- doing -------------------------------------------------------------------------------------------------------

    async def carry_out(self, task: Task, key: str, undo: Undo) -> None:
        """Do what is planned. Files that can't be restored are added to those that `undo` leaves alone."""
        await self.bring(task, undo)
        left = undo.left()
        restored = [_changed(file) for file in undo.files if file.path not in left]
        events: list[Event] = [DiffEvent(files=restored, by=undo.by)] if restored else []
        records = [Record(RecordKind.UNDONE, key, "{}")]
        if undo.merged is not None:
            events = [undo.merged]
            if left:
                events = []
                await self._bring_all(task, undo, [back(file) for file in undo.files if file.path not in left])
        stays: list[Record] = []
        if undo.rewind_to is not None:
            reason = f"rewound to event {undo.rewind_to}{_left_in_words(left)}"
            events.append(StatusEvent(status=Status.CANCELLED, reason=reason, rewound_to=undo.rewind_to, by=undo.by))
            records.append(Record(RecordKind.REWIND, key, RewoundTo(to=undo.rewind_to).to_json()))
            stays = await self._what_stays(task, key, undo.rewind_to, left)
        history = [file for file in undo.history if file.path not in left]
        if history:
            records += _as_history(key, undo.tool, history)
        names = ", ".join(dict.fromkeys(file.path for file in history))
        text = f"{undo.announcement}{names}" if undo.announcement and names else undo.message
        said = UserMessage(id=f"m_{key}", text=text, is_news=True)
        if text:
            events.append(MessageEvent(message_id=said.id, role="user", agent="", text=text, by=undo.by))
            records.append(Record(RecordKind.MESSAGE, said.id, said.to_json()))
        with suppress(DuplicateRecord):  # it was finished meanwhile
            if stays:
                # They belong to the event after the rewind, which doesn't undo them.
                await self._journal.append(task.id, records=stays, earlier=[Entry.now(events, records)])
            else:
                await self._journal.append(task.id, events, records)
            if text:
                self._heard(task.id, Record(RecordKind.MESSAGE, said.id, said.to_json()))

    async def bring(self, task: Task, undo: Undo) -> None:
        """Change the planned files; one that is already as planned stays as it is."""
        # Deletions first: a directory may be in the place of a file, or the other way round.
        await self._bring_all(task, undo, [file for file in undo.files if file.after is None])
        stays = undo.left()
        rest = []
        for file in undo.files:
            if file.after is not None and not stays.isdisjoint(parents(file.path)):
                undo.leave(file.path, ToolError("Something else is in the place of its directory."))
            elif file.after is not None:
                rest.append(file)
        await self._bring_all(task, undo, rest)
        await self._remove_folders(task, undo)
        self._forget()

    async def _remove_folders(self, task: Task, undo: Undo) -> None:
        host = self._host(undo.workspace or place_of(task))
        if undo.folders and can_scan(host):
            await host.remove_empty_folders(sorted(undo.folders, key=lambda folder: -folder.count("/")))

    async def _what_stays(self, task: Task, key: str, seq: int, left: set[str]) -> list[Record]:
        """The changes in files that the rewind leaves alone, as the first of what the task does from there."""
        history = await to_thread(FileHistory, await self._journal.records(task.id), place_of(task))
        files, irreversible = history.left(sorted(left), seq), history.unkept(seq)
        if not files and not irreversible:
            return []
        outcome = Outcome(
            status="success",
            content="",
            summary="not undone by a rewind",
            duration_ms=0,
            files=files,
            irreversible=irreversible,
        )
        return [Record(RecordKind.OUTCOME, undo_key(key, left=True), outcome.to_json())]

    async def finish(self) -> None:
        """Finish what an earlier process was undoing when it died."""
        for task_id in await self._journal.tasks_with_undo():
            for key, undo in _unfinished(await self._journal.records(task_id)):
                task = await self._journal.task(task_id)
                # The clone went with the process, so nothing of it was done. Another node's undo may be under way.
                if not is_remote(task) and undo.node == self._node:
                    await self.carry_out(task, key, undo)

    async def _bring_all(self, task: Task, undo: Undo, files: Sequence[FileState]) -> None:
        """In groups that wait for the disk together, and a few of those at once."""
        host, waiting = self._host(undo.workspace or place_of(task)), iter(files)

        async def bring() -> None:
            while group := await self._next_group(host, undo, waiting):
                await self._bring(host, undo, group)

        await gather(*(bring() for _ in range(min(_AT_ONCE, len(files)))))

    async def _next_group(
        self, host: Host, undo: Undo, waiting: Iterator[FileState]
    ) -> list[tuple[FileState, FileChange]]:
        group: list[tuple[FileState, FileChange]] = []
        size = 0
        while len(group) < _MAX_GROUP and size < _MAX_GROUP_BYTES and (file := next(waiting, None)) is not None:
            try:
                before = None if file.before is None else await self._content(file.before)
                after = None if file.after is None else await self._content(file.after)
                change = await locate(host, FileChange(file.path, before, after, file.mode, file.was))
            except (Dropped, ToolError) as error:
                undo.leave(file.path, error)
                continue
            group.append((file, change))
            size += len(before or b"") + len(after or b"")
        return group

    async def _bring(self, host: Host, undo: Undo, group: Sequence[tuple[FileState, FileChange]]) -> None:
        errors = await _apply_all(host, [change for _, change in group])
        for (file, _), error in zip(group, errors, strict=True):
            if error is not None and not await self._is_done(host, file):
                undo.leave(file.path, error)

    async def _is_done(self, host: Host, file: FileState) -> bool:
        """Whether the file is as it should be already: an earlier process may have brought it there."""
        hop = Hop(_side(file.before, file.was), _side(file.after, file.mode))
        try:
            found = await self._found(host, file.path, [hop])
        except ToolError:
            return False
        if found is None or hop.to is None:
            return found is None and hop.to is None
        return digest(found.content) == hop.to.content and hop.to.mode in (None, found.mode)


async def _apply_all(host: Host, changes: Sequence[FileChange]) -> Sequence[ToolError | None]:
    if can_scan(host):
        return await host.apply_all(changes)
    errors: list[ToolError | None] = []
    for change in changes:
        try:
            await host.apply(change)
            errors.append(None)
        except ToolError as error:
            errors.append(error)
    return errors


def back(file: FileState) -> FileState:
    return file.model_copy(update={"before": file.after, "after": file.before, "mode": file.was, "was": file.mode})


def _is(found: File, side: Side) -> bool:
    return digest(found.content) == side.content and found.linked == stat.S_ISLNK(side.mode or 0)


def _side(name: str | None, mode: int | None) -> Side | None:
    return None if name is None else Side(name, mode)


def change_of(file: FileState) -> Literal["created", "deleted", "modified"]:
    return "created" if file.before is None else "deleted" if file.after is None else "modified"


def _changed(file: FileState) -> ChangedFile:
    return ChangedFile(path=file.path, change=change_of(file), added=0, removed=0)


def _unfinished(records: Sequence[Record]) -> list[tuple[str, Undo]]:
    done = {record.key for record in records if record.kind == RecordKind.UNDONE}
    return [
        (record.key, Undo.model_validate_json(record.body))
        for record in records
        if record.kind == RecordKind.UNDO and record.key not in done
    ]


def _left_in_words(left: set[str]) -> str:
    return f"; left as they are: {listed(sorted(left), _NAMED)}" if left else ""


def _as_history(key: str, tool: str, files: Sequence[FileState]) -> list[Record]:
    """The undo as one more change in the task's own history of files."""
    call_id = undo_key(key)
    intent = IntentRecord(tool=tool, args={}, backend="local")
    outcome = Outcome(status="success", content="", summary="undone by you", duration_ms=0, files=list(files))
    return [
        Record(RecordKind.INTENT, call_id, intent.to_json()),
        Record(RecordKind.OUTCOME, call_id, outcome.to_json()),
    ]
