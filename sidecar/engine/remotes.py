"""Tasks that name a Git remote: a worker clones it, and the result goes back as a branch of that remote.

Only the journal travels. A run begins with the commit that the first one began with and the files as the journal has
them, in a new clone, whichever worker it is on. The result's commit is recorded before it is pushed, and the same
files give the same commit: a push that was cut short is repeated, and one that succeeded is found.
"""

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import PurePath

from sidecar.config.repositories import Repositories
from sidecar.engine.errors import OperationRefused, StepFailed
from sidecar.engine.files import FileHistory
from sidecar.engine.review import ForkedFiles
from sidecar.engine.run import TaskRun
from sidecar.engine.state import RecordKind, TaskState, UserMessage
from sidecar.engine.timeline import branched
from sidecar.journal.port import Journal, Record, timestamp
from sidecar.wire.base import Wire
from sidecar.wire.events import BranchEvent, MessageEvent
from sidecar.wire.tasks import Repository, Task, TaskResult
from tools.errors import ToolError
from tools.host import FileContent
from tools.skipped import is_cache
from tools.worktrees import ChangedPath, CloneStore

_BASE = "base"
#: Calls by which a crew changes its tree.
_MERGES = frozenset({"merge_part", "revert_part"})
_MAX_NAMED = 50
_MAX_SUBJECT = 72
#: Keeps the mode that the file has.
_SAME_MODE = 0
_LEFT_OUT = (
    "The task goes on in a new clone on another worker. These files are not in it, because they are ignored, "
    "installed or too large to be kept; make them again if you need them: "
)


class Base(Wire):
    """Where the task began."""

    branch: str
    commit: str


class Result(Wire):
    """What a round became: a commit, and its parent."""

    commit: str
    parent: str
    at: str


@dataclass(slots=True)
class Clone:
    """A run's clone, and what earlier runs recorded."""

    remote: str
    base: Base
    planned: dict[str, Result] = field(default_factory=dict)
    pushed: dict[str, Result] = field(default_factory=dict)


class RemoteWorkspaces:
    """`removed` is called with the directory of a clone that is gone."""

    def __init__(
        self,
        journal: Journal,
        clones: CloneStore,
        repositories: Repositories,
        removed: Callable[[str], Awaitable[None]],
    ) -> None:
        self._journal = journal
        self._clones = clones
        self._repositories = repositories
        self._removed = removed
        self._open: dict[str, Clone] = {}

    def check(self, repository: Repository) -> str:
        """The workspace of a task that names this remote; refuses one that you did not allow."""
        try:
            return self._clones.check(repository.remote)
        except ToolError as error:
            code = error.code if error.code == "remote_not_allowed" else "bad_remote"
            raise OperationRefused(422, code, f"The task was not started. {error.message}") from error

    async def enter(self, run: TaskRun, records: Sequence[Record]) -> None:
        """Let the run work in a new clone that has all that the task did so far."""
        repository = run.request.context.repository
        assert repository is not None
        try:
            clone = await self._find(repository, records)
            directory = await self._clones.checkout(run.task_id, clone.remote, clone.base.commit)
            lost = await self._restore(run.task_id, records, directory)
        except ToolError as error:
            message = f"The worker could not prepare the repository, so the task did nothing more. {error.message}"
            raise StepFailed("no_clone", message, recoverable=True) from error
        self._open[run.task_id] = clone
        self._repositories.register(directory, clone.remote)
        left_out = lost[:_MAX_NAMED]
        event = BranchEvent(
            state="cloned",
            remote=clone.remote,
            branch=clone.base.branch,
            commit=clone.base.commit,
            left_out=left_out or None,
        )
        known = {record.key for record in records if record.kind == RecordKind.REPOSITORY}
        if _BASE not in known:
            await run.log.append(event, records=[Record(RecordKind.REPOSITORY, _BASE, clone.base.to_json())])
        elif left_out:
            news = UserMessage(id=f"m_{secrets.token_hex(8)}", text=_LEFT_OUT + ", ".join(left_out), is_news=True)
            said = MessageEvent(message_id=news.id, role="user", agent="", text=news.text)
            await run.log.append(event, said, records=[Record(RecordKind.MESSAGE, news.id, news.to_json())])
        run.request = run.request.model_copy(update={"workspace": directory})

    async def deliver(self, run: TaskRun, result: TaskResult) -> None:
        """Push what the task changed. If that fails, the result says so, and the journal has it as a diff."""
        clone = self._open.get(run.task_id)
        if clone is None:
            return
        key = branched(str(run.state.current_round), run.state.branch)
        only = merged_paths(run.state) if run.request.options.crew else None
        try:
            await self._push(run, clone, key, _message(run, result), only)
        except ToolError as error:
            why = f"It was not pushed: {error.message} `brain diff` has all of it."
            branch = branch_of(run.task_id)
            await run.log.append(BranchEvent(state="kept", remote=clone.remote, branch=branch, commit="", why=why))

    async def _push(
        self, run: TaskRun, clone: Clone, key: str, message: str, only: Sequence[str] | None, merged: str = ""
    ) -> None:
        """Commit the clone, and push that. The key's commit is recorded before, and pushed once."""
        if key in clone.pushed:
            return
        branch, planned = branch_of(run.task_id), clone.planned.get(key)
        parent = await self._newest(clone, branch)
        found = planned
        if planned is None or not await self._clones.is_pushed(clone.remote, planned.commit, branch):
            at = planned.at if planned is not None else timestamp()
            commit = await self._clones.commit(run.task_id, clone.remote, parent, message, at, only, merged)
            if not commit:
                return
            found = Result(commit=commit, parent=parent, at=at)
            if planned is None:
                await run.log.append(records=[Record(RecordKind.REPOSITORY, f"planned:{key}", found.to_json())])
                clone.planned[key] = found
            await self._clones.push(run.task_id, clone.remote, commit, branch)
        assert found is not None
        clone.pushed[key] = found
        pushed = BranchEvent(state="pushed", remote=clone.remote, branch=branch, commit=found.commit)
        await run.log.append(pushed, records=[Record(RecordKind.REPOSITORY, f"pushed:{key}", found.to_json())])

    # -- parts of a crew ---------------------------------------------------------------------------------------------

    async def publish_part(self, run: TaskRun, key: str, title: str, part: str) -> None:
        """Push the merged tree with one more part, whose task is `part`. Raises `ToolError`."""
        clone = self._open[run.task_id]
        result = (await self._result_of(part))[1]
        name = branched(f"part.{key}", run.state.branch)
        message = _with_trailer(_subject(f"Merge: {title}"), run.task_id)
        await self._push(run, clone, name, message, merged_paths(run.state), result)

    async def base_for_part(self, run: TaskRun) -> tuple[Repository, Sequence[Record]]:
        """What a part begins with: the newest commit of the task's own branch."""
        clone = self._open[run.task_id]
        commit = await self._newest(clone, branch_of(run.task_id))
        base = Base(branch=clone.base.branch, commit=commit)
        repository = Repository(remote=clone.remote, branch=clone.base.branch)
        return repository, [Record(RecordKind.REPOSITORY, _BASE, base.to_json())]

    async def changes_of_part(self, part: str) -> Sequence[ChangedPath]:
        """What a part's branch has beyond the commit that it began with. Raises `ToolError`."""
        clone, commit = await self._result_of(part)
        found = await self._clones.changed(clone.remote, clone.base.commit, commit) if commit else []
        return [each for each in found if each.base is not None or not is_cache(each.path)]

    async def close_part(self, part: str) -> None:
        """Delete the part's branch: it is merged, or tried again. What others pushed to it stays."""
        clone, commit = await self._result_of(part, pushed=False)
        if commit:
            with suppress(ToolError):
                await self._clones.delete(clone.remote, branch_of(part), commit)

    async def _result_of(self, part: str, *, pushed: bool = True) -> tuple[Clone, str]:
        """The part's clone, and its newest commit; empty if it changed nothing."""
        task, records = await self._journal.task(part), await self._journal.records(part)
        clone = await self._find(Repository(remote=task.workspace), records)
        if pushed and clone.planned and next(reversed(clone.planned)) not in clone.pushed:
            raise ToolError(f"Its result is not on the branch {branch_of(part)} of {clone.remote}.", code="not_pushed")
        return clone, next(reversed(clone.pushed.values())).commit if clone.pushed else ""

    async def leave(self, run: TaskRun) -> None:
        """The run has ended: its clone goes, and the next run makes another."""
        if self._open.pop(run.task_id, None) is not None:
            self._repositories.forget(run.request.workspace)
            await self._removed(run.request.workspace)
        await self._clones.remove(run.task_id)

    async def _find(self, repository: Repository, records: Sequence[Record]) -> Clone:
        remote = self._clones.check(repository.remote)
        bodies = {record.key: record.body for record in records if record.kind == RecordKind.REPOSITORY}
        if _BASE in bodies:
            base = Base.model_validate_json(bodies[_BASE])
        else:
            branch, commit = await self._clones.find(remote, repository.branch or "")
            base = Base(branch=branch, commit=commit)
        clone = Clone(remote, base)
        for name, body in bodies.items():
            kind, _, key = name.partition(":")
            if kind != _BASE:
                (clone.pushed if kind == "pushed" else clone.planned)[key] = Result.model_validate_json(body)
        return clone

    # -- between runs ------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def opened(self, task: Task, records: Sequence[Record]) -> AsyncIterator[Task]:
        name = f"{task.id}.{secrets.token_hex(4)}"
        try:
            try:
                clone = await self._find(Repository(remote=task.workspace), records)
                # What the journal didn't keep is in the commit.
                commit = await self._newest(clone, branch_of(task.id))
                directory = await self._clones.checkout(name, clone.remote, commit)
                await self._restore(name, records, directory)
            except ToolError as error:
                message = f"The repository could not be prepared, so nothing was changed. {error.message}"
                raise OperationRefused(409, "no_clone", message) from error
            yield task.model_copy(update={"worktree": directory})
        finally:
            await self._clones.remove(name)

    async def publish(self, opened: Task, subject: str) -> None:
        assert opened.worktree is not None
        records = await self._journal.records(opened.id)
        clone = await self._find(Repository(remote=opened.workspace), records)
        if not clone.pushed:
            return
        name, branch, at = PurePath(opened.worktree).name, branch_of(opened.id), timestamp()
        key = f"undo.{secrets.token_hex(4)}"
        try:
            parent = await self._newest(clone, branch)
            commit = await self._clones.commit(name, clone.remote, parent, _with_trailer(subject, opened.id), at)
            if not commit:
                return
            found = Result(commit=commit, parent=parent, at=at)
            await self._journal.append(
                opened.id, records=[Record(RecordKind.REPOSITORY, f"planned:{key}", found.to_json())]
            )
            await self._clones.push(name, clone.remote, commit, branch)
        except ToolError as error:
            why = f"{subject}: it was not pushed. {error.message} `brain diff` has what is left of the changes."
            kept = BranchEvent(state="kept", remote=clone.remote, branch=branch, commit="", why=why)
            await self._journal.append(opened.id, [kept])
            return
        pushed = BranchEvent(state="pushed", remote=clone.remote, branch=branch, commit=commit)
        record = Record(RecordKind.REPOSITORY, f"pushed:{key}", found.to_json())
        await self._journal.append(opened.id, [pushed], [record])

    async def fork(self, task: Task, records: Sequence[Record], new_id: str, seq: int) -> ForkedFiles:
        if not any(record.kind == RecordKind.REPOSITORY and record.key == _BASE for record in records):
            return ForkedFiles()
        name = f"{new_id}.fork"
        try:
            clone = await self._find(Repository(remote=task.workspace), records)
            directory = await self._clones.checkout(name, clone.remote, clone.base.commit)
            lost = await self._restore(name, records, directory, seq)
            message = _with_trailer(f"Files of {task.id} at event {seq}", new_id)
            commit = await self._clones.commit(name, clone.remote, clone.base.commit, message, timestamp())
            if commit:
                await self._clones.push(name, clone.remote, commit, branch_of(new_id))
        except ToolError as error:
            message = f"The new task was not started: its files could not be pushed. {error.message}"
            raise OperationRefused(409, "no_clone", message) from error
        finally:
            await self._clones.remove(name)
        base = Base(branch=clone.base.branch, commit=commit or clone.base.commit)
        pushed = BranchEvent(state="pushed", remote=clone.remote, branch=branch_of(new_id), commit=commit)
        return ForkedFiles([Record(RecordKind.REPOSITORY, _BASE, base.to_json())], [pushed] if commit else [], lost)

    async def _newest(self, clone: Clone, branch: str) -> str:
        """The newest commit of the task, also one whose push was cut off before it was recorded."""
        newest = next(reversed(clone.pushed.values())).commit if clone.pushed else clone.base.commit
        for key, planned in clone.planned.items():
            cut_off = key not in clone.pushed and planned.parent == newest
            if cut_off and await self._clones.is_pushed(clone.remote, planned.commit, branch):
                newest = planned.commit
        return newest

    # -- files -------------------------------------------------------------------------------------------------------

    async def _restore(self, name: str, records: Sequence[Record], directory: str, seq: int | None = None) -> list[str]:
        """Write the files as the task left them at that event, or now; returns those not in the journal."""
        history = FileHistory(records, directory)
        lost = [each.path for each in history.unkept()]
        files: dict[str, FileContent | None] = {}
        for path in history.paths():
            side = history.state(path, seq)
            content = None if side is None else await self._journal.blob(side.content)
            if side is not None and content is None:
                lost.append(path)
            else:
                mode = _SAME_MODE if side is None else side.mode or _SAME_MODE
                files[path] = None if content is None else FileContent(content, mode)
        if files:
            await self._clones.write(name, files)
        return lost


def branch_of(task_id: str) -> str:
    return f"brain/{task_id}"


def merged_paths(state: TaskState) -> list[str]:
    """What merges of parts changed; the rest of a crew's tree is what its checks left behind."""
    files = (file for intent in state.intents.values() if intent.tool in _MERGES for file in intent.files)
    return list(dict.fromkeys(file.path for file in files))


def _with_trailer(subject: str, task_id: str) -> str:
    return f"{subject}\n\nBrain-Task: {task_id}"


def _message(run: TaskRun, result: TaskResult) -> str:
    return _with_trailer(_subject(result.summary.strip() or run.instruction), run.task_id)


def _subject(text: str) -> str:
    line = " ".join(text.split("\n", 1)[0].split())
    return line[:_MAX_SUBJECT].strip() or "Work of a task"
