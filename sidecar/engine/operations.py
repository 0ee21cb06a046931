"""The operations that clients submit, over HTTP or from the command line."""

import base64
import binascii
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from sidecar.journal.port import Record
from sidecar.telemetry.redaction import Redactor
from sidecar.wire.tasks import ApprovalRequest, Attachment, Context, ExecuteRequest, ForkRequest, LabelRequest


class Execute(NamedTuple):
    request: ExecuteRequest
    idempotency_key: str | None = None
    #: The task's workspace is a new project.
    creates_project: bool = False
    #: The task that the new one is a part of.
    parent: str | None = None
    #: The conversation that it is filed under, without reading what was said in it.
    conversation: str | None = None
    #: What it knows from the start.
    records: tuple[Record, ...] = ()


class Fork(NamedTuple):
    """Start a new task at an event of another one."""

    task_id: str
    request: ForkRequest
    idempotency_key: str | None = None


class Cancel(NamedTuple):
    task_id: str


class Resume(NamedTuple):
    task_id: str


class SendMessage(NamedTuple):
    """Steer a running task, or continue one that has ended."""

    task_id: str
    text: str
    idempotency_key: str | None = None
    attachments: tuple[Attachment, ...] = ()
    by_person: bool = True


class AnswerApproval(NamedTuple):
    """Allow or deny one call."""

    task_id: str
    approval_id: str
    answer: ApprovalRequest


class AnswerQuestion(NamedTuple):
    """Your answer to a question."""

    task_id: str
    question_id: str
    answer: str


class Label(NamedTuple):
    """Rename, pin or archive a task."""

    task_id: str
    request: LabelRequest


class Delete(NamedTuple):
    """Remove a task that has ended from the history."""

    task_id: str


class RevokeApproval(NamedTuple):
    """Withdraw an answer that was for the whole task; the task asks again."""

    task_id: str
    approval_id: str


Operation = (
    Execute | Fork | Cancel | Resume | SendMessage | AnswerApproval | AnswerQuestion | RevokeApproval | Label | Delete
)


T = TypeVar("T", bound=Operation)


def redact_operation(operation: T, redact: Redactor) -> T:
    """The operation without secrets, before it is stored, shown, or read by a model."""
    match operation:
        case Execute(request=request):
            redacted = {"task": redact(request.task), "context": _context(request.context, redact)}
            return operation._replace(request=request.model_copy(update=redacted))
        case Fork(request=request) if request.task is not None:
            return operation._replace(request=request.model_copy(update={"task": redact(request.task)}))
        case Label(request=request) if request.title:
            return operation._replace(request=request.model_copy(update={"title": redact(request.title)}))
        case SendMessage(text=text, attachments=attachments):
            clean = tuple(_attachment(each, redact) for each in attachments)
            return operation._replace(text=redact(text), attachments=clean)
        case AnswerQuestion(answer=answer):
            return operation._replace(answer=redact(answer))
        case _:
            return operation


def _context(context: Context, redact: Redactor) -> Context:
    clean = _redaction_of(context.current_file or "", redact)
    selected = None if context.selected_code is None else clean(context.selected_code)
    attachments = [_attachment(each, redact) for each in context.attachments]
    return context.model_copy(update={"selected_code": selected, "attachments": attachments})


def _attachment(attachment: Attachment, redact: Redactor) -> Attachment:
    """Only text is redacted; an image stays as it is."""
    try:
        text = base64.b64decode(attachment.data, validate=True).decode()
    except (binascii.Error, ValueError):
        return attachment
    plain = _redaction_of(attachment.name, redact)(text)
    if plain == text:
        return attachment
    return attachment.model_copy(update={"data": base64.b64encode(plain.encode()).decode()})


def _redaction_of(path: str, redact: Redactor) -> Callable[[str], str]:
    # Imported with the first file: its patterns take 3 ms of a start.
    from tools.protected import secret_part

    return redact.secret_file if path and secret_part(path) else redact
