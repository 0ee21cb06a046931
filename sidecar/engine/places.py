"""Where a task's files are."""

from sidecar.engine.errors import OperationRefused
from sidecar.wire.tasks import Task


def is_remote(task: Task) -> bool:
    """Whether the task works on a Git remote, in a clone of its worker."""
    return not task.workspace.startswith("/")


def place_of(task: Task) -> str:
    """Where the task's files are now."""
    return task.worktree or task.workspace


def refuse_remote(task: Task) -> None:
    """A task on a remote has no files here."""
    if is_remote(task):
        where = f"the branch {task.result_branch} of {task.workspace}" if task.result_branch else "its diff"
        message = f"The task worked in a clone that is gone. What it changed is {where}: merge it, or leave it."
        raise OperationRefused(409, "remote_workspace", message)
