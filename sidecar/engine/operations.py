"""What can be submitted. Every door, from HTTP to the command line, uses these and nothing else."""

import base64
import binascii
from typing import NamedTuple

from sidecar.telemetry.redaction import Redactor
from sidecar.wire.tasks import ApprovalRequest, Attachment, Context, ExecuteRequest, ForkRequest


class Execute(NamedTuple):
    request: ExecuteRequest
    idempotency_key: str | None = None


class Fork(NamedTuple):
    """A new task that begins where another one was at one of its events."""

    task_id: str
    request: ForkRequest
    idempotency_key: str | None = None


class Cancel(NamedTuple):
    task_id: str


class Resume(NamedTuple):
    task_id: str


class SendMessage(NamedTuple):
    """A message from the person: steers a task at work, continues one that has ended."""

    task_id: str
    text: str


class AnswerApproval(NamedTuple):
    """The person's word on an approval."""

    task_id: str
    approval_id: str
    answer: ApprovalRequest


class RevokeApproval(NamedTuple):
    """What was answered for the whole task holds no longer: it is asked again."""

    task_id: str
    approval_id: str


Operation = Execute | Fork | Cancel | Resume | SendMessage | AnswerApproval | RevokeApproval


def redact_operation(operation: Operation, redact: Redactor) -> Operation:
    """The operation without secrets, before it is stored, shown, or read by a model."""
    match operation:
        case Execute(request=request):
            said = {"task": redact(request.task), "context": _context(request.context, redact)}
            return operation._replace(request=request.model_copy(update=said))
        case Fork(request=request) if request.task is not None:
            return operation._replace(request=request.model_copy(update={"task": redact(request.task)}))
        case SendMessage(text=text):
            return operation._replace(text=redact(text))
        case _:
            return operation


def _context(context: Context, redact: Redactor) -> Context:
    selected = None if context.selected_code is None else redact(context.selected_code)
    attachments = [_attachment(each, redact) for each in context.attachments]
    return context.model_copy(update={"selected_code": selected, "attachments": attachments})


def _attachment(attachment: Attachment, redact: Redactor) -> Attachment:
    """One that is text; a picture is left as it is."""
    try:
        text = base64.b64decode(attachment.data, validate=True).decode()
    except (binascii.Error, ValueError):
        return attachment
    plain = redact(text)
    if plain == text:
        return attachment
    return attachment.model_copy(update={"data": base64.b64encode(plain.encode()).decode()})
