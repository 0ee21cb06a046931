"""Routes for tasks: start, read, watch, steer and stop them."""

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from sidecar.api.identity import check_auto, within_role
from sidecar.api.route import (
    IDEMPOTENCY,
    MAX_SEQ,
    TASK,
    Parameter,
    idempotency_key,
    number,
    resume_point,
    route,
    task_id,
)
from sidecar.api.streams import Streams
from sidecar.engine.errors import OperationRefused
from sidecar.engine.operations import (
    AnswerApproval,
    AnswerQuestion,
    Cancel,
    Delete,
    Execute,
    Fork,
    Label,
    Operation,
    Resume,
    SendMessage,
)
from sidecar.journal.port import Journal, TaskFilter
from sidecar.wire.events import EventPage
from sidecar.wire.tasks import (
    Accepted,
    ApprovalAnswer,
    ApprovalRequest,
    ApprovalsAnswer,
    ApprovalsRequest,
    DeletedTask,
    ExecuteRequest,
    ForkRequest,
    LabelRequest,
    MessageRequest,
    QuestionAnswer,
    QuestionRequest,
    Status,
    Task,
    TaskPage,
)

if TYPE_CHECKING:
    from sidecar.engine.engine import Engine

PAGE = 50
MAX_PAGE = 1000
#: A directory and those above it.
MAX_WORKSPACES = 100
EVENT_PAGE = 500
MAX_EVENT_PAGE = 2_000
_AFTER = Parameter("after", "Only events after this sequence number.", "integer")


class TaskRoutes:
    def __init__(
        self, engine: "Engine", journal: Journal, streams: Streams, notice: Callable[[], str] = lambda: ""
    ) -> None:
        """`notice` returns what the user should know when a task starts."""
        self._notice = notice
        self._engine = engine
        self._journal = journal
        self._streams = streams

    @route("POST /api/brain/execute", "execute", headers=(IDEMPOTENCY,), refusals=(429, 503), status=202)
    async def execute(self, request: Request, wanted: ExecuteRequest) -> Accepted:
        """Start a task."""
        options = within_role(request.scope["identity"], wanted.options)
        operation = Execute(wanted.model_copy(update={"options": options}), idempotency_key(request))
        return self._accepted(await self._engine.execute(operation))

    @route(f"POST {TASK}/fork", "fork", headers=(IDEMPOTENCY,), refusals=(404, 409, 429, 503), status=202)
    async def fork(self, request: Request, wanted: ForkRequest) -> Accepted:
        """Start a new task from an event of another task. The new task starts with the conversation and the files as
        they were at that event (default: the last one). The other task must not be running; `forkedFrom` names it."""
        await self._check_auto(request)
        options = within_role(request.scope["identity"], wanted.options)
        wanted = wanted.model_copy(update={"options": options})
        return await self._accept(Fork(task_id(request), wanted, idempotency_key(request)))

    @route(f"POST {TASK}/cancel", "cancel", refusals=(404, 409), status=202)
    async def cancel(self, request: Request) -> Accepted:
        """Cancel a task. Returns at once; the task becomes `cancelled` when every process it started is dead."""
        return await self._accept(Cancel(task_id(request)))

    @route(f"POST {TASK}/resume", "resume", refusals=(404, 409), status=202)
    async def resume(self, request: Request) -> Accepted:
        """Resume a task from its last checkpoint."""
        return await self._accept(Resume(task_id(request)))

    @route(
        f"POST {TASK}/messages",
        "message",
        headers=[Parameter("Idempotency-Key", "Requests with the same key send one message.")],
        refusals=(404, 409),
        status=202,
    )
    async def message(self, request: Request, message: MessageRequest) -> Accepted:
        """Steer a running task, or continue one that ended."""
        await self._check_auto(request)
        sent = SendMessage(
            task_id(request),
            message.text,
            idempotency_key(request),
            tuple(message.attachments),
            message.author != "other" and request.scope["identity"].decides,
        )
        return await self._accept(sent)

    async def _check_auto(self, request: Request) -> None:
        """Whose words may steer this task."""
        identity = request.scope["identity"]
        if not identity.decides:
            check_auto(identity, (await self._journal.request(task_id(request))).options)

    @route(f"POST {TASK}/approvals/{{approval_id}}", "approve", refusals=(404, 409))
    async def approve(self, request: Request, given: ApprovalRequest) -> ApprovalAnswer:
        """Allow or deny one call. A second answer to the same approval is refused with 409."""
        approval_id = request.path_params["approval_id"]
        await self._engine.submit(AnswerApproval(task_id(request), approval_id, given))
        return ApprovalAnswer(approval_id=approval_id, decision=given.decision, scope=given.scope)

    @route(f"POST {TASK}/questions/{{question_id}}", "answer_question", refusals=(404, 409))
    async def answer_question(self, request: Request, given: QuestionRequest) -> QuestionAnswer:
        """Answer a question of a task. If the question offers choices, the answer is one of them. A second answer is
        refused with 409."""
        question_id = request.path_params["question_id"]
        await self._engine.submit(AnswerQuestion(task_id(request), question_id, given.answer))
        return QuestionAnswer(question_id=question_id, answer=given.answer)

    @route(f"POST {TASK}/approvals", "approve_several", refusals=(404, 409))
    async def approve_several(self, request: Request, given: ApprovalsRequest) -> ApprovalsAnswer:
        """Answer several approvals. Applies the answers in order and stops at the first one that is refused."""
        for each in given.answers:
            decision = ApprovalRequest(decision=each.decision, scope=each.scope)
            await self._engine.submit(AnswerApproval(task_id(request), each.approval_id, decision))
        answers = [
            ApprovalAnswer(approval_id=each.approval_id, decision=each.decision, scope=each.scope)
            for each in given.answers
        ]
        return ApprovalsAnswer(answers=answers)

    @route(
        "GET /api/brain/tasks",
        "tasks",
        query=(
            Parameter("status", "Only tasks with one of these statuses, separated by commas."),
            Parameter("conversation", "Only tasks of this conversation."),
            Parameter("q", "Only tasks with all of these words in what was asked, answered or changed."),
            Parameter("workspace", "Only tasks of this workspace; repeat it for several."),
            Parameter("pinned", "`true`: only pinned tasks."),
            Parameter("archived", "`true`: archived tasks too, as in the list of one conversation."),
            Parameter("limit", "Page size; default 50, at most 1000.", "integer"),
            Parameter("before", "Only tasks older than the task with this id."),
        ),
        refusals=(404,),
    )
    async def list(self, request: Request) -> TaskPage:
        """List tasks, newest first."""
        limit = number(request, "limit", PAGE, most=MAX_PAGE) or PAGE
        before = request.query_params.get("before") or None
        if before is not None:
            await self._journal.task(before)
        conversation = request.query_params.get("conversation") or None
        wanted = TaskFilter(
            statuses=_statuses(request),
            conversation=conversation,
            workspaces=request.query_params.getlist("workspace")[:MAX_WORKSPACES],
            words=request.query_params.get("q", ""),
            pinned=True if _flag(request, "pinned") else None,
            archived=None if _flag(request, "archived") or conversation else False,
        )
        tasks = await self._journal.tasks(wanted, limit=limit + 1, before=before)
        shown = tasks[:limit]
        return TaskPage(tasks=list(shown), next_before=shown[-1].id if len(tasks) > limit else None)

    @route(f"GET {TASK}", "task", refusals=(404,))
    async def show(self, request: Request) -> Task:
        """Get a task: status, progress, result, error, usage."""
        return await self._journal.task(task_id(request))

    @route(f"PATCH {TASK}", "label", refusals=(404,))
    async def label(self, request: Request, wanted: LabelRequest) -> Task:
        """Rename, pin or archive a task."""
        return await self._journal.task(await self._engine.submit(Label(task_id(request), wanted)))

    @route(f"DELETE {TASK}", "delete_task", refusals=(404, 409))
    async def delete(self, request: Request) -> DeletedTask:
        """Delete a task that has ended. Removes its history and the contents for its undo. Files in the workspace stay
        as they are."""
        return DeletedTask(deleted=await self._engine.submit(Delete(task_id(request))))

    @route(
        f"GET {TASK}/events",
        "events",
        answers=EventPage,
        query=(_AFTER, Parameter("limit", "Page size; default 500, at most 2000.", "integer")),
        refusals=(404,),
    )
    async def events(self, request: Request) -> Response:
        """List a task's events by page."""
        limit = number(request, "limit", EVENT_PAGE, most=MAX_EVENT_PAGE) or EVENT_PAGE
        page = await self._journal.events(task_id(request), number(request, "after", 0, most=MAX_SEQ), limit)
        last = page.events[-1].seq if page.events else page.last_seq
        more = "true" if last is not None and last < page.last_seq else "false"
        # Events are stored as JSON text; joining it saves parsing and encoding them again.
        joined = ",".join(event.data for event in page.events)
        body = f'{{"events":[{joined}],"lastSeq":{page.last_seq},"more":{more}}}'
        return Response(body, media_type="application/json")

    @route(
        f"GET {TASK}/stream",
        "stream",
        answers="text/event-stream",
        query=(_AFTER,),
        headers=(Parameter("Last-Event-ID", "Resume after this event."),),
        refusals=(404, 503),
    )
    async def stream(self, request: Request) -> Response:
        """Stream a task's events as server-sent events. Starts at any event, continues live, and closes when the task
        ends."""
        after, followed = resume_point(request), task_id(request)
        if not self._engine.runs(followed):
            await self._journal.task(followed)  # there is none: 404, before the stream begins
        return await self._streams.respond(lambda: self._engine.events(followed, after))

    @route(
        "GET /api/brain/events",
        "allEvents",
        answers="text/event-stream",
        query=(Parameter("after", "Only events after this cursor; `now` for new events only."),),
        headers=(Parameter("Last-Event-ID", "Resume after this cursor."),),
        refusals=(410, 503),
    )
    async def stream_all(self, request: Request) -> Response:
        """Stream the durable events of all tasks as server-sent events. An event's id is its cursor, which orders the
        events of all tasks. 410: resume is impossible because events after the cursor were pruned; list the tasks, then
        follow from `now`."""
        from_now = request.query_params.get("after") == "now" and "last-event-id" not in request.headers
        # Fails before the stream begins if it can't resume there. `now` becomes a cursor here, so that a client that
        # lists the tasks as soon as it has the headers misses nothing.
        page = await self._journal.all_events(None if from_now else resume_point(request), 1)
        after = page.last_cursor if from_now else resume_point(request)
        return await self._streams.respond(lambda: self._engine.all_events(after), all_tasks=True)

    async def _accept(self, operation: Operation) -> Accepted:
        return self._accepted(await self._journal.task(await self._engine.submit(operation)))

    def _accepted(self, task: Task) -> Accepted:
        url = f"/api/brain/tasks/{task.id}/stream"
        notice = self._notice() or None
        return Accepted(task_id=task.id, status=task.status, stream_url=url, notice=notice)


def _flag(request: Request, name: str) -> bool:
    text = request.query_params.get(name) or "false"
    if text not in ("true", "false"):
        raise OperationRefused(422, "invalid_request", f"{name} must be true or false.")
    return text == "true"


def _statuses(request: Request) -> Collection[Status]:
    named = [name for value in request.query_params.getlist("status") for name in value.split(",") if name]
    try:
        return [Status(name) for name in named]
    except ValueError:
        allowed = ", ".join(Status)
        raise OperationRefused(
            422, "invalid_request", f"status must be one or more of {allowed}, separated by commas."
        ) from None
