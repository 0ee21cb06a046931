"""A task's changes, and undoing them: by hunk, or to a checkpoint, with or without the conversation."""

from collections.abc import Callable, Sequence

from sidecar.engine.errors import OperationRefused
from sidecar.engine.files import FileHistory, Hop, Side
from sidecar.engine.hunks import file_diff, hunk_text, unkept, without
from sidecar.engine.merge import Conflict, File
from sidecar.engine.state import RecordKind, TaskState
from sidecar.engine.timeline import branched
from sidecar.engine.undo import DROPPED, STILL, Dropped, Undo, Undoing, change_of
from sidecar.journal.port import Journal, Record
from sidecar.wire.tasks import DiffAnswer, FileDiff, HunkRequest, RewindAnswer, RewoundFile, Task
from tools.host import Host
from tools.ledger import FileState

_REJECTED = "I rejected these changes and undid them; don't make them again:\n\n"


class Review:
    def __init__(self, journal: Journal, host: Callable[[str], Host], heard: Callable[[str, Record], None]) -> None:
        self._journal = journal
        self._undoing = Undoing(journal, host, heard)

    async def diff(self, task_id: str) -> DiffAnswer:
        task, records = await self._journal.task(task_id), await self._journal.records(task_id)
        history, memory = FileHistory(records, task.workspace), TaskState.of(records)
        return DiffAnswer(files=await self._diffs(history, memory))

    async def decide(self, task_id: str, decision: HunkRequest) -> DiffAnswer:
        task, records = await self._journal.task(task_id), await self._journal.records(task_id)
        history, memory = FileHistory(records, task.workspace), TaskState.of(records)
        diffs = await self._diffs(history, memory)
        known = {hunk.id for diff in diffs for hunk in diff.hunks}
        unknown = sorted({*decision.accept, *decision.reject} - known)
        if unknown:
            message = f"The task's diff has no hunk {', '.join(unknown)}; read it again: it may have changed."
            raise OperationRefused(422, "unknown_hunk", message)
        accepted = [
            Record(RecordKind.HUNK, branched(hunk, memory.branch), "accepted")
            for hunk in dict.fromkeys(decision.accept)
            if hunk not in memory.hunks
        ]
        if accepted:
            await self._journal.append(task_id, records=accepted)
        undo = await self._rejection(task, history, diffs, set(decision.reject))
        if undo is not None:
            await self._undoing.carry_out(task, await self._undoing.plan(task, undo, still=False), undo)
        return DiffAnswer(files=(await self.diff(task_id)).files, conflicts=undo.conflicts if undo else [])

    async def rewind(
        self, task_id: str, seq: int, *, preview: bool = False, conversation: bool = True, why: str = ""
    ) -> RewindAnswer:
        """`why` begins the message to the agent if the conversation goes on."""
        task, records = await self._journal.task(task_id), await self._journal.records(task_id)
        if seq > task.last_seq:
            raise OperationRefused(
                422, "unknown_event", f"The task has no event {seq}; its last one is {task.last_seq}."
            )
        if task.status not in STILL and not preview:
            raise OperationRefused(409, "task_active", f"The task is {task.status}. Cancel it first, then rewind it.")
        history = FileHistory(records, task.workspace)
        undo = await (self._rewinding if conversation else self._files_alone)(task, history, seq, preview)
        undo.conflicts.extend(
            RewoundFile(path=each.path, change="conflict", why=each.why) for each in history.unkept(seq)
        )
        if not preview and (conversation or undo.files or undo.history):
            undo = undo.model_copy(update={"message": f"{why}{undo.message}" if undo.message else ""})
            await self._undoing.carry_out(task, await self._undoing.plan(task, undo, still=True), undo)
        left = {conflict.path for conflict in undo.conflicts}
        done = [RewoundFile(path=file.path, change=change_of(file)) for file in undo.files if file.path not in left]
        return RewindAnswer(seq=seq, files=[*done, *undo.conflicts])

    async def finish(self) -> None:
        """Finish what an earlier process was undoing when it died."""
        await self._undoing.finish()

    # -- what was changed --------------------------------------------------------------------------------------------

    async def _diffs(self, history: FileHistory, memory: TaskState) -> list[FileDiff]:
        found = [diff for path in history.paths() if (diff := await self._file_diff(path, history, memory))]
        shown = {diff.path for diff in found}
        return [
            *found,
            *(unkept(each.path, each.change, each.why) for each in history.unkept() if each.path not in shown),
        ]

    async def _file_diff(self, path: str, history: FileHistory, memory: TaskState) -> FileDiff | None:
        hops = history.hops(path, 0)
        if not hops:
            return None
        try:
            before, after = await self._both(path, history, hops)
        except Dropped:
            change = "created" if hops[-1].to is None else "deleted" if hops[0].source is None else "modified"
            return unkept(path, change, DROPPED)  # type: ignore[arg-type]
        if before == after:
            return None
        modes = (before.mode if before else None, after.mode if after else None)
        return file_diff(path, _bytes(before), _bytes(after), memory.hunks, modes)

    async def _both(self, path: str, history: FileHistory, hops: Sequence[Hop]) -> tuple[File | None, File | None]:
        """The file without the task's changes but with yours, and the file as the task left it."""
        after = await self._undoing.file(history.state(path))
        try:
            return await self._undoing.follow(after, hops), after
        except Conflict:
            return await self._undoing.file(hops[-1].to), after

    # -- planning ----------------------------------------------------------------------------------------------------

    async def _rejection(
        self, task: Task, history: FileHistory, diffs: Sequence[FileDiff], rejected: set[str]
    ) -> Undo | None:
        undo = Undo(rewind_to=None, files=[])
        said = []
        for diff in diffs:
            hunks = [hunk for hunk in diff.hunks if hunk.id in rejected]
            if not hunks:
                continue
            path = diff.path
            before, after = await self._both(path, history, history.hops(path, 0))
            data = without(path, _bytes(before), _bytes(after), rejected)
            mode = after.mode if after else before.mode if before else None
            wanted = None if data is None else Side(await self._undoing.put_blob(task, data), mode)
            state = history.state(path)
            if await self._undoing.plan_file(task, undo, path, [Hop(state, wanted)]):
                undo.history.append(_state(path, state, wanted))
                lines = "".join(hunk_text(hunk) for hunk in hunks)
                said.append(f"{path}\n{lines}")
        if not undo.files and not undo.conflicts:
            return None
        return undo.model_copy(update={"message": _REJECTED + "\n\n".join(said) if said else ""})

    async def _rewinding(self, task: Task, history: FileHistory, seq: int, preview: bool) -> Undo:
        undo = Undo(rewind_to=seq, files=[])
        for path in history.paths():
            await self._undoing.plan_file(task, undo, path, history.hops(path, seq), preview=preview)
        return undo

    async def _files_alone(self, task: Task, history: FileHistory, seq: int, preview: bool) -> Undo:
        """The conversation stays, so a message tells the agent which files went back."""
        undo = Undo(rewind_to=None, files=[], tool="rewind_files")
        for path in history.paths():
            hops = history.hops(path, seq)
            if hops and await self._undoing.plan_file(task, undo, path, hops, preview=preview):
                undo.history.extend(_state(path, hop.source, hop.to) for hop in hops)
        names = ", ".join(dict.fromkeys(file.path for file in undo.history))
        message = f"I restored files to event {seq}; read them again before you go on: {names}"
        return undo.model_copy(update={"message": message if names else ""})


def _bytes(file: File | None) -> bytes | None:
    return None if file is None else file.content


def _state(path: str, before: Side | None, after: Side | None) -> FileState:
    return FileState(
        path=path,
        before=before.content if before else None,
        after=after.content if after else None,
        mode=after.mode if after else None,
        was=before.mode if before else None,
    )
