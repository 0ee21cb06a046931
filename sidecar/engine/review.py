"""What a task changed, and taking it back: by hunk, or all of it since a checkpoint.

Whatever is taken back is planned and recorded first, with the bytes; then done; then recorded as done. A process that
dies in between finishes it at its next start. What the person has edited since is merged, or left alone and reported.
"""

import secrets
from collections.abc import Callable, Sequence
from typing import Literal

from sidecar.engine.errors import Refused
from sidecar.engine.files import FileHistory
from sidecar.engine.hunks import file_diff, hunk_text, without
from sidecar.engine.memory import Kind, Memory, SaidMessage
from sidecar.engine.merge import Conflict, merge
from sidecar.engine.timeline import RewoundTo, branched
from sidecar.journal.errors import WrongStatus
from sidecar.journal.port import Journal, Record
from sidecar.wire.base import Wire
from sidecar.wire.events import ChangedFile, DiffEvent, Event, MessageEvent, StatusEvent
from sidecar.wire.tasks import DiffAnswer, FileDiff, HunkRequest, RewindAnswer, RewoundFile, Status, Task
from tools.errors import ToolError
from tools.host import FileChange, Host
from tools.ledger import FileState, Intent, Outcome, digest
from tools.settle import content

_STILL = frozenset({Status.COMPLETED, Status.FAILED, Status.CANCELLED, Status.ESCALATED, Status.INTERRUPTED})


class Undo(Wire):
    """What is about to be done to files, on the disk of the journal before it is done to theirs."""

    rewind_to: int | None
    files: list[FileState]
    #: For a rejection: the same change as the task's own history sees it.
    history: list[FileState] = []
    conflicts: list[RewoundFile] = []
    message: str = ""


class Review:
    def __init__(self, journal: Journal, host: Callable[[str], Host], heard: Callable[[str, Record], None]) -> None:
        self._journal = journal
        self._host = host
        self._heard = heard

    async def diff(self, task_id: str) -> DiffAnswer:
        records = await self._journal.records(task_id)
        history, memory = FileHistory(records), Memory.of(records)
        return DiffAnswer(files=[await self._file_diff(path, history, memory) for path in history.changed()])

    async def decide(self, task_id: str, decision: HunkRequest) -> DiffAnswer:
        task, records = await self._journal.task(task_id), await self._journal.records(task_id)
        history, memory = FileHistory(records), Memory.of(records)
        diffs = [await self._file_diff(path, history, memory) for path in history.changed()]
        known = {hunk.id for diff in diffs for hunk in diff.hunks}
        unknown = sorted({*decision.accept, *decision.reject} - known)
        if unknown:
            message = f"The task's diff has no hunk {', '.join(unknown)}; read it again: it may have changed."
            raise Refused(422, "unknown_hunk", message)
        accepted = [
            Record(Kind.HUNK, branched(hunk, memory.branch), "accepted")
            for hunk in dict.fromkeys(decision.accept)
            if hunk not in memory.hunks
        ]
        if accepted:
            await self._journal.append(task_id, records=accepted)
        undo = await self._rejection(task, history, diffs, set(decision.reject))
        if undo is not None:
            await self._carry_out(task, await self._plan(task, undo), undo)
        return DiffAnswer(files=(await self.diff(task_id)).files, conflicts=undo.conflicts if undo else [])

    async def rewind(self, task_id: str, seq: int, *, preview: bool = False) -> RewindAnswer:
        task, records = await self._journal.task(task_id), await self._journal.records(task_id)
        if seq > task.last_seq:
            raise Refused(422, "unknown_event", f"The task has no event {seq}; its last one is {task.last_seq}.")
        if task.status not in _STILL and not preview:
            raise Refused(409, "task_active", f"The task is {task.status}. Cancel it first, then rewind it.")
        undo = await self._rewinding(task, FileHistory(records), seq)
        if not preview:
            await self._carry_out(task, await self._plan(task, undo), undo)
        changes = [_rewound(file) for file in undo.files]
        return RewindAnswer(seq=seq, files=[*changes, *undo.conflicts])

    async def finish(self) -> None:
        """What an earlier process was undoing when it died."""
        for task_id in await self._journal.undoing():
            records = await self._journal.records(task_id)
            done = {record.key for record in records if record.kind == Kind.UNDONE}
            for record in records:
                if record.kind == Kind.UNDO and record.key not in done:
                    task = await self._journal.task(task_id)
                    await self._carry_out(task, record.key, Undo.model_validate_json(record.body))

    # -- planning ----------------------------------------------------------------------------------------------------

    async def _file_diff(self, path: str, history: FileHistory, memory: Memory) -> FileDiff:
        before, after = await self._blob(history.base(path)), await self._blob(history.state(path))
        return file_diff(path, before, after, memory.hunks)

    async def _rejection(
        self, task: Task, history: FileHistory, diffs: Sequence[FileDiff], rejected: set[str]
    ) -> Undo | None:
        undo = Undo(rewind_to=None, files=[], history=[], conflicts=[])
        said = []
        for diff in diffs:
            hunks = [hunk for hunk in diff.hunks if hunk.id in rejected]
            if not hunks:
                continue
            path, mode = diff.path, history.mode(diff.path)
            before, after = await self._blob(history.base(path)), await self._blob(history.state(path))
            wanted = without(path, before, after, rejected)
            if await self._plan_file(task, undo, path, after, wanted, mode):
                undo.history.append(FileState(path=path, before=_name(after), after=_name(wanted), mode=mode))
                await self._keep(task, wanted)
                lines = "".join(hunk_text(hunk) for hunk in hunks)
                said.append(f"{path}\n{lines}")
        if not undo.files and not undo.conflicts:
            return None
        message = "I rejected these changes and took them back; do not make them again:\n\n" + "\n\n".join(said)
        return undo.model_copy(update={"message": message if said else ""})

    async def _rewinding(self, task: Task, history: FileHistory, seq: int) -> Undo:
        undo = Undo(rewind_to=seq, files=[], conflicts=[])
        for path in history.paths():
            now, then = history.state(path), history.state(path, seq)
            if now != then:
                wanted = await self._blob(then)
                await self._plan_file(task, undo, path, await self._blob(now), wanted, history.mode(path, seq))
        return undo

    async def _plan_file(
        self, task: Task, undo: Undo, path: str, left: bytes | None, wanted: bytes | None, mode: int | None
    ) -> bool:
        """Plans to bring a file from where the task left it to what is wanted, with what the person did to it since."""
        try:
            found = await content(self._host(task.workspace), path)
            result = wanted if found == left else _merged(left, found, wanted)
        except Conflict:
            why = "You edited the same place since; the file was left as it is."
            undo.conflicts.append(RewoundFile(path=path, change="conflict", why=why))
            return False
        except ToolError as error:
            undo.conflicts.append(RewoundFile(path=path, change="conflict", why=error.message))
            return False
        if result != found:
            await self._keep(task, found)
            await self._keep(task, result)
            undo.files.append(FileState(path=path, before=_name(found), after=_name(result), mode=mode))
        return True

    async def _plan(self, task: Task, undo: Undo) -> str:
        key = secrets.token_hex(8)
        when = _STILL if undo.rewind_to is not None else None
        try:
            await self._journal.append(task.id, records=[Record(Kind.UNDO, key, undo.to_json())], sync=True, when=when)
        except WrongStatus as error:
            raise Refused(409, "task_active", f"The task is {error.status} again. Cancel it first.") from error
        return key

    # -- doing -------------------------------------------------------------------------------------------------------

    async def _carry_out(self, task: Task, key: str, undo: Undo) -> None:
        host = self._host(task.workspace)
        for file in undo.files:
            change = FileChange(file.path, await self._blob(file.before), await self._blob(file.after), file.mode)
            try:
                if await content(host, file.path) != change.after:
                    await host.apply(change)
            except ToolError as error:
                undo.conflicts.append(RewoundFile(path=file.path, change="conflict", why=error.message))
        events: list[Event] = [DiffEvent(files=[_changed(file) for file in undo.files])] if undo.files else []
        records = [Record(Kind.UNDONE, key, "{}")]
        if undo.rewind_to is not None:
            reason = f"rewound to event {undo.rewind_to}"
            events.append(StatusEvent(status=Status.CANCELLED, reason=reason, rewound_to=undo.rewind_to))
            records.append(Record(Kind.REWIND, key, RewoundTo(to=undo.rewind_to).to_json()))
        if undo.history:
            records += _as_history(key, undo)
        said = SaidMessage(id=f"m_{key}", text=undo.message)
        if undo.message:
            events.append(MessageEvent(message_id=said.id, role="user", agent="", text=undo.message))
            records.append(Record(Kind.MESSAGE, said.id, said.to_json()))
        await self._journal.append(task.id, events, records)
        if undo.message:
            self._heard(task.id, Record(Kind.MESSAGE, said.id, said.to_json()))

    async def _blob(self, name: str | None) -> bytes | None:
        if name is None:
            return None
        found = await self._journal.blob(name)
        if found is None:
            message = (
                "The earlier content of a file was dropped to keep the journal within its size; it cannot be undone."
            )
            raise Refused(409, "content_dropped", message)
        return found

    async def _keep(self, task: Task, data: bytes | None) -> None:
        if data is not None:
            await self._journal.put_blob(task.id, data)


def _merged(left: bytes | None, found: bytes | None, wanted: bytes | None) -> bytes | None:
    if found == wanted:
        return wanted
    if left is None or found is None or wanted is None:
        raise Conflict
    return merge(left, found, wanted)


def _name(data: bytes | None) -> str | None:
    return None if data is None else digest(data)


def _rewound(file: FileState) -> RewoundFile:
    return RewoundFile(path=file.path, change=_change(file))


def _changed(file: FileState) -> ChangedFile:
    return ChangedFile(path=file.path, change=_change(file), added=0, removed=0)


def _change(file: FileState) -> Literal["created", "deleted", "modified"]:
    return "created" if file.before is None else "deleted" if file.after is None else "modified"


def _as_history(key: str, undo: Undo) -> list[Record]:
    """The rejection as one more change in the task's own history of its files."""
    call_id = f"review.{key}"
    intent = Intent(tool="reject_hunks", args={}, site="local", files=undo.history)
    outcome = Outcome(status="success", content="", summary="changes rejected by the person", duration_ms=0)
    return [Record(Kind.INTENT, call_id, intent.to_json()), Record(Kind.OUTCOME, call_id, outcome.to_json())]
