"""Refusals as problem documents (RFC 9457). The one place where exceptions become HTTP answers."""

import logging

from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from sidecar.config.paths import lacks_space
from sidecar.engine.errors import NO_HANDLES, OperationRefused, lacks_handles
from sidecar.journal.errors import CursorLost, JournalClosed, JournalStalled, UnknownTask
from sidecar.wire.health import FieldProblem, Problem
from sidecar.wire.validation import describe_errors

log = logging.getLogger(__name__)

TITLES = {
    400: "Bad request",
    401: "Not authenticated",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    408: "Too slow",
    409: "Conflict",
    410: "Gone",
    413: "Too large",
    415: "Unsupported media type",
    422: "Invalid request",
    426: "Upgrade required",
    429: "Too many requests",
    431: "Headers too large",
    500: "Internal error",
    503: "Service unavailable",
}


class BodyTooLarge(Exception):
    pass


class InvalidBody(Exception):
    """A request body that doesn't fit its wire type."""

    def __init__(self, kind: type[BaseModel], error: ValidationError) -> None:
        super().__init__(str(error))
        self.kind = kind
        self.error = error


def problem(
    status: int,
    code: str,
    detail: str,
    *,
    errors: list[FieldProblem] | None = None,
    headers: dict[str, str] | None = None,
) -> Response:
    body = problem_body(status, code, detail, errors=errors)
    return Response(body, status, headers, media_type="application/problem+json")


def problem_body(status: int, code: str, detail: str, *, errors: list[FieldProblem] | None = None) -> str:
    title = TITLES.get(status, "Error")
    return Problem(title=title, status=status, detail=detail, code=code, errors=errors).to_json()


def retry_later(status: int, code: str, detail: str, seconds: int) -> Response:
    return problem(status, code, detail, headers={"Retry-After": str(seconds)})


async def answer_exception(request: Request, error: Exception) -> Response:
    match error:
        case InvalidBody():
            return _invalid(error)
        case OperationRefused(retry_after=int(seconds)):
            return retry_later(error.status, error.code, error.message, seconds)
        case OperationRefused():
            return problem(error.status, error.code, error.message)
        case UnknownTask():
            return problem(404, "unknown_task", f"{error} GET /api/brain/tasks lists the tasks that are kept.")
        case CursorLost():
            return problem(410, "cursor_lost", str(error))
        case JournalStalled():
            return retry_later(503, "journal_stalled", str(error), 5)
        case JournalClosed():
            detail = "The sidecar is stopping and didn't do this. Start it again, then retry."
            return retry_later(503, "stopping", detail, 2)
        case ClientDisconnect():
            # This answer isn't read.
            return problem(400, "disconnected", "The connection ended before the body did.")
        case HTTPException(status_code=404):
            return problem(404, "not_found", f"No route {request.url.path}; /openapi.json lists them.")
        case HTTPException(status_code=405):
            detail = f"{request.url.path} doesn't accept {request.method}; see /openapi.json."
            return problem(405, "method_not_allowed", detail, headers=dict(error.headers or {}))
        case HTTPException():
            return problem(error.status_code, "http_error", str(error.detail))
        case _ if lacks_handles(error):
            return retry_later(503, "no_file_handles", f"{NO_HANDLES}. Close other connections, then retry.", 2)
        case OSError() if lacks_space(error):
            return retry_later(
                503, "disk_full", "The disk is full, so this was not saved. Free some space, then retry.", 5
            )
        case _:
            log.exception("Request failed: %s %s", request.method, request.url.path, exc_info=error)
            detail = "The sidecar hit an internal error; its log has the details. Your tasks are safe."
            return problem(500, "internal_error", detail)


def _invalid(invalid: InvalidBody) -> Response:
    first = invalid.error.errors(include_url=False, include_input=False)[0]
    if first["type"] == "json_invalid":
        return problem(400, "malformed_json", f"The body isn't valid JSON: {first['ctx']['error']}.")
    found = describe_errors(invalid.error, invalid.kind)
    listed = "; ".join(f"{field or 'body'}: {message}" for field, message in found[:3])
    errors = [FieldProblem(field=field, message=message) for field, message in found]
    return problem(422, "invalid_request", f"Invalid request: {listed}", errors=errors)
