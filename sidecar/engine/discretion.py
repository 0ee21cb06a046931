"""What a person says, without the secrets in it: before it is kept, shown, or read by a model."""

import base64
import binascii

from sidecar.engine.operations import Execute, Fork, Operation, SendMessage
from sidecar.telemetry.redaction import Redactor
from sidecar.wire.tasks import Attachment, Context


def discreet(operation: Operation, redact: Redactor) -> Operation:
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
