"""Routes of what tasks changed: diffs, rewinds, worktrees, new projects."""

from collections.abc import Sequence

from sidecar.api.changes import ReviewRoutes, WorktreeRoutes
from sidecar.api.projects import ProjectRoutes
from sidecar.api.table.route import IDEMPOTENCY, TASK, Route
from sidecar.wire import projects, tasks, worktrees

CHANGES: Sequence[Route] = (
    Route(
        f"GET {TASK}/diff",
        "diff",
        ReviewRoutes.diff,
        "Get a task's changes by file and hunk",
        tasks.DiffAnswer,
        refusals=(404, 409),
    ),
    Route(
        f"POST {TASK}/hunks",
        "hunks",
        ReviewRoutes.hunks,
        "Accept or reject hunks of a task's changes",
        tasks.DiffAnswer,
        tasks.HunkRequest,
        refusals=(404, 409),
        doc="A rejected hunk is undone in its file, and the agents learn about it. Your own later edits are "
        "merged; where you edited the same lines, the file stays as it is and is listed under `conflicts`.",
    ),
    Route(
        f"POST {TASK}/rewind",
        "rewind",
        ReviewRoutes.rewind,
        "Rewind files and conversation to an event",
        tasks.RewindAnswer,
        tasks.RewindRequest,
        refusals=(404, 409),
        doc="The task can be resumed from there, and a rewind can itself be rewound. With `conversation: false` "
        "only the files go back; with `preview` nothing changes.",
    ),
    Route(
        f"POST {TASK}/merge",
        "merge",
        WorktreeRoutes.merge,
        "Merge the worktree of an isolated task into its workspace",
        worktrees.MergeAnswer,
        worktrees.MergeRequest,
        refusals=(404, 409),
        doc="Three-way by lines: your own changes since the task started stay. With conflicts nothing changes, and "
        "they are listed; `markers` writes them into the files as Git does. It changes files only, never the index or "
        "a branch. After a merge the worktree is removed, and a rewind of the task acts on your workspace.",
    ),
    Route(
        "GET /api/brain/worktrees",
        "worktrees",
        WorktreeRoutes.list,
        "List the worktrees of isolated tasks",
        worktrees.WorktreeList,
    ),
    Route(
        "POST /api/brain/worktrees/clean",
        "clean_worktrees",
        WorktreeRoutes.clean,
        "Remove worktrees that nobody needs",
        worktrees.CleanAnswer,
        worktrees.CleanRequest,
        doc="Keeps those whose task is at work, and those with changes that are not merged, unless you name the task "
        "and set `discard`.",
    ),
    Route(
        "GET /api/brain/templates",
        "templates",
        ProjectRoutes.templates,
        "List the templates of new projects",
        projects.TemplateList,
        doc="Your own are the folders of `templates/` in the configuration directory; their files end in `.template`.",
    ),
    Route(
        "POST /api/brain/projects",
        "create_project",
        ProjectRoutes.create,
        "Create a project from a template",
        tasks.Accepted,
        projects.ProjectOrder,
        headers=(IDEMPOTENCY,),
        refusals=(409, 429, 503),
        doc="A task like any other; the result has `projectPath` and `success`.",
    ),
)
