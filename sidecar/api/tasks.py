"""Routes for tasks: start, read, watch, steer and stop them."""

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from sidecar.api.identity import check_auto, within_role
from sidecar.api.requests import MAX_SEQ, answer, idempotency_key, number, read, resume_point, task_id
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
    TaskPage,
)

if TYPE_CHECKING:
    from sidecar.engine.engine import Engine

PAGE = 50
MAX_PAGE = 200
#: A directory and those above it.
MAX_WORKSPACES = 100
EVENT_PAGE = 500
MAX_EVENT_PAGE = 2_000


class TaskRoutes:
    def __init__(
        self, engine: "Engine", journal: Journal, streams: Streams, notice: Callable[[], str] = lambda: ""
    ) -> None:
        """`notice` returns what the user should know when a task starts."""
        self._notice = notice
        self._engine = engine
        self._journal = journal
        self._streams = streams

    async def execute(self, request: Request) -> Response:
        wanted = await read(request, ExecuteRequest)
        options = within_role(request.scope["identity"], wanted.options)
        return await self._accept(Execute(wanted.model_copy(update={"options": options}), idempotency_key(request)))

    async def fork(self, request: Request) -> Response:
        wanted = await read(request, ForkRequest)
        await self._check_auto(request)
        options = within_role(request.scope["identity"], wanted.options)
        wanted = wanted.model_copy(update={"options": options})
        return await self._accept(Fork(task_id(request), wanted, idempotency_key(request)))

    async def cancel(self, request: Request) -> Response:
        return await self._accept(Cancel(task_id(request)))

    async def resume(self, request: Request) -> Response:
        return await self._accept(Resume(task_id(request)))

    async def message(self, request: Request) -> Response:
        message = await read(request, MessageRequest)
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

    async def approve(self, request: Request) -> Response:
        given = await read(request, ApprovalRequest)
        approval_id = request.path_params["approval_id"]
        await self._engine.submit(AnswerApproval(task_id(request), approval_id, given))
        return answer(ApprovalAnswer(approval_id=approval_id, decision=given.decision, scope=given.scope))

    async def answer_question(self, request: Request) -> Response:
        given = await read(request, QuestionRequest)
        question_id = request.path_params["question_id"]
        await self._engine.submit(AnswerQuestion(task_id(request), question_id, given.answer))
        return answer(QuestionAnswer(question_id=question_id, answer=given.answer))

    async def approve_several(self, request: Request) -> Response:
        given = await read(request, ApprovalsRequest)
        for each in given.answers:
            decision = ApprovalRequest(decision=each.decision, scope=each.scope)
            await self._engine.submit(AnswerApproval(task_id(request), each.approval_id, decision))
        answers = [
            ApprovalAnswer(approval_id=each.approval_id, decision=each.decision, scope=each.scope)
            for each in given.answers
        ]
        return answer(ApprovalsAnswer(answers=answers))

    async def list(self, request: Request) -> Response:
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
        return answer(TaskPage(tasks=list(shown), next_before=shown[-1].id if len(tasks) > limit else None))

    async def show(self, request: Request) -> Response:
        return answer(await self._journal.task(task_id(request)))

    async def label(self, request: Request) -> Response:
        wanted = await read(request, LabelRequest)
        return answer(await self._journal.task(await self._engine.submit(Label(task_id(request), wanted))))

    async def delete(self, request: Request) -> Response:
        return answer(DeletedTask(deleted=await self._engine.submit(Delete(task_id(request)))))

    async def events(self, request: Request) -> Response:
        limit = number(request, "limit", EVENT_PAGE, most=MAX_EVENT_PAGE) or EVENT_PAGE
        page = await self._journal.events(task_id(request), number(request, "after", 0, most=MAX_SEQ), limit)
        last = page.events[-1].seq if page.events else page.last_seq
        more = "true" if last is not None and last < page.last_seq else "false"
        # Events are stored as JSON text; joining it saves parsing and encoding them again.
        joined = ",".join(event.data for event in page.events)
        body = f'{{"events":[{joined}],"lastSeq":{page.last_seq},"more":{more}}}'
        return Response(body, media_type="application/json")

    async def stream(self, request: Request) -> Response:
        after = resume_point(request)
        task = await self._journal.task(task_id(request))
        return await self._streams.respond(lambda: self._engine.events(task.id, after))

    async def stream_all(self, request: Request) -> Response:
        from_now = request.query_params.get("after") == "now" and "last-event-id" not in request.headers
        # Fails before the stream begins if it can't resume there. `now` becomes a cursor here, so that a client that
        # lists the tasks as soon as it has the headers misses nothing.
        page = await self._journal.all_events(None if from_now else resume_point(request), 1)
        after = page.last_cursor if from_now else resume_point(request)
        return await self._streams.respond(lambda: self._engine.all_events(after), all_tasks=True)

    async def _accept(self, operation: Operation) -> Response:
        task = await self._journal.task(await self._engine.submit(operation))
        url = f"/api/brain/tasks/{task.id}/stream"
        notice = self._notice() or None
        return answer(Accepted(task_id=task.id, status=task.status, stream_url=url, notice=notice), 202)


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
