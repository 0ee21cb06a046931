"""Worktrees of isolated tasks: merging, listing and removing them."""

from typing import Annotated, Literal

from pydantic import Field

from sidecar.wire.base import Wire, optional
from sidecar.wire.tasks import RewoundFile, ShortText, Status


class MergeRequest(Wire):
    preview: Annotated[bool, Field(description="Report what would change and change nothing.")] = False
    markers: Annotated[
        bool, Field(description="Merge in spite of conflicts, and mark them in the files as Git does.")
    ] = False


class MergeConflict(Wire):
    path: str
    why: str
    text: Annotated[
        str | None, Field(description="The merged file with conflict markers, up to 20,000 characters.")
    ] = optional()


class MergeAnswer(Wire):
    """What a merge did to your workspace: everything, or nothing if there are conflicts."""

    merged: bool
    files: Annotated[list[RewoundFile], Field(description="What changed, or would change.")]
    conflicts: list[MergeConflict]
    combined: Annotated[
        bool, Field(description="Your workspace changed meanwhile, so no check has seen this combination.")
    ] = False


class WorktreeInfo(Wire):
    """`state`: its task works in it; it has changes to merge; it has none; or it is left over and can go."""

    task_id: str
    task: str | None
    status: Status | None
    workspace: str
    path: str
    state: Literal["active", "unmerged", "unchanged", "leftover"]
    files: Annotated[int, Field(description="Files that a merge would change.")]
    left_out: Annotated[list[str], Field(description="Your uncommitted changes that are not in it.")] = []


class WorktreeList(Wire):
    worktrees: list[WorktreeInfo]


class CleanRequest(Wire):
    tasks: Annotated[list[ShortText], Field(max_length=1_000, description="Only these; default: all.")] = []
    discard: Annotated[bool, Field(description="Also those with changes that are not merged; name their tasks.")] = (
        False
    )


class KeptWorktree(Wire):
    task_id: str
    why: str


class CleanAnswer(Wire):
    removed: list[str]
    kept: list[KeptWorktree]
