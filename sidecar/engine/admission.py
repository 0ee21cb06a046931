"""Whether a task may start: its workspace or remote, its first words, and what it may spend."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from sidecar.config.grants import Permissions
from sidecar.engine.errors import OperationRefused
from sidecar.engine.places import is_remote, refuse_remote
from sidecar.engine.port import Work
from sidecar.wire.tasks import ExecuteRequest, Options, StoredRequest, Task
from tools.protected import protected_folder

if TYPE_CHECKING:
    from sidecar.engine.remotes import RemoteWorkspaces
    from sidecar.engine.worktrees import Worktrees


class Admission:
    """Raises `OperationRefused` with what to do instead. `private` is the sidecar's own directory."""

    def __init__(
        self,
        work: Work,
        workspace: Path,
        permissions: Callable[[str], Permissions],
        worktrees: "Callable[[], Worktrees | None]",
        remotes: "RemoteWorkspaces | None",
        private: Path | None,
    ) -> None:
        self._work = work
        self._workspace = workspace
        self._permissions = permissions
        self._worktrees = worktrees
        self._remotes = remotes
        self._private = private

    async def place_of(self, request: ExecuteRequest) -> str:
        """The workspace, or the address of the remote that a worker clones."""
        if request.context.repository is not None:
            return self._remote_of(request)
        options, workspace = request.options, self.checked_workspace(request.context.workspace)
        isolated = options.isolation == "worktree" or options.crew
        if isolated and (worktrees := self._worktrees()) is not None:
            worktrees.check(workspace)
        if options.intent is None:
            await self.check_words(request.task, workspace)
        return workspace

    def _remote_of(self, request: ExecuteRequest) -> str:
        if self._remotes is None:
            message = "This sidecar allows no Git remote. Name those that tasks may work on in the setting `remotes`."
            raise OperationRefused(422, "remote_not_allowed", message)
        if request.context.workspace is not None or request.context.repository is None:
            message = "A task works on a workspace or on a remote. Name one of them."
            raise OperationRefused(422, "workspace_or_repository", message)
        return self._remotes.check(request.context.repository)

    def checked_workspace(self, named: str | None) -> str:
        """The named workspace if it is a directory where protected files can be told; the sidecar's own by default."""
        if named is None:
            self._refuse_protected(str(self._workspace))
            return str(self._workspace)
        path = Path(named)
        if "\0" in named or not path.is_absolute():
            raise OperationRefused(
                422, "workspace_not_absolute", f"The workspace must be an absolute path; {named!r} is not one."
            )
        if not _is_directory(path):
            message = f"There is no directory {named}. Create it, or choose another workspace."
            raise OperationRefused(422, "workspace_not_found", message)
        if self._is_private(path):
            message = f"{named} belongs to the sidecar itself. Choose another workspace."
            raise OperationRefused(422, "workspace_private", message)
        self._refuse_protected(named)
        return str(path)

    def _refuse_protected(self, workspace: str) -> None:
        """In a protected folder the paths of files no longer say what they control."""
        if (part := protected_folder(workspace)) is not None:
            message = (
                f"{workspace} is in {part}, which controls what runs later or holds secrets. Choose the folder that "
                f"{part} is in as the workspace."
            )
            raise OperationRefused(422, "workspace_protected", message)

    def _is_private(self, path: Path) -> bool:
        """Whether it is the sidecar's own, and not in the worktree of a task."""
        if self._private is None or not path.resolve().is_relative_to(self._private.resolve()):
            return False
        worktrees = self._worktrees()
        return worktrees is None or not worktrees.holds(str(path))

    async def check_words(self, asked: str, workspace: str) -> None:
        """Refuse text that begins with a misspelled slash command: it would be routed as something else."""
        if not workspace.startswith("/"):
            return  # the commands of a remote aren't known here
        if suggestion := await self._work.suggest_command(asked, workspace):
            raise OperationRefused(422, "unknown_command", suggestion)

    def within_limit(self, options: Options, workspace: str) -> Options:
        """An unattended task spends at most what its repository was granted, if there is such a limit."""
        granted = self._permissions(workspace).spend if not options.can_ask else None
        if granted is None or (options.max_cost_usd is not None and options.max_cost_usd <= granted):
            return options
        return options.model_copy(update={"max_cost_usd": granted})

    async def check_fork(self, old: Task, request: StoredRequest, words: str | None) -> None:
        if self._remotes is None:
            refuse_remote(old)
        if not is_remote(old):
            self.checked_workspace(old.workspace)
        if old.worktree is not None:
            message = "The task's changes are in a worktree. Merge or discard them first, then fork it."
            raise OperationRefused(409, "not_merged", message)
        if request.options.crew:
            message = "A crew's task has parts that are tasks themselves, so it can't be forked. Start a new crew."
            raise OperationRefused(409, "crew_task", message)
        if words is not None:
            await self.check_words(words, old.workspace)


def _is_directory(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False
