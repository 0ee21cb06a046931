"""Tasks: requests, answers, and the operations on them."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from sidecar.wire.base import RequestBody, Wire, optional
from sidecar.wire.intents import Intent


class Status(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLING = "cancelling"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"
    ESCALATED = "escalated"


ENDED = frozenset({Status.COMPLETED, Status.FAILED, Status.CANCELLED, Status.ESCALATED})

Priority = Literal["high", "normal", "low"]
Approvals = Literal["ask", "edits", "auto", "readonly"]
#: An agent of the roster, or one of your own.
AgentName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,40}$")]

TASK_TEXT_LIMIT = 200_000
ShortText = Annotated[str, Field(max_length=4_096)]
TaskText = Annotated[str, Field(min_length=1, max_length=TASK_TEXT_LIMIT, pattern=r"\S")]


class Attachment(Wire):
    name: ShortText
    media_type: ShortText = "application/octet-stream"
    data: Annotated[str, Field(description="The content, base64.")]


class Repository(Wire):
    """A Git remote to work on. A worker clones it, and the result is a branch there and a diff in the journal."""

    remote: Annotated[ShortText, Field(description="`https://HOST/PATH`, one that the setting `remotes` allows.")]
    branch: Annotated[ShortText | None, Field(description="Where to begin; default: the remote's own choice.")] = (
        optional()
    )


class Context(RequestBody):
    workspace: Annotated[ShortText | None, Field(description="An absolute path; default: the sidecar's workspace.")] = (
        None
    )
    repository: Annotated[Repository | None, Field(description="Instead of a workspace.")] = optional()
    current_file: ShortText | None = None
    selected_code: Annotated[str, Field(max_length=TASK_TEXT_LIMIT)] | None = None
    open_files: Annotated[list[ShortText], Field(max_length=1_000)] = []
    attachments: Annotated[list[Attachment], Field(max_length=32)] = []


class Models(RequestBody):
    """The model of each role: `provider/name`, or several separated by commas."""

    fast: ShortText | None = None
    smart: ShortText | None = None
    instant: ShortText | None = None


class Options(RequestBody):
    intent: Intent | None = None
    agent_type: AgentName | None = None
    models: Models = Field(default_factory=Models)
    effort: Annotated[
        Literal["low", "medium", "high"] | None,
        Field(description="How much models that reason should think; else as in the settings."),
    ] = optional()
    priority: Priority = "normal"
    max_duration: Annotated[
        float, Field(gt=0, le=604_800, description="Seconds of work, without waits for your approval.")
    ] = 3_600
    approvals: Approvals = "ask"
    plan: Annotated[
        bool | None,
        Field(description="Plan first, reading only, then ask whether to go ahead; `approvals` holds from then on."),
    ] = optional()
    verify: Literal["auto", "off"] | list[ShortText] = "auto"
    review: Annotated[
        Literal["auto", "always", "never"],
        Field(description="Review changes: those that are large or unproven (auto), all, or none."),
    ] = "auto"
    isolation: Annotated[
        Literal["none", "worktree"],
        Field(
            description="`worktree`: work in a Git worktree of the repository, outside the workspace, with your "
            "uncommitted changes; merge it when you like the result."
        ),
    ] = "none"
    crew: Annotated[
        bool | None,
        Field(
            description="A crew: a strategist splits the goal, specialists work on the parts, each as a task of its "
            "own in its own worktree, and what passes its checks is merged."
        ),
    ] = optional()
    workers: Annotated[
        int | None,
        Field(
            ge=1,
            le=8,
            description="Steps of a plan that run at once, each in its own worktree; default: 1, in a crew 4.",
        ),
    ] = optional()
    verify_unasked: Annotated[
        bool | None,
        Field(description="Skip checks that need approval instead of asking; the result lists them."),
    ] = optional()
    unattended: Annotated[
        bool | None,
        Field(description="Unattended: a call that needs approval is denied, and a question takes its safe choice."),
    ] = optional()
    author: Annotated[
        Literal["person", "other"] | None,
        Field(
            description="Who wrote the task. Only a person's words count as consent to a command; `other` is for the "
            "text of models, issues, chats and web pages."
        ),
    ] = optional()
    pool: Annotated[
        str | None,
        Field(
            # A counted repetition of `\w` takes 33 ms to compile.
            max_length=64,
            pattern=r"^[\w-]+$",
            description="In a fleet: the workers that may run it; `default` if not set.",
        ),
    ] = optional()
    conversation_id: ShortText | None = None
    max_iterations: Annotated[int, Field(ge=1, le=1_000)] | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    max_cost_usd: Annotated[float, Field(ge=0)] | None = None

    @property
    def by_person(self) -> bool:
        return self.author != "other"

    @property
    def can_ask(self) -> bool:
        """Whether the task may wait for an answer of yours."""
        return self.approvals != "auto" and not self.unattended


class ExecuteRequest(RequestBody):
    task: TaskText
    context: Context = Field(default_factory=Context)
    options: Options = Field(default_factory=Options)


class Accepted(Wire):
    task_id: str
    status: Status
    stream_url: str
    notice: Annotated[
        str | None, Field(description="What you should know, such as that `config.toml` changed or is broken.")
    ] = optional()


class MessageRequest(RequestBody):
    text: TaskText
    attachments: Annotated[list[Attachment], Field(max_length=32)] = []
    author: Annotated[
        Literal["person", "other"] | None,
        Field(description="As in `options`: words of `other` are no consent, even in a task that you started."),
    ] = optional()


class ApprovalRequest(RequestBody):
    decision: Literal["allow", "deny"]
    scope: Literal["once", "task", "workspace"] = "once"


class NamedApproval(Wire):
    approval_id: ShortText
    decision: Literal["allow", "deny"]
    scope: Literal["once", "task", "workspace"] = "once"


class ApprovalsRequest(Wire):
    """Answers to several approvals."""

    answers: Annotated[list[NamedApproval], Field(min_length=1, max_length=100)]


class ApprovalAnswer(Wire):
    approval_id: str
    decision: Literal["allow", "deny"]
    scope: Literal["once", "task", "workspace"]


class ApprovalsAnswer(Wire):
    answers: list[ApprovalAnswer]


class QuestionRequest(Wire):
    answer: Annotated[str, Field(min_length=1, max_length=20_000, pattern=r"\S")]


class QuestionAnswer(Wire):
    question_id: str
    answer: str


class Progress(Wire):
    step: int
    total: int
    message: str


class TaskError(Wire):
    code: str
    message: str
    recoverable: bool


class Usage(Wire):
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float = 0.0


class Source(Wire):
    """Lines of the workspace that a research answer rests on; a check found that they exist."""

    path: str
    #: A line or a range, such as `12-30`.
    lines: str
    why: str


class SubtaskResult(Wire):
    """One part of a crew's goal, and the task that did it."""

    id: str
    title: str
    agent: str
    state: Literal["pending", "running", "done", "failed"]
    task_id: Annotated[str | None, Field(description="The last task that worked on it.")] = optional()
    attempts: int
    verified: bool | None
    files: list[str]
    error: str | None = optional()


class TaskResult(Wire):
    summary: str
    files_modified: list[str]
    verification: JsonValue
    usage: Usage
    answer: Annotated[str | None, Field(description="Of a research task.")] = optional()
    sources: Annotated[list[Source] | None, Field(description="Of a research task.")] = optional()
    project_path: Annotated[
        str | None, Field(description="The new project's directory, of a task from `POST /api/brain/projects`.")
    ] = optional()
    success: Annotated[
        bool | None, Field(description="Whether that project was created and no check of it failed.")
    ] = optional()
    subtasks: Annotated[list[SubtaskResult] | None, Field(description="Of a crew.")] = optional()


class ForkedFrom(Wire):
    """The task and event another task started from."""

    task_id: str
    seq: int


class Task(Wire):
    id: str
    status: Status
    task: str
    intent: Intent | None
    pipeline: list[str]
    workspace: str
    priority: Priority
    conversation_id: str
    progress: Progress
    created_at: str
    started_at: str | None
    ended_at: str | None
    result: TaskResult | None
    error: TaskError | None
    verified: bool | None
    usage: Usage
    last_seq: int
    forked_from: ForkedFrom | None = optional()
    title: Annotated[str, Field(description="Your title, else a model's, else the first sentence of the task.")]
    pinned: bool
    archived: bool
    worktree: Annotated[str | None, Field(description="Where it works, until that is merged or removed.")] = optional()
    result_branch: Annotated[str | None, Field(description="The branch of its remote that has what it changed.")] = (
        optional()
    )
    traceparent: Annotated[str | None, Field(description="The trace of the request that started it.")] = optional()
    parent: Annotated[str | None, Field(description="The task that this one is a part of.")] = optional()


class LabelRequest(Wire):
    """How a task appears in the history; what is left out stays as it is."""

    title: Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")] | None = None
    pinned: bool | None = None
    archived: Annotated[bool | None, Field(description="An archived task is listed only on request.")] = None


class DeletedTask(Wire):
    deleted: str


class TaskPage(Wire):
    tasks: list[Task]
    next_before: Annotated[str | None, Field(description="The `before` of the next page; null on the last one.")]


class RouteRequest(RequestBody):
    task: TaskText
    context: Context = Field(default_factory=Context)


class RouteAnswer(Wire):
    intent: Intent
    confidence: Annotated[float, Field(ge=0, le=1)]
    pipeline: list[str]
    why: str


class HunkRequest(RequestBody):
    accept: list[str] = []
    reject: list[str] = []


class RewindRequest(Wire):
    seq: Annotated[
        int | None, Field(ge=0, description="The event to go back to; default: just before the last change of files.")
    ] = None
    conversation: Annotated[bool, Field(description="False rewinds the files only.")] = True
    preview: Annotated[bool, Field(description="Report what would change and change nothing.")] = False
    uncertain: Annotated[
        list[str], Field(description="Restore these files too, though it is unknown who changed them.")
    ] = []


class RewoundFile(Wire):
    path: str
    change: Literal["created", "modified", "deleted"]


class LeftFile(Wire):
    """A file that a rewind left as it is, and the reason."""

    path: str
    why: str
    uncertain: Annotated[
        bool | None, Field(description="It is unknown who changed it; name it in `uncertain` to restore it.")
    ] = optional()


class RewindAnswer(Wire):
    """What a rewind did to each file that the task changed. Your own later edits are merged."""

    seq: int
    files: Annotated[list[RewoundFile], Field(description="What was restored.")]
    conflicts: Annotated[
        list[LeftFile],
        Field(description="Left alone: others changed the same place, or it is unknown who changed the file."),
    ]
    not_restored: Annotated[
        list[LeftFile], Field(description="Could not be restored. Remove the reason, then rewind again.")
    ]


class ForkRequest(Wire):
    """A new task that starts from an event of another one."""

    seq: Annotated[int | None, Field(ge=0, description="The event to start from; default: the last one.")] = None
    task: Annotated[
        TaskText | None, Field(description="What to do instead; required if the other task had finished.")
    ] = None
    options: Annotated[Options, Field(description="Options that differ from the other task's.")] = Field(
        default_factory=Options
    )
    keep_files: Annotated[bool, Field(description="Leave the files as they are now.")] = False


class DiffLine(Wire):
    kind: Literal["context", "added", "removed"]
    text: str


class Hunk(Wire):
    id: str
    header: str
    lines: list[DiffLine]
    state: Literal["pending", "accepted", "rejected"] = "pending"


class FileDiff(Wire):
    path: str
    change: Literal["created", "modified", "deleted", "renamed"]
    added: int
    removed: int
    diff: Annotated[str, Field(description="The change as a patch that `git apply` takes.")]
    renamed_from: Annotated[str | None, Field(description="Its path before a rename.")] = optional()
    hunks: list[Hunk]
    note: str | None = optional()


class DiffAnswer(Wire):
    """The remaining changes; `conflicts` are files in which a rejected hunk couldn't be undone."""

    files: list[FileDiff]
    conflicts: list[LeftFile] = []


class StoredRequest(Wire):
    """The request, completed with defaults when the sidecar accepted the task."""

    task: str
    workspace: str
    conversation_id: str
    context: Context
    options: Options
    forked_from: ForkedFrom | None = optional()
    creates_project: Annotated[bool | None, Field(description="Its workspace is a new project.")] = optional()
    traceparent: Annotated[str | None, Field(description="The trace of the request that started it.")] = optional()
    parent: Annotated[str | None, Field(description="The task that this one is a part of.")] = optional()
