"""A task's changes, and undoing them: by hunk, or to a checkpoint, with or without the conversation."""

from asyncio import Lock, to_thread
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import NamedTuple, ParamSpec, Protocol, TypeVar
from weakref import WeakValueDictionary

from sidecar.engine.errors import OperationRefused
from sidecar.engine.files import FileHistory, Hop, Side, file_state
from sidecar.engine.hunks import file_diff, hunk_text, renamed, unkept, without
from sidecar.engine.merge import Conflict, File
from sidecar.engine.places import is_remote, place_of, refuse_remote
from sidecar.engine.renames import find_renames
from sidecar.engine.state import RecordKind, TaskState
from sidecar.engine.timeline import branched
from sidecar.engine.undo import DROPPED, STILL, Dropped, Undo, Undoing, back, change_of
from sidecar.journal.port import Journal, Record
from sidecar.telemetry.logs import current_actor
from sidecar.wire.events import Event
from sidecar.wire.tasks import DiffAnswer, FileDiff, HunkRequest, LeftFile, RewindAnswer, RewoundFile, Task
from tools.host import Host
from tools.ledger import FileState
from tools.paths import parents

P = ParamSpec("P")
T = TypeVar("T")
#: Contents up to this size are compared at once; larger ones in a thread.
_FEW_BYTES = 16 * 1024
_REJECTED = "I rejected these changes and undid them; don't make them again:\n\n"


class ForkedFiles(NamedTuple):
    """What a forked task on a remote begins with, and the files whose content is not in the journal."""

    records: Sequence[Record] = ()
    events: Sequence[Event] = ()
    left_out: Sequence[str] = ()


class RemoteFiles(Protocol):
    """The files of tasks on Git remotes, while no run works on them."""

    def opened(self, task: Task, records: Sequence[Record]) -> AbstractAsyncContextManager[Task]:
        """The task with a clone that has its files, for a change that no run makes."""

    async def publish(self, opened: Task, subject: str) -> None:
        """Push what changed in an opened clone as one more commit, if the task has pushed any."""

    async def fork(self, task: Task, records: Sequence[Record], new_id: str, seq: int) -> "ForkedFiles":
        """Push the files as they were at that event to the branch of a new task."""


class Review:
    def __init__(
        self,
        journal: Journal,
        host: Callable[[str], Host],
        heard: Callable[[str, Record], None],
        remotes: "RemoteFiles | None" = None,
        node: str | None = None,
    ) -> None:
        self._journal = journal
        self._remotes = remotes
        self._undoing = Undoing(journal, host, heard, node)
        #: One rewind of a task at a time.
        self._rewinding: WeakValueDictionary[str, Lock] = WeakValueDictionary()

    async def diff(self, task_id: str) -> DiffAnswer:
        task, records = await self._journal.task(task_id), await self._journal.records(task_id)
        history, memory = await to_thread(lambda: (FileHistory(records, place_of(task)), TaskState.of(records)))
        return DiffAnswer(files=await self._diffs(history, memory))

    async def decide(self, task_id: str, decision: HunkRequest) -> DiffAnswer:
        task, records = await self._journal.task(task_id), await self._journal.records(task_id)
        history, memory = await to_thread(lambda: (FileHistory(records, place_of(task)), TaskState.of(records)))
        diffs = await self._diffs(history, memory)
        known = {hunk.id for diff in diffs for hunk in diff.hunks}
        unknown = sorted({*decision.accept, *decision.reject} - known)
        if unknown:
            message = f"The task's diff has no hunk {', '.join(unknown)}; read it again: it may have changed."
            raise OperationRefused(422, "unknown_hunk", message)
        both = sorted({*decision.accept} & {*decision.reject})
        if both:
            message = f"Either accept or reject {', '.join(both)}, not both."
            raise OperationRefused(422, "invalid_request", message)
        accepted = [
            Record(RecordKind.HUNK, branched(hunk, memory.branch), "accepted")
            for hunk in dict.fromkeys(decision.accept)
            if hunk not in memory.hunks
        ]
        if accepted:
            await self._journal.append(task_id, records=accepted)
        undo = None
        if decision.reject:
            async with self._located(task, records) as located:
                undo = await self._rejection(located, history, diffs, set(decision.reject))
                if undo is not None:
                    planned = await self._undoing.plan(located, undo, still=is_remote(task))
                    await self._undoing.carry_out(located, planned, undo)
                    await self._publish(located, "Reject changes")
        left = [*undo.conflicts, *undo.not_restored] if undo else []
        return DiffAnswer(files=(await self.diff(task_id)).files, conflicts=left)

    async def rewind(
        self,
        task_id: str,
        seq: int | None,
        *,
        preview: bool = False,
        conversation: bool = True,
        why: str = "",
        uncertain: Collection[str] = (),
        own: bool = False,
    ) -> RewindAnswer:
        """Without `seq`, to just before the last change. `why` begins the message if the conversation stays.

        `uncertain` files are restored although it isn't known who changed them. `own`: the task's own run asks for it,
        so it may be active.
        """
        async with self._rewinding.setdefault(task_id, Lock()):
            return await self._rewind(task_id, seq, preview, conversation, why, uncertain, own)

    async def _rewind(
        self,
        task_id: str,
        seq: int | None,
        preview: bool,
        conversation: bool,
        why: str,
        uncertain: Collection[str],
        own: bool,
    ) -> RewindAnswer:
        task, records = await self._journal.task(task_id), await self._journal.records(task_id)
        history = await to_thread(FileHistory, records, place_of(task))
        if seq is None:
            seq = history.before_last_change()
        if seq is None:
            raise OperationRefused(409, "nothing_to_undo", "The task has no change of files left to undo.")
        if seq > task.last_seq:
            raise OperationRefused(
                422, "unknown_event", f"The task has no event {seq}; its last one is {task.last_seq}."
            )
        if task.status not in STILL and not preview and not own:
            raise OperationRefused(409, "task_active", f"The task is {task.status}. Cancel it first, then rewind it.")
        at = await self.with_changes(task_id, seq)
        async with self._located(task, records) as located:
            undo = await self._planned(
                located, history, at, conversation=conversation, preview=preview, uncertain=uncertain
            )
            if not preview and (conversation or undo.files or undo.history):
                announcement = f"{why}{undo.announcement}" if undo.announcement else ""
                undo = undo.model_copy(update={"announcement": announcement})
                await self._undoing.carry_out(located, await self._undoing.plan(located, undo, still=not own), undo)
                await self._publish(located, f"Rewind to event {seq}")
        return await to_thread(_answer, seq, undo)

    async def with_changes(self, task_id: str, seq: int) -> int:
        """The event itself, or if it says how a call ended, the one after it, which says what the call changed.

        They are written together, and the changes belong to the second one.
        """
        types = [event.type for event in (await self._journal.events(task_id, seq - 1, 2)).events] if seq else []
        return seq + 1 if types == ["tool", "diff"] else seq

    @asynccontextmanager
    async def _located(self, task: Task, records: Sequence[Record]) -> AsyncIterator[Task]:
        """The task with its files here: one on a remote has none, so a clone is made."""
        if not is_remote(task):
            yield task
        elif self._remotes is None:
            refuse_remote(task)
        elif task.status not in STILL:
            message = f"The task is {task.status} in a clone of its worker. Cancel it first, then change its files."
            raise OperationRefused(409, "task_active", message)
        else:
            async with self._remotes.opened(task, records) as located:
                yield located

    async def _publish(self, located: Task, subject: str) -> None:
        if self._remotes is not None and is_remote(located):
            await self._remotes.publish(located, subject)

    async def found(self, workspace: str, path: str) -> File | None:
        return await self._undoing.found(workspace, path)

    async def carry_out(self, task: Task, undo: Undo) -> list[LeftFile]:
        """Do a planned change of files; returns those that could not be changed."""
        async with self._rewinding.setdefault(task.id, Lock()):
            await self._undoing.carry_out(task, await self._undoing.plan(task, undo, still=True), undo)
        return [*undo.conflicts, *undo.not_restored]

    async def apply(self, task: Task, files: Sequence[FileState], workspace: str) -> list[LeftFile]:
        """Change all of these files, or none; returns those in the way. May be repeated after a crash."""
        undo = Undo(rewind_to=None, files=list(files), workspace=workspace)
        await self._undoing.bring(task, undo)
        if left := undo.left():
            made = Undo(rewind_to=None, files=[back(each) for each in files if each.path not in left])
            await self._undoing.bring(task, made.model_copy(update={"workspace": workspace}))
        return [*undo.conflicts, *undo.not_restored]

    async def finish(self) -> None:
        """Finish what an earlier process was undoing when it died."""
        await self._undoing.finish()

    # -- what was changed --------------------------------------------------------------------------------------------

    async def _diffs(self, history: FileHistory, memory: TaskState) -> list[FileDiff]:
        found: dict[str, FileDiff] = {}
        deleted: dict[str, File] = {}
        created: dict[str, File] = {}
        for path in history.paths():
            hops = history.hops(path, 0)
            if not hops:
                continue
            try:
                before, after = await self._both(path, history, hops)
            except Dropped:
                change = "created" if hops[-1].to is None else "deleted" if hops[0].source is None else "modified"
                found[path] = unkept(path, change, DROPPED)  # type: ignore[arg-type]
                continue
            if before != after:
                found[path] = await self._file_diff(path, before, after, history, memory)
            if before is not None and after is None:
                deleted[path] = before
            elif before is None and after is not None:
                created[path] = after
        for path, source in (await to_thread(find_renames, deleted, created) if deleted and created else {}).items():
            found[path] = renamed(found[path], source, deleted[source], created[path])
            found[source] = found[source].model_copy(update={"diff": "", "note": f"Renamed to {path}."})
        return [
            *found.values(),
            *(unkept(each.path, each.change, each.why) for each in history.unkept() if each.path not in found),
        ]

    async def _file_diff(
        self, path: str, before: File | None, after: File | None, history: FileHistory, memory: TaskState
    ) -> FileDiff:
        diff = await _compared(before, after, file_diff, path, before, after, memory.hunks)
        doubt = history.doubt(path)
        return diff.model_copy(update={"note": " ".join(filter(None, (diff.note, doubt)))}) if doubt else diff

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
        undo = Undo(rewind_to=None, files=[], by=current_actor())
        said, made = [], history.folders(0)
        for diff in diffs:
            hunks = [hunk for hunk in diff.hunks if hunk.id in rejected]
            if not hunks:
                continue
            path = diff.path
            before, after = await self._both(path, history, history.hops(path, 0))
            data = await _compared(before, after, without, path, before, after, rejected)
            mode = after.mode if after else before.mode if before else None
            wanted = None if data is None else Side(await self._undoing.put_blob(task, data), mode)
            state = history.state(path)
            if await self._undoing.plan_file(task, undo, path, [Hop(state, wanted)]):
                undo.folders.extend(made.intersection(parents(path)))
                undo.history.append(file_state(path, state, wanted))
                lines = "".join(hunk_text(hunk) for hunk in hunks)
                said.append(f"{path}\n{lines}")
        if not undo.files and not undo.left():
            return None
        return undo.model_copy(update={"message": _REJECTED + "\n\n".join(said) if said else ""})

    async def _planned(
        self,
        task: Task,
        history: FileHistory,
        seq: int,
        *,
        conversation: bool,
        preview: bool,
        uncertain: Collection[str],
    ) -> Undo:
        """If the conversation stays, a message tells the agent which files went back."""
        undo = Undo(rewind_to=seq if conversation else None, files=[], tool="rewind_files", by=current_actor())
        if not conversation:
            news = f"I restored files to event {seq}; read them again before you go on: "
            undo = undo.model_copy(update={"announcement": news})
        undo.folders.extend(history.folders(seq))
        undo.not_restored.extend(LeftFile(path=each.path, why=each.why) for each in history.unkept(seq))
        unkept = undo.left()
        ways = {path: hops for path in history.paths() if path not in unkept and (hops := history.hops(path, seq))}
        above = {folder for path in ways for folder in parents(path)}
        gone: set[str] = set()
        # First what is in the place of a directory: the files of that directory aren't there.
        for path in sorted(ways, key=lambda path: path not in above):
            doubt = history.doubt(path, seq)
            if doubt and path not in uncertain:
                undo.conflicts.append(LeftFile(path=path, why=doubt, uncertain=True))
                continue
            hops, hidden = ways[path], not gone.isdisjoint(parents(path))
            if not await self._undoing.plan_file(task, undo, path, hops, preview=preview, hidden=hidden):
                continue
            if path in above:
                gone = {file.path for file in undo.files if file.after is None}
            if not conversation:
                undo.history.extend(file_state(path, hop.source, hop.to) for hop in hops)
        return undo


def _answer(seq: int, undo: Undo) -> RewindAnswer:
    left = undo.left()
    done = [RewoundFile(path=file.path, change=change_of(file)) for file in undo.files if file.path not in left]
    return RewindAnswer(seq=seq, files=done, conflicts=undo.conflicts, not_restored=undo.not_restored)


async def _compared(
    before: File | None, after: File | None, compare: Callable[P, T], *args: P.args, **more: P.kwargs
) -> T:
    """In a thread if it may take longer than the loop can wait."""
    if sum(len(file.content) for file in (before, after) if file is not None) <= _FEW_BYTES:
        return compare(*args, **more)
    return await to_thread(compare, *args, **more)
