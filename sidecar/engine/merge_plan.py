"""Plans what bringing changed files into a workspace changes there, three-way, with the conflicts."""

import stat

from sidecar.engine.merge import Conflict, File, mark_conflicts, merge_file
from sidecar.engine.review import Review
from sidecar.journal.port import Journal
from sidecar.wire.worktrees import MergeConflict, MergeRequest
from tools.host import FileContent
from tools.ledger import FileState, digest
from tools.worktrees import ChangedPath

_MAX_TEXT = 20_000
_READ, _EXECUTE = 0o444, 0o111
_BOTH = "The task and someone else changed the same lines."
_KINDS = "The task and someone else changed it in ways that can't be combined: deleted, replaced, or not text."


class MergePlan:
    """`task_id` made the changes; the contents are kept with the task `keeper`."""

    def __init__(
        self,
        journal: Journal,
        review: Review,
        workspace: str,
        task_id: str,
        keeper: str,
        wanted: MergeRequest | None = None,
    ) -> None:
        self._journal = journal
        self._review = review
        self._workspace = workspace
        self._task_id = task_id
        self._keeper = keeper
        self._wanted = wanted or MergeRequest()
        self.files: list[FileState] = []
        self.conflicts: list[MergeConflict] = []

    async def add(self, path: str, changed: ChangedPath) -> None:
        """One more file; `path` is relative to the workspace."""
        found, base, now = await self._review.found(self._workspace, path), _file(changed.base), _file(changed.now)
        base, now = _with_modes(found, base, now)
        try:
            result = merge_file(found, base, now)
        except Conflict:
            if found is None or base is None or now is None or any(b"\0" in each.content for each in (found, now)):
                self.conflicts.append(MergeConflict(path=path, why=_KINDS))
                return
            if found.linked or base.linked or now.linked:
                self.conflicts.append(MergeConflict(path=path, why=_KINDS))
                return
            marked = mark_conflicts(base.content, found.content, now.content, "workspace", f"task {self._task_id}")
            text = marked.decode("utf-8", "replace")[:_MAX_TEXT]
            self.conflicts.append(MergeConflict(path=path, why=_BOTH, text=text))
            if not self._wanted.markers:
                return
            result = File(marked, found.mode)
        if result != found:
            for file in (found, result):
                if file is not None and not self._wanted.preview:
                    await self._journal.put_blob(self._keeper, file.content, None, capped=False)
            self.files.append(_change(path, found, result))


def _with_modes(found: File | None, base: File | None, now: File | None) -> tuple[File | None, File | None]:
    """Git knows of a mode only whether the file can be executed: the rest is as it is in the workspace."""
    if found is None or base is None or now is None or found.linked or base.linked or now.linked:
        return base, now
    mode = found.mode or 0
    if mode == stat.S_IMODE(base.mode or 0):
        mode = now.mode or 0
    elif ((base.mode or 0) ^ (now.mode or 0)) & stat.S_IXUSR:
        readers = (mode & _READ) >> 2
        mode = mode | readers if (now.mode or 0) & stat.S_IXUSR else mode & ~_EXECUTE
    return base._replace(mode=found.mode), now._replace(mode=mode)


def _file(found: FileContent | None) -> File | None:
    return None if found is None else File(found.content, found.mode)


def _change(path: str, found: File | None, result: File | None) -> FileState:
    return FileState(
        path=path,
        before=None if found is None else digest(found.content),
        after=None if result is None else digest(result.content),
        mode=None if result is None else result.mode,
        was=None if found is None else found.mode,
    )
